"""voids.jsonl: the games that broke off without a bot's fault, one line for each attempt."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from arena.errors import RunError
from arena.records.record import DealtGame
from arena.records.regular import open_regular, read_regular

FILE = "voids.jsonl"


class SoFar(Struct, frozen=True):
    """What had been played when a game broke off.

    ``left``     pagodas left, by seat; ``mover`` is the seat to move
    ``used_ms``  processor time of each seat: of all its answers, and since the last one; by the
                 wall clock, of its answers
    """

    moves: list[str]
    left: list[int]
    mover: int
    used_ms: list[float]


class VoidGame(DealtGame, frozen=True, omit_defaults=True):
    """A game that broke off; ``attempt`` counts from 1. ``so_far`` is None if its worker died: then
    nobody knows more than the game.
    """

    reason: str
    attempt: int
    ended: str
    so_far: SoFar | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(VoidGame).decode


def append_void(run: Path, game: VoidGame) -> None:
    """Appends a line. Only the main process of a run does this. Raises RunError."""
    try:
        file = open_regular(run, FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, _encode(game) + b"\n")
        finally:
            os.close(file)
    except OSError as error:
        raise RunError(
            f"expected to write {run / FILE}, got {error}",
            "free some disk space, then run the same command again",
        ) from error


def read_voids(run: Path) -> list[VoidGame]:
    """The lines of a run; none if there is no such file. Lines that cannot be read are left out.
    Raises RunError.
    """
    try:
        lines = read_regular(run, FILE).splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(
            f"expected {run / FILE} to be a file that can be read, got {error}"
        ) from None
    return [game for game in map(_decoded, lines) if game is not None]


def _decoded(line: bytes) -> VoidGame | None:
    try:
        game = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    seats = len(game.bots)
    fits = game.so_far is None or (
        len(game.so_far.left) == seats and 0 <= game.so_far.mover < seats
    )
    return game if fits else None
