"""What a run keeps beside its records: the evidence of faults, the games that broke off, and what
bots wrote to their standard error.

``faults/`` has a folder for each game, with a file for each seat that forfeited. ``voids.jsonl``
has a line for each game that broke off without a bot's fault. ``stderr/N.jsonl.gz`` is written by
each session of a run that keeps it: for each game one line of JSON, compressed by gzip. Nothing
depends on these files: a game counts without them.
"""

import gzip
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.record import DealtGame
from arena.records.regular import LineFile, folder_below, open_regular, read_regular, write_durably

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

STDERR = "stderr"
PART_BYTES, GAME_BYTES, RUN_BYTES = 16 << 10, 128 << 10, 256 << 20
"""The most that is kept of a turn and of a seat's whole game, as it was written, and of a run,
compressed.
"""
LEAST_FREE = 256 << 20
"""On a disk with less room than this, stderr is not kept: the journal needs it."""

When = Literal["start", "turn", "end"]
"""Before a bot was first asked, from one request to the next, and after the end of the game."""
BEFORE_AND_AFTER = {"start": "before its first turn", "end": "after the end"}
MOST_PARTS = 4 * 76
"""Of four seats, each with 72 turns, its start and its end."""
MOST_JSON = 4 * GAME_BYTES * 6 + (256 << 10)
"""Of one game: a byte takes up to six in JSON."""
MOST_UNPACKED = 16 * RUN_BYTES
"""A stranger's file could hold any amount: so much is looked through for a game."""
NAMES = re.compile(r"([1-9][0-9]{0,5})\.jsonl\.gz")
LEVEL, WINDOW = 1, 12
"""For a few KB, a window of 4 KB does as well as the usual 32, and is three times as fast: setting
that up was most of the time. Higher levels save a tenth of the room.
"""
GZIP = 16
"""With this, zlib reads and writes the form of gzip."""


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


class StderrPart(Struct, frozen=True, omit_defaults=True):
    """What the bot at a seat wrote at a time of the game.

    ``turn`` is the number of placements before the answer that was due, None before the first and
    after the end. ``cut`` is the number of bytes left out at the end of the text.
    """

    seat: Annotated[int, Meta(ge=0, le=3)]
    text: str
    when: When = "turn"
    turn: Annotated[int, Meta(ge=0, le=72)] | None = None
    cut: Annotated[int, Meta(ge=0)] = 0

    def lines(self) -> list[str]:
        """The lines for people, without blank ones, with a last one about what is missing."""
        missing = [f"({self.cut:,} more bytes are not kept)"] if self.cut else []
        # Not splitlines(): to a bot only a newline ends a line, and a stranger's other breaks are
        # shown as escapes.
        return [line for line in self.text.split("\n") if line.strip()] + missing


class GameStderr(Struct, frozen=True):
    """What the bots of a game wrote: by seat, and for each seat in order."""

    id: str
    bots: list[str]
    parts: Annotated[list[StderrPart], Meta(max_length=MOST_PARTS)]


_decode_stderr = msgspec.json.Decoder(GameStderr).decode


def pack(game: GameStderr) -> bytes:
    """A game as a line compressed by gzip; empty if there is nothing to keep."""
    line = msgspec.json.encode(game) + b"\n"
    return zlib.compress(line, LEVEL, GZIP + WINDOW) if game.parts else b""


class KeptStderr:
    """The stderr of a run, which has a budget; ``ended`` says why no more of it is kept, if so."""

    # A file for each session: what a kill leaves torn is at the end of a file to which nothing is
    # added any more.

    def __init__(self, run: Path) -> None:
        self._run = run
        self._name = ""
        self._used = 0
        self.ended = ""

    def append(self, games: Iterable[bytes]) -> None:
        """Adds packed games. Never fails: a game is not to be lost for what a bot printed."""
        data = b"".join(games)
        if not data or self.ended:
            return
        try:
            if not self._name:
                self._begin()
            self._append(data)
        except (OSError, RunError) as error:
            self.ended = str(error)

    def _begin(self) -> None:
        files = _files(self._run)
        self._used = sum((self._run / name).lstat().st_size for name in files)
        number = 1 + (int(files[-1].partition("/")[2].partition(".")[0]) if files else 0)
        if not NAMES.fullmatch(f"{number}.jsonl.gz"):
            raise RunError(f"{STDERR}/ has a file for each of {number - 1} sessions")
        self._name = f"{STDERR}/{number}.jsonl.gz"

    def _append(self, data: bytes) -> None:
        """Raises OSError, RunError."""
        file = open_regular(self._run, self._name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            there, disk = os.fstat(file).st_size, os.fstatvfs(file)
            if self._used + len(data) > RUN_BYTES:
                self.ended = f"that of this run has reached {RUN_BYTES >> 20} MiB"
            elif disk.f_bavail * disk.f_frsize < LEAST_FREE:
                self.ended = f"less than {LEAST_FREE >> 20} MiB are free on its disk"
            elif os.write(file, data) < len(data):
                os.ftruncate(file, there)
                self.ended = "its disk is full"
            else:
                self._used += len(data)
        finally:
            os.close(file)


def read_stderr(run: Path, games: Sequence[str]) -> dict[str, GameStderr]:
    """What was kept of these games. What is damaged is left out, and of a game that was played
    again the last counts. Raises RunError for files that are no regular ones.
    """
    wanted = {msgspec.json.encode(id_) for id_ in games}
    found, room = dict[str, GameStderr](), MOST_UNPACKED
    for name in _files(run):
        try:
            packed = os.fdopen(open_regular(run, name), "rb")
        except OSError as error:
            raise RunError(f"expected to read {run / name}, got {error}") from None
        # What follows something torn or damaged cannot be read.
        with packed, gzip.open(packed) as lines, suppress(EOFError, OSError, zlib.error):
            while room > 0 and (line := lines.readline(MOST_JSON)):
                room -= len(line)
                if any(id_ in line for id_ in wanted):
                    with suppress(msgspec.DecodeError, ValueError, RecursionError):
                        game = _decode_stderr(line)
                        found |= {game.id: game} if game.id in games else {}
    return found


def _files(run: Path) -> list[str]:
    """The files of a run by number. Raises RunError."""
    try:
        with folder_below(run, [STDERR]) as at:
            names = os.listdir(at)  # noqa: PTH208 - a descriptor
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"expected to look through {run / STDERR}, got {error}") from None
    numbers = [int(found[1]) for found in map(NAMES.fullmatch, names) if found]
    return [f"{STDERR}/{number}.jsonl.gz" for number in sorted(numbers)]
