"""run.json: the settings of a run. The arena writes the file when the run starts, and again when
the run is extended or decides how to go on.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.errors import RunError
from arena.records.config import RunConfig
from arena.records.league import read_league
from arena.records.regular import read_regular, write_durably

RUN_FILE = "run.json"
OLDER = "0."
"""How the versions begin whose runs this version cannot read; version 1.0.0 reads them."""
FIRST_VERSION = "1.0.0"
"""The version whose runs have build results in the copies of bots, and tables with other ranks."""
READS_IT = "qin-arena 1.0.0 still reads it: pip install qin-arena==1.0.0"
MAX_BYTES = 256 << 20
"""The largest run.json that is read: a run of a million line-ups has one of 100 MiB."""
Grant = Annotated[str, Meta(min_length=1, max_length=1200)]


class BotInfo(Struct, frozen=True, omit_defaults=True):
    """A bot of a run: the hash of its files when the run started, and the values of its options.

    ``grants`` are what the user allowed the bot beyond the sandbox, such as ``network``. They say
    under which conditions it played; reading them from a run allows nothing.
    """

    name: Annotated[str, Meta(pattern=r"^[^/]+$")]
    version: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{12,64}$")]
    command: Annotated[list[str], Meta(min_length=1)]
    options: dict[str, int | float | bool | str] = {}
    grants: Annotated[list[Grant], Meta(max_length=100)] = []

    @property
    def copy(self) -> str:
        """The folder of the bot's copy below the run's folder. A bot has one copy, whatever its
        options.
        """
        return f"bots/{self.name.partition(':')[0]}-{self.sha256[:12]}"


class OtherConfig(Struct, frozen=True):
    """The settings of a run that another version wrote, and that this version cannot read in full:
    only those that say how to count its games.

    ``problem`` says why the settings are no `RunConfig`.
    """

    players: int = 2
    match: list[str] = []
    seatings: str = "rotations"
    clock: str = "wall"
    in_process: bool = False
    problem: str = ""

    @property
    def has_own_decks(self) -> bool:
        """Whether no two games have the same deck."""
        return self.seatings == "single"


class RunInfo(Struct, frozen=True, omit_defaults=True):
    """The contents of run.json.

    ``config``   the settings of the run; None if another version wrote settings that this one
                 cannot read. The games that a league has ``drawn`` are among the settings, but are
                 kept in a file of their own.
    ``boards``   the rows of each board by its name
    ``started``  UTC
    ``other``    what is known of the settings where ``config`` is None; never written to run.json
    """

    arena: str
    protocol: int
    rules_core: str
    rules_revision: int
    config: RunConfig | None
    boards: dict[str, list[str]]
    bots: list[BotInfo]
    seed: str
    sandbox: str
    started: str
    other: OtherConfig | None = None

    @property
    def counting(self) -> RunConfig | OtherConfig:
        """The settings that say how to count the run's games, which are known for every run."""
        return self.config or self.other or OtherConfig()

    @property
    def has_own_decks(self) -> bool:
        """Whether each game has its own deck, so that two games on a deal of the same number share
        no luck.
        """
        return self.counting.has_own_decks

    @property
    def problem(self) -> str:
        """Why this version cannot read the run's settings; empty if it can."""
        return self.other.problem if self.other else ""

    @property
    def is_league(self) -> bool:
        """Whether the run is a league."""
        return self.config is not None and self.config.league is not None

    @property
    def is_comparison(self) -> bool:
        """Whether the run asks which of two bots is better."""
        return self.config is not None and self.config.compare is not None

    @property
    def is_search(self) -> bool:
        """Whether the run looks for better values of a bot's options."""
        return self.config is not None and self.config.tune is not None

    @property
    def is_one_game(self) -> bool:
        """Whether the run is a single game that a person played."""
        return self.config is not None and self.config.game is not None

    @property
    def is_of_1_0(self) -> bool:
        """Whether version 1.0.0 wrote the run."""
        return self.arena == FIRST_VERSION

    @property
    def may_hold_builds(self) -> bool:
        """Whether the copy of a bot with build steps may have build results among its files, so
        that its hash cannot be checked.
        """
        return self.is_of_1_0

    @property
    def clock(self) -> str:
        """The clock that limits the bots' time, ``cpu`` or ``wall``; empty if nothing limits it."""
        return "" if self.counting.in_process else self.counting.clock


class _WrittenRun(Struct):
    """The contents of run.json as they are written, with settings that are not checked."""

    arena: str
    protocol: int
    rules_core: str
    rules_revision: int
    config: dict[str, Any]
    boards: dict[str, list[str]]
    bots: list[BotInfo]
    seed: str
    sandbox: str
    started: str


def read_run(folder: Path) -> RunInfo:
    """Reads the run.json in a run's folder, and the games that its league has drawn. Raises
    RunError.
    """
    info = _read(folder)
    if info.config is None or info.config.league is None:
        return info
    drawn = read_league(folder).drawn
    players = info.config.players
    for each in drawn:
        if each.line_up.count("+") + 1 != players:
            raise RunError(
                f"expected line-ups of {players} bots in the league in {folder}, got"
                f" {each.line_up!r}",
                "something else changed its league.jsonl: restore it; the games are in the journal",
            )
    return replace(info, config=replace(info.config, drawn=drawn))


def _read(folder: Path) -> RunInfo:
    """Reads run.json alone. Raises RunError."""
    path = folder / RUN_FILE
    try:
        written = msgspec.json.decode(read_regular(folder, RUN_FILE, MAX_BYTES), type=_WrittenRun)
    except FileNotFoundError:
        raise RunError(
            f"{folder} is not a run: it has no {RUN_FILE}", "'arena runs' lists the runs"
        ) from None
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _changed(path, error) from None
    _refuse_older(folder, written)
    config, other = None, None
    try:
        config = msgspec.convert(written.config, type=RunConfig)
    except msgspec.ValidationError as error:
        problem = str(error)
        try:
            other = msgspec.convert({**written.config, "problem": problem}, type=OtherConfig)
        except msgspec.ValidationError:
            raise _changed(path, error) from None
    return RunInfo(
        arena=written.arena,
        protocol=written.protocol,
        rules_core=written.rules_core,
        rules_revision=written.rules_revision,
        config=config,
        boards=written.boards,
        bots=written.bots,
        seed=written.seed,
        sandbox=written.sandbox,
        started=written.started,
        other=other,
    )


def _changed(path: Path, error: Exception) -> RunError:
    """The error for a run.json that no version would write."""
    return RunError(f"{path}: {error}", "something else changed the file: restore it")


def _refuse_older(folder: Path, written: _WrittenRun) -> None:
    """Removes settings of version 1.0.0 that no longer exist. Raises RunError for a run whose games
    cannot be counted without them, and for an older run.
    """
    config = written.config
    config.pop("keep_stderr", None)  # 1.0.0 could keep what bots printed, beside the records
    is_adaptive = bool(config.pop("adaptive", False))
    allotted = config.get("allotted")
    if isinstance(allotted, dict):  # 1.0.0 wrote the number of deals of each line-up
        numbers = list(allotted.values())
        is_adaptive = is_adaptive or any(deals != numbers[0] for deals in numbers)
        config["allotted"] = numbers[0] if numbers else None
    if is_adaptive:
        raise RunError(
            f"the run in {folder} was played with --adaptive, which this version does not have",
            READS_IT,
        )
    if written.arena.startswith(OLDER):
        older = f"the run in {folder} is of version {written.arena}, older than 1.0.0"
        raise RunError(older, READS_IT)


def write_run(folder: Path, info: RunInfo) -> None:
    """Writes run.json atomically. The games that a league has drawn are left out, because their
    number has no limit.
    """
    assert info.config is not None, "settings that this version knows"
    info = replace(info, config=replace(info.config, drawn=[]))
    write_durably(
        folder / RUN_FILE, msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n"
    )
