"""faults/: what is kept of each fault, one folder a game, one file a seat."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import RunError

FOLDER = "faults"
MOST_BYTES = 64 << 20


class KeptFault(Struct, frozen=True):
    """What an evidence file says that it takes to repeat the fault; runs of earlier versions have no ``asked_ms``."""

    game: str
    seat: int
    turn: int
    kind: str
    detail: str
    lines: list[tuple[str, float, str]]
    asked_ms: list[int] = []


def evidence_folder(run: Path, game: str) -> Path:
    """Where the evidence of a game lies."""
    return run / FOLDER / game


def write_evidence(run: Path, game: str, seeds: Sequence[int], evidence: Sequence[Any]) -> None:
    """Writes one indented JSON file for each seat that forfeited; ``seeds`` are the bots' seeds of the game, by seat.

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
        raise RunError(f"expected to write evidence into {folder}, got {error}", "make room, then run the same command again") from error


def read_evidence(path: Path) -> KeptFault:
    """The evidence in a file. Raises RunError."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise RunError(f"{path}: expected at most {MOST_BYTES >> 20} MiB of evidence, got {path.stat().st_size} bytes")
        return msgspec.json.decode(path.read_bytes(), type=KeptFault)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RunError(f"expected the evidence of a fault in {path}, got {error}") from None
