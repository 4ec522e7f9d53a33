"""run.json: the settings of a run and its bots. The arena writes the file when the run starts, and
again when the run is extended or decides how to continue.
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
"""The beginning of the versions whose runs this version cannot read; version 1.0.0 reads them."""
FIRST_VERSION = "1.0.0"
"""The version 1.0.0, in whose runs the copies of bots may contain build results, and tables have
other ranks.
"""
READS_IT = "qin-arena 1.0.0 still reads it: pip install qin-arena==1.0.0"
MAX_BYTES = 256 << 20
"""The most bytes of a run.json that is read; a run of a million line-ups has one of 100 MiB."""
Grant = Annotated[str, Meta(min_length=1, max_length=1200)]


class BotInfo(Struct, frozen=True, omit_defaults=True):
    """A bot of a run: its label (``name``), version, the ``sha256`` of its files when the run
    started, its command, and the values of its options.

    ``grants`` are what the user allowed the bot beyond the sandbox, such as ``network``. They
    record under which conditions the bot played; reading a run.json grants nothing.
    """

    name: Annotated[str, Meta(pattern=r"^[^/]+$")]
    version: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{12,64}$")]
    command: Annotated[list[str], Meta(min_length=1)]
    options: dict[str, int | float | bool | str] = {}
    grants: Annotated[list[Grant], Meta(max_length=100)] = []

    @property
    def copy(self) -> str:
        """The path, below the run's folder, of the folder with the copy of the bot's files. One
        copy serves the bot with any options.
        """
        return f"bots/{self.name.partition(':')[0]}-{self.sha256[:12]}"


class OtherConfig(Struct, frozen=True):
    """The settings of a run that another version wrote, where this version cannot read all of them:
    only the settings needed to count the run's games, with the meaning that they have in
    `RunConfig`.

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
        """Whether each game has a deck of its own."""
        return self.seatings == "single"


class RunInfo(Struct, frozen=True, omit_defaults=True):
    """The content of run.json.

    ``arena``          the version of the arena that started the run
    ``protocol``       the version of the protocol
    ``rules_core``     the core of the rules, ``pure`` or ``native``
    ``rules_revision`` the revision of the rules
    ``config``         the settings; None if another version wrote settings that this one cannot
                       read. For a league they include the games ``drawn``, which are stored in
                       league.jsonl
    ``boards``         the rows of each board by its name
    ``bots``           the bots of the run
    ``seed``           the seed of the run
    ``sandbox``        the kind of sandbox in which the bots play
    ``started``        the time in UTC at which the run started
    ``other``          what is known of the settings if ``config`` is None; never written to
                       run.json
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
        """The settings needed to count the run's games, which are known for runs of other versions,
        too.
        """
        return self.config or self.other or OtherConfig()

    @property
    def bot_names(self) -> list[str]:
        """The labels of the bots of the run, in the order of ``bots``."""
        return [bot.name for bot in self.bots]

    @property
    def bots_by_name(self) -> dict[str, BotInfo]:
        """The bots of the run by their labels, in the order of ``bots``."""
        return {bot.name: bot for bot in self.bots}

    @property
    def has_own_decks(self) -> bool:
        """Whether each game has a deck of its own, so that two games with the same deal number
        share no luck.
        """
        return self.counting.has_own_decks

    @property
    def problem(self) -> str:
        """Why this version cannot read the run's settings; empty if it can read them."""
        return self.other.problem if self.other else ""

    @property
    def is_league(self) -> bool:
        """Whether the run is a league; False, too, if this version cannot read its settings."""
        return self.config is not None and self.config.league is not None

    @property
    def is_comparison(self) -> bool:
        """Whether the run asks which of two bots is better; False, too, if this version cannot read
        its settings.
        """
        return self.config is not None and self.config.compare is not None

    @property
    def is_search(self) -> bool:
        """Whether the run looks for better values of a bot's options; False, too, if this version
        cannot read its settings.
        """
        return self.config is not None and self.config.tune is not None

    @property
    def is_one_game(self) -> bool:
        """Whether the run is a single game, or match, that a person played; False, too, if this
        version cannot read its settings.
        """
        return self.config is not None and self.config.game is not None

    @property
    def is_of_1_0(self) -> bool:
        """Whether version 1.0.0 wrote the run."""
        return self.arena == FIRST_VERSION

    @property
    def may_hold_builds(self) -> bool:
        """Whether the copy of a bot with build steps may have build results among its files, so
        that the copy's hash cannot be checked.
        """
        return self.is_of_1_0

    @property
    def clock(self) -> str:
        """The clock that limits the bots' time, ``cpu`` or ``wall``; empty if the bots have no time
        limits.
        """
        return "" if self.counting.in_process else self.counting.clock


class _WrittenRun(Struct):
    """The content of run.json as it is in the file; its settings are not checked."""

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
    """Reads the run.json in a run's folder and, for a league, the drawn games in league.jsonl.
    Raises RunError.
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
    """Reads the run.json in ``folder``, without a league's drawn games. Raises RunError."""
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
    """Makes the error for the run.json at ``path``, whose content no version of the arena would
    write.
    """
    return RunError(f"{path}: {error}", "something else changed the file: restore it")


def _refuse_older(folder: Path, written: _WrittenRun) -> None:
    """Removes settings of version 1.0.0 that no longer exist from ``written.config``; ``folder`` is
    the run's, for messages. Raises RunError for a run whose games cannot be counted without such a
    setting, and for a run of a version before 1.0.0.
    """
    config = written.config
    config.pop("keep_stderr", None)  # 1.0.0 could keep what bots printed, beside the records
    is_adaptive = bool(config.pop("adaptive", False))
    allotted = config.get("allotted")
    if isinstance(allotted, dict):  # 1.0.0 wrote the number of deals of each line-up
        numbers = list(allotted.values())
        has_different = any(deals != numbers[0] for deals in numbers)
        is_adaptive = is_adaptive or has_different
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
    """Writes ``info`` to the run.json in ``folder``, in one step. The games that a league has drawn
    are left out: league.jsonl has them, and their number has no limit. ``info.config`` must not be
    None. Raises RunError.
    """
    assert info.config is not None, "settings that this version knows"
    info = replace(info, config=replace(info.config, drawn=[]))
    write_durably(
        folder / RUN_FILE, msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n"
    )
