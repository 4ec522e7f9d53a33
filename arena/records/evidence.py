"""What a run keeps beside its records: the evidence of faults, and the games that broke off.

``faults/`` has a folder for each game, with a file for each seat that forfeited. ``voids.jsonl``
has a line for each game that broke off without a bot's fault. Nothing depends on these files: a
game counts without them.
"""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.record import DealtGame
from arena.records.regular import LineFile, folder_below, read_regular, write_durably

FAULTS = "faults"
MOST_BYTES = 64 << 20
"""A fault leaves up to 100 KB, and a bot may forfeit every game: a million games would fill 100 GB.
This keeps some 600 faults, where a report shows 40, and a run's folder can still be sent to
somebody.
"""
BLOCK = 4096
"""What a disk gives to the smallest file, and to the folder it is in."""
MOST_NAME = 250

VOIDS_FILE = "voids.jsonl"


class KeptFault(Struct, frozen=True):
    """The part of an evidence file needed to reproduce the fault."""

    game: str
    seat: Annotated[int, Meta(ge=0, le=3)]
    turn: Annotated[int, Meta(ge=0, le=72)]
    kind: str
    detail: str
    lines: list[tuple[str, float, str]]
    asked_ms: list[Annotated[int, Meta(ge=0, le=86_400_000)]]


def evidence_name(game: str, seat: int) -> str:
    """Where the evidence of a seat's fault lies below the run's folder."""
    return f"{FAULTS}/{'/'.join(map(_folder_name, game.split('/')))}/seat-{seat}.json"


def _folder_name(part: str) -> str:
    """A part of a game's id as the name of a folder: some systems take no ``:``, and none takes the
    line-up of four bots with all their options.
    """
    name = part.replace(":", "~")
    if len(name) <= MOST_NAME:
        return name
    return f"{name[: MOST_NAME // 2]}~{sha256(part.encode()).hexdigest()[:16]}"


class Faults:
    """The evidence of a run, which has a budget; ``is_full`` once it is spent, and only the records
    tell of further faults.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._used: int | None = None
        self.is_full = False

    def write(self, game: str, seeds: Sequence[int], evidence: Sequence[Any]) -> None:
        """Writes one indented JSON file for each seat that forfeited; ``seeds`` are the bots' seeds
        of the game, by seat.

        Raises RunError.
        """
        if self._used is None:
            self._used = used_bytes(self._run)
        for item in evidence:
            content = {"game": game, "bot_seed": seeds[item.seat], **msgspec.to_builtins(item)}
            data = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
            room = (len(data) // BLOCK + 2) * BLOCK  # of the file and its folder
            if self._used + room <= MOST_BYTES:
                self._used += room
                write_durably(self._run / evidence_name(game, item.seat), data, self._run)
            else:
                self.is_full = True


def used_bytes(run: Path) -> int:
    """What the evidence of a run takes up on the disk. Raises RunError."""
    try:
        with folder_below(run, [FAULTS]) as at:
            return sum(
                os.stat(name, dir_fd=folder, follow_symlinks=False).st_blocks << 9
                for _, folders, files, folder in os.fwalk(".", dir_fd=at)
                for name in (*folders, *files)
            )
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise RunError(f"expected to look through {run / FAULTS}, got {error}") from error


def read_evidence(run: Path, name: str) -> KeptFault | None:
    """The evidence in a file of a run, None where there is none. Raises RunError."""
    try:
        return msgspec.json.decode(read_regular(run, name), type=KeptFault)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise RunError(f"expected the evidence of a fault in {run / name}, got {error}") from None


class SoFar(Struct, frozen=True):
    """What had been played when a game broke off.

    ``left``     pagodas left, by seat; ``mover`` is the seat to move
    ``used_ms``  time of each seat for all its answers, by the clock of the run
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


def append_void(run: Path, game: VoidGame) -> None:
    """Appends a line. Only the main process of a run does this. Raises RunError."""
    with LineFile(run, VOIDS_FILE, "voids", waits=True) as file:
        file.append(msgspec.json.encode(game) + b"\n")
