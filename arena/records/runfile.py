"""run.json: the settings of a run. The arena writes the file when the run starts, and again when
the run is extended or decides how to go on.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.league import Drawn, read_league
from arena.records.regular import read_regular, write_durably

RUN_FILE = "run.json"
OLDER = "0."
"""How the versions begin whose runs this version cannot read. Version 1.0.0 reads them."""
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
        """The folder of the bot's copy below the run's folder; the same for all options."""
        return f"bots/{self.name.partition(':')[0]}-{self.sha256[:12]}"


class RunInfo(Struct, frozen=True):
    """The contents of run.json.

    ``config``   the fields of a `tournament.config.RunConfig`; the games ``drawn`` in a league are
                 not in run.json but in a file of their own
    ``boards``   the rows of each board by its name
    ``started``  UTC
    """

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

    @property
    def has_own_decks(self) -> bool:
        """Whether each game has its own deck, so that two games on a deal of the same number share
        no luck.
        """
        return bool(self.config.get("seatings") == "single")

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
        return "" if self.config.get("in_process") else str(self.config.get("clock", "wall"))


def read_run(folder: Path) -> RunInfo:
    """Reads the run.json in a run's folder, and the games that its league has drawn. Raises
    RunError.
    """
    info = _read(folder)
    if info.config.get("league") is None:
        return info
    drawn = read_league(folder).drawn
    players = info.config.get("players", 2)
    for each in drawn:
        if each.line_up.count("+") + 1 != players:
            raise RunError(
                f"expected line-ups of {players} bots in the league in {folder}, got"
                f" {each.line_up!r}",
                "something else changed its league.jsonl: restore it; the games are in the journal",
            )
    return _with_drawn(info, drawn)


def _with_drawn(info: RunInfo, drawn: list[Drawn]) -> RunInfo:
    """A copy of a league's run.json with these games as those it has drawn."""
    return msgspec.structs.replace(info, config={**info.config, "drawn": drawn})


def _read(folder: Path) -> RunInfo:
    """Reads run.json alone. Raises RunError."""
    path = folder / RUN_FILE
    try:
        info = msgspec.json.decode(read_regular(folder, RUN_FILE, MAX_BYTES), type=RunInfo)
    except FileNotFoundError:
        raise RunError(
            f"expected a run in {folder}, found no {RUN_FILE} there", "'arena runs' lists the runs"
        ) from None
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: {error}", "something else changed the file: restore it") from None
    info.config.pop("keep_stderr", None)  # 1.0.0 could keep what bots printed, beside the records
    is_adaptive = bool(info.config.pop("adaptive", False))
    allotted = info.config.get("allotted")
    if isinstance(allotted, dict):  # 1.0.0 wrote the number of deals of each line-up
        numbers = list(allotted.values())
        is_adaptive = is_adaptive or any(deals != numbers[0] for deals in numbers)
        info.config["allotted"] = numbers[0] if numbers else None
    if is_adaptive:
        raise RunError(f"expected a run without --adaptive in {folder}, got one with it", READS_IT)
    if info.arena.startswith(OLDER):
        wanted = f"expected a run of qin-arena 1.0.0 or newer in {folder}"
        raise RunError(f"{wanted}, got one of {info.arena}", READS_IT)
    return info


def write_run(folder: Path, info: RunInfo) -> None:
    """Writes run.json atomically. The games that a league has drawn are left out, because their
    number has no limit.
    """
    if info.config.get("drawn"):
        info = _with_drawn(info, [])
    write_durably(
        folder / RUN_FILE, msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n"
    )
