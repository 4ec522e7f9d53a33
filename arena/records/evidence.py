"""faults/: the evidence of each fault, one folder per game, one file per seat."""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.regular import folder_below, read_regular, write_durably

FOLDER = "faults"
FULL_BYTES, MOST_BYTES = 48 << 20, 64 << 20
"""A fault leaves up to 100 KB, and a bot may forfeit every game: a million games would fill 100 GB.
This keeps 500 faults whole and some 2,000 more in short, where a report shows 40, and a run's
folder can still be sent to somebody.
"""
BLOCK = 4096
"""What a disk gives to the smallest file, and to the folder it is in."""
SHORT_STDERR = 500
MOST_NAME = 250


class KeptFault(Struct, frozen=True):
    """The part of an evidence file needed to reproduce the fault; runs of earlier versions have no
    ``asked_ms``.
    """

    game: str
    seat: Annotated[int, Meta(ge=0, le=3)]
    turn: Annotated[int, Meta(ge=0, le=72)]
    kind: str
    detail: str
    lines: list[tuple[str, float, str]]
    asked_ms: list[Annotated[int, Meta(ge=0, le=86_400_000)]] = []


def evidence_name(game: str, seat: int) -> str:
    """Where the evidence of a seat's fault lies below the run's folder."""
    return f"{FOLDER}/{'/'.join(map(_folder_name, game.split('/')))}/seat-{seat}.json"


def _folder_name(part: str) -> str:
    """A part of a game's id as the name of a folder: some systems take no ``:``, and none takes the
    line-up of four bots with all their options.
    """
    name = part.replace(":", "~")
    if len(name) <= MOST_NAME:
        return name
    return f"{name[: MOST_NAME // 2]}~{sha256(part.encode()).hexdigest()[:16]}"


class Faults:
    """The evidence of a run, which has a budget.

    ``is_short`` once faults are kept in short, without the lines of the dialogue; in the end only
    the record tells of them.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._used: int | None = None
        self.is_short = False

    def write(self, game: str, seeds: Sequence[int], evidence: Sequence[Any]) -> None:
        """Writes one indented JSON file for each seat that forfeited; ``seeds`` are the bots' seeds
        of the game, by seat.

        Raises RunError.
        """
        if self._used is None:
            self._used = used_bytes(self._run)
        for item in evidence:
            content = {"game": game, "bot_seed": seeds[item.seat], **msgspec.to_builtins(item)}
            data = _encoded(content)
            if self._used + _room(data) > FULL_BYTES:
                self.is_short = True
                data = _encoded(_shortened(content))
            if self._used + _room(data) <= MOST_BYTES:
                self._used += _room(data)
                write_durably(self._run / evidence_name(game, item.seat), data, self._run)


def used_bytes(run: Path) -> int:
    """What the evidence of a run takes up on the disk. Raises RunError."""
    try:
        with folder_below(run, [FOLDER]) as at:
            return sum(
                os.stat(name, dir_fd=folder, follow_symlinks=False).st_blocks << 9
                for _, folders, files, folder in os.fwalk(".", dir_fd=at)
                for name in (*folders, *files)
            )
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise RunError(f"expected to look through {run / FOLDER}, got {error}") from error


def read_evidence(run: Path, name: str) -> KeptFault | None:
    """The evidence in a file of a run, None where there is none. Raises RunError."""
    try:
        return msgspec.json.decode(read_regular(run, name), type=KeptFault)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise RunError(f"expected the evidence of a fault in {run / name}, got {error}") from None


def _encoded(content: Mapping[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _room(data: bytes) -> int:
    """What a file of this content and its folder take up."""
    return (len(data) // BLOCK + 2) * BLOCK


def _shortened(content: Mapping[str, Any]) -> dict[str, Any]:
    note = (
        f"the evidence of this run has reached {FULL_BYTES >> 20} MiB: of later faults the lines"
        " are not kept"
    )
    return {
        **content,
        "lines": [],
        "stderr": str(content.get("stderr", ""))[-SHORT_STDERR:],
        "note": note,
    }
