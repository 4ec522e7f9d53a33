"""faults/: the evidence of each fault, one folder per game, one file per seat."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError

FOLDER = "faults"
MOST_BYTES = 64 << 20


class KeptFault(Struct, frozen=True):
    """The part of an evidence file needed to reproduce the fault; runs of earlier versions have no ``asked_ms``."""

    game: str
    seat: Annotated[int, Meta(ge=0, le=3)]
    turn: Annotated[int, Meta(ge=0, le=72)]
    kind: str
    detail: str
    lines: list[tuple[str, float, str]]
    asked_ms: list[Annotated[int, Meta(ge=0, le=86_400_000)]] = []


def evidence_folder(run: Path, game: str) -> Path:
    """Where the evidence of a game is kept."""
    return run / FOLDER / game


def write_evidence(run: Path, game: str, seeds: Sequence[int], evidence: Sequence[Any]) -> None:
    """Writes one indented JSON file for each seat that forfeited; ``seeds`` are the bots' seeds for the game, by seat.

    Raises RunError.
    """
    folder = evidence_folder(run, game)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for item in evidence:
            content = {"game": game, "bot_seed": seeds[item.seat], **msgspec.to_builtins(item)}
            path = folder / f"seat-{item.seat}.json"
            path.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    except OSError as error:
        raise RunError(
            f"expected to write evidence into {folder}, got {error}", "free some disk space, then run the same command again"
        ) from error


def read_evidence(path: Path) -> KeptFault:
    """The evidence in a file. Raises RunError."""
    try:
        return msgspec.json.decode(regular_bytes(path), type=KeptFault)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RunError(f"expected the evidence of a fault in {path}, got {error}") from None


def regular_bytes(path: Path) -> bytes:
    """The contents of a file that is not a link, a pipe or a device. Raises OSError, RunError."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RunError(f"expected the evidence of a fault in {path}, which is not a regular file")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise RunError(f"{path}: expected at most {MOST_BYTES >> 20} MiB of evidence, got more")
    return data
