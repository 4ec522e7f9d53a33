"""voids.jsonl: one line for each attempt at a game of the run that became void: the game broke off
for a reason outside the bots. The arena reads the file only to show it: a void game does not count,
and is played again, at most three times in all.

Which games are void, and how often they are tried again, is decided in `arena.tournament.voiding`,
which appends each attempt to this file.
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

    ``moves``    the moves in the order of play
    ``left``     pagodas left, by seat
    ``mover``    the seat to move
    ``used_ms``  the time that each seat took for all its answers, in ms by the clock of the run
    """

    moves: list[str]
    left: list[int]
    mover: int
    used_ms: list[float]


class VoidGame(DealtGame, frozen=True, omit_defaults=True):
    """A void attempt at a game, with the ``reason`` and the time in UTC at which it ``ended``.
    ``attempt`` counts from 1. ``so_far`` is None if it is not known what had been played, as after
    the death of the worker process.
    """

    reason: str
    attempt: int
    ended: str
    so_far: SoFar | None = None


def append_void(run: Path, game: VoidGame) -> None:
    """Appends ``game`` to the voids.jsonl of a run; only the run's main process may do that. Raises
    RunError.
    """
    with LineFile(run, VOIDS_FILE, "voids", waits=True) as file:
        file.append(msgspec.json.encode(game) + b"\n")


_decode = msgspec.json.Decoder(VoidGame).decode


def read_voids(run: Path) -> list[VoidGame]:
    """Reads the voids.jsonl of a run, in the order of its lines; an empty list if there is no such
    file.

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
