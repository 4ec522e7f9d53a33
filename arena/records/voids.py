"""voids.jsonl: a line for each game of a run that broke off without a bot's fault. Nothing depends
on the file: such a game does not count, and is played again.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from arena.errors import RunError
from arena.records.journal import read_lines
from arena.records.record import DealtGame
from arena.records.regular import LineFile

VOIDS_FILE = "voids.jsonl"
CURE = "something else changed the file: restore it, or delete it, because nothing depends on it"


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
    because then nobody knows what had been played.
    """

    reason: str
    attempt: int
    ended: str
    so_far: SoFar | None = None


def append_void(run: Path, game: VoidGame) -> None:
    """Appends a game to a run's file; only the run's main process may do that. Raises RunError."""
    with LineFile(run, VOIDS_FILE, "voids", waits=True) as file:
        file.append(msgspec.json.encode(game) + b"\n")


_decode = msgspec.json.Decoder(VoidGame).decode


def read_voids(run: Path) -> list[VoidGame]:
    """Every game of a run that broke off, in the order of the file; none without such a file.

    Raises RunError with the number of a line that is not what the arena writes.
    """
    path = run / VOIDS_FILE
    if not os.path.lexists(path):
        return []
    voids = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            voids.append(_decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RunError(
                f"{path}, line {number}: expected a game that broke off, got {error}", CURE
            ) from None
    return voids
