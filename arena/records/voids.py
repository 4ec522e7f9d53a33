"""voids.jsonl: a line for each game of a run that broke off without a bot's fault. Nothing depends
on the file: such a game does not count, and is played again.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from arena.records.record import DealtGame
from arena.records.regular import LineFile

VOIDS_FILE = "voids.jsonl"


class SoFar(Struct, frozen=True):
    """The part of a game that had been played when the game broke off.

    ``left``     pagodas left, by seat
    ``mover``    the seat to move
    ``used_ms``  time of each seat for all its answers, by the clock of the run
    """

    moves: list[str]
    left: list[int]
    mover: int
    used_ms: list[float]


class VoidGame(DealtGame, frozen=True, omit_defaults=True):
    """A game that broke off. ``attempt`` counts from 1. ``so_far`` is None if the worker died,
    which took its knowledge of the game with it.
    """

    reason: str
    attempt: int
    ended: str
    so_far: SoFar | None = None


def append_void(run: Path, game: VoidGame) -> None:
    """Appends a game to a run's file; only the run's main process may do that. Raises RunError."""
    with LineFile(run, VOIDS_FILE, "voids", waits=True) as file:
        file.append(msgspec.json.encode(game) + b"\n")
