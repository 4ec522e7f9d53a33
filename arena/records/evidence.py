"""Evidence of faults: what a bot that forfeited was sent, what it answered, and how it ended.

The folder ``faults/`` of a run has a folder for each game with a forfeit, and in it a file for each
seat that forfeited. Other files do not refer to these files: a game counts without them. The kinds
of faults are in arena/faults.py.
"""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.regular import folder_below, read_regular, write_durably

FAULTS = "faults"
MAX_EVIDENCE = 64 << 20
"""The most bytes of evidence in a run's folder. A fault leaves up to 100 KB, and a bot may forfeit
all its games: a million games would fill 100 GB. 64 MiB hold some 600 faults, of which a report
shows at most 40, and a run's folder stays small enough to be sent to somebody.
"""
BLOCK = 4096
"""The bytes that the smallest file or folder takes on a disk."""
DISK_BLOCK = 512
"""The bytes of a block in which the system counts what a file takes on a disk."""
MAX_NAME = 250
"""The most characters in the name of a folder; longer names are cut, see `_folder_name`."""


class KeptFault(Struct, frozen=True):
    """The fields of an evidence file that are needed to reproduce the fault.

    ``game``      the id of the game
    ``seat``      the seat that forfeited
    ``turn``      the number of placements before the fault
    ``kind``      the kind of fault, the value of a `faults.FaultKind`
    ``detail``    a text about the fault for people
    ``lines``     the last lines exchanged with the bot: (direction, ms since the start of the game,
                  text)
    ``asked_ms``  the time in ms that the bot had for each of its answers in the game
    """

    game: str
    seat: Annotated[int, Meta(ge=0, le=3)]
    turn: Annotated[int, Meta(ge=0, le=72)]
    kind: str
    detail: str
    lines: list[tuple[str, float, str]]
    asked_ms: list[Annotated[int, Meta(ge=0, le=86_400_000)]]


def evidence_name(game: str, seat: int) -> str:
    """The path, below the run's folder, of the file with the evidence for the fault of ``seat`` in
    the game with the id ``game``.
    """
    folders = [_folder_name(part) for part in game.split("/")]
    return "/".join([FAULTS, *folders, f"seat-{seat}.json"])


def _folder_name(part: str) -> str:
    """Converts a part of a game's id to the name of a folder. Some file systems refuse ``:``, and
    all refuse names as long as a line-up of four bots with many options; a long name is cut and
    gets a hash.
    """
    name = part.replace(":", "~")
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME // 2]}~{sha256(part.encode()).hexdigest()[:16]}"


class EvidenceWriter:
    """Writes the evidence of a run's faults, at most `MAX_EVIDENCE` bytes in total. ``is_full`` is
    True once at least one file did not fit and was left out; later files that are small enough are
    still written.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._used: int | None = None
        self.is_full = False

    def write(self, game: str, seeds: Sequence[int], evidence: Sequence[Any]) -> None:
        """Writes one indented JSON file for each `players.player.Evidence` in ``evidence``, the
        evidence of one game. ``game`` is the game's id, ``seeds`` are the bots' seeds in that game,
        by seat. A file that does not fit is left out, and ``is_full`` set. Raises RunError.
        """
        if self._used is None:
            self._used = used_bytes(self._run)
        for item in evidence:
            content = {"game": game, "bot_seed": seeds[item.seat], **msgspec.to_builtins(item)}
            data = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
            size = (len(data) // BLOCK + 2) * BLOCK  # of the file and its folder
            if self._used + size <= MAX_EVIDENCE:
                self._used += size
                write_durably(self._run / evidence_name(game, item.seat), data, self._run)
            else:
                self.is_full = True


def used_bytes(run: Path) -> int:
    """How many bytes of disk the evidence in a run's folder takes; 0 without evidence. Raises
    RunError.
    """
    try:
        blocks = 0
        with folder_below(run, [FAULTS]) as at:
            for _, folders, files, folder in os.fwalk(".", dir_fd=at):
                for name in (*folders, *files):
                    blocks += os.stat(name, dir_fd=folder, follow_symlinks=False).st_blocks
        return blocks * DISK_BLOCK
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise RunError(f"cannot read {run / FAULTS}: {error}") from error


def read_evidence(run: Path, name: str) -> KeptFault | None:
    """Reads the evidence file ``name``, a path below the run's folder; None if the file does not
    exist. Raises RunError.
    """
    try:
        return msgspec.json.decode(read_regular(run, name), type=KeptFault)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise RunError(f"{run / name} is not the evidence of a fault: {error}") from None
