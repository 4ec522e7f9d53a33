"""run.json: the settings of a run, written when it starts, and again when it is extended or decides
how to continue.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.league import Drawn, read_league
from arena.records.regular import read_regular, write_durably

FILE = "run.json"
MOST_BYTES = 256 << 20
"""Runs of a million line-ups have a hundred."""


Grant = Annotated[str, Meta(min_length=1, max_length=1200)]


class BotInfo(Struct, frozen=True, omit_defaults=True):
    """A bot of a run: its files as they were when the run started, and the values of its
    options.

    ``grants`` are what the user let it do beyond the sandbox, such as ``network``. They tell what
    was played, and give nothing to anybody who reads them here.
    """

    name: Annotated[str, Meta(pattern=r"^[^/]+$")]
    version: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{12,64}$")]
    command: Annotated[list[str], Meta(min_length=1)]
    options: dict[str, int | float | bool | str] = {}
    grants: Annotated[list[Grant], Meta(max_length=100)] = []

    @property
    def copy(self) -> str:
        """Where the run's folder keeps the copy of the bot that plays, whatever its options."""
        return f"bots/{self.name.partition(':')[0]}-{self.sha256[:12]}"


class RunInfo(Struct, frozen=True):
    """The contents of run.json. ``config`` is a `tournament.config.RunConfig`; ``boards`` are rows
    by name; ``started`` is UTC. The games ``drawn`` in a league are in a file of their own.
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
        """Whether each game has its own deck, so that deals with the same number have nothing in
        common.
        """
        return bool(self.config.get("seatings") == "single")

    @property
    def clock(self) -> str:
        """What time is measured by, ``cpu`` or ``wall``; empty where it is not limited."""
        return "" if self.config.get("in_process") else str(self.config.get("clock", "wall"))


def read_run(folder: Path) -> RunInfo:
    """The run.json of a run's folder, with the games that its league has drawn. Raises RunError."""
    info = _read(folder)
    if info.config.get("league") is None:
        return info
    drawn, players = read_league(folder).drawn, info.config.get("players", 2)
    odd = next((each.line_up for each in drawn if each.line_up.count("+") + 1 != players), None)
    if odd is not None:
        raise RunError(
            f"expected line-ups of {players} bots in the league in {folder}, got {odd!r}",
            "something else changed its league.jsonl: restore it; the games are in the journal",
        )
    return with_drawn(info, drawn)


def with_drawn(info: RunInfo, drawn: list[Drawn]) -> RunInfo:
    """The run.json of a league that has drawn these games."""
    return msgspec.structs.replace(info, config={**info.config, "drawn": drawn})


def _read(folder: Path) -> RunInfo:
    path = folder / FILE
    try:
        return msgspec.json.decode(read_regular(folder, FILE, MOST_BYTES), type=RunInfo)
    except FileNotFoundError:
        raise RunError(
            f"expected a run in {folder}, found no {FILE} there", "'arena runs' lists the runs"
        ) from None
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: {error}", "something else changed the file: restore it") from None


def write_run(folder: Path, info: RunInfo) -> None:
    """Writes run.json atomically, without the drawn games of a league, whose number has no end."""
    if info.config.get("drawn"):
        info = with_drawn(info, [])
    write_durably(folder / FILE, msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n")
