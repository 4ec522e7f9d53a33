"""stderr/: what bots wrote to their standard error, by game and turn.

Each session of a run that keeps it writes one file, ``stderr/N.jsonl.gz``: for each game one line
of JSON, in a gzip member of its own, so that ``zcat`` shows all of them. A member's header has the
game's id as the name, and the member's length in a field of ours, so that one game is found
without unpacking the others. Nothing depends on these files: a game counts without them.
"""

import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.regular import folder_below, open_regular

FOLDER = "stderr"
PART_BYTES, GAME_BYTES, RUN_BYTES = 16 << 10, 128 << 10, 256 << 20
"""The most that is kept of a turn and of a seat's whole game, as it was written, and of a run,
compressed.
"""
LEAST_FREE = 256 << 20
"""On a disk with less room than this, stderr is not kept: the journal needs it."""

When = Literal["start", "turn", "end"]
"""Before a bot was first asked, from one request to the next, and after the end of the game."""
BEFORE_AND_AFTER = {"start": "before its first turn", "end": "after the end"}


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
        """The text by lines for people, without blank ones, with a last one about what is
        missing.
        """
        missing = [f"({self.cut:,} more bytes are not kept)"] if self.cut else []
        # Not splitlines(): to a bot only a newline ends a line, and a stranger's other breaks are
        # shown as escapes.
        return [line for line in self.text.split("\n") if line.strip()] + missing


MOST_PARTS = 4 * 76
"""Of four seats, each with 72 turns, its start and its end."""


class GameStderr(Struct, frozen=True):
    """What the bots of a game wrote: by seat, and for each seat in order."""

    id: str
    bots: list[str]
    parts: Annotated[list[StderrPart], Meta(max_length=MOST_PARTS)]


HEAD = struct.Struct("<2sBBIBBH2sHI")
"""A gzip member's header with one extra field, `FIELD`, which holds the member's length."""
GZIP, DEFLATE, EXTRA_AND_NAME, UNKNOWN, FIELD = b"\x1f\x8b", 8, 0x0C, 255, b"Qn"
TAIL = struct.Struct("<II")
MOST_NAME = 1 << 10
MOST_JSON = 4 * GAME_BYTES * 6 + (256 << 10)
"""Of one game: a byte takes up to six in JSON."""
LEAST_MEMBER = 64
"""No game is smaller: a stranger's file of a few KB could else hold millions to look through."""
NAMES = re.compile(r"([1-9][0-9]{0,5})\.jsonl\.gz")
LEVEL, WINDOW, MEMORY = 1, -12, 5
"""For a few KB, a window of 4 KB does as well as the usual 32, and is three times as fast: setting
that up was most of the time. Higher levels save a tenth of the room.
"""

_decode = msgspec.json.Decoder(GameStderr).decode


def pack(game: GameStderr) -> bytes:
    """A game as a gzip member; empty if there is nothing to keep."""
    if not game.parts:
        return b""
    data = msgspec.json.encode(game) + b"\n"
    press = zlib.compressobj(LEVEL, DEFLATE, WINDOW, MEMORY)
    body = press.compress(data) + press.flush()
    name = game.id.encode() + b"\0"
    size = HEAD.size + len(name) + len(body) + TAIL.size
    head = HEAD.pack(GZIP, DEFLATE, EXTRA_AND_NAME, 0, 0, UNKNOWN, 8, FIELD, 4, size)
    return b"".join((head, name, body, TAIL.pack(zlib.crc32(data), len(data))))


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
            raise RunError(f"{FOLDER}/ has a file for each of {number - 1} sessions")
        self._name = f"{FOLDER}/{number}.jsonl.gz"

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
    wanted, found, room = set(games), dict[str, GameStderr](), RUN_BYTES
    for name in _files(run):
        try:
            file = os.fdopen(open_regular(run, name), "rb")
        except OSError as error:
            raise RunError(f"expected to read {run / name}, got {error}") from None
        with file:
            places = {id_: place for id_, place in _members(file, room) if id_ in wanted}
            room -= os.fstat(file.fileno()).st_size
            for id_, (start, size) in places.items():
                file.seek(start)
                game = _unpacked(file.read(size))
                if game and game.id == id_:
                    found[id_] = game
    return found


def _files(run: Path) -> list[str]:
    """The files of a run by number. Raises RunError."""
    try:
        with folder_below(run, [FOLDER]) as at:
            names = os.listdir(at)  # noqa: PTH208 - a descriptor
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"expected to look through {run / FOLDER}, got {error}") from None
    numbers = [int(found[1]) for found in map(NAMES.fullmatch, names) if found]
    return [f"{FOLDER}/{number}.jsonl.gz" for number in sorted(numbers)]


def _members(file: BinaryIO, room: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The games in the first ``room`` bytes of a file, with start and length of each, up to the
    first that is not whole.
    """
    whole, at = os.fstat(file.fileno()).st_size, 0
    while at < min(whole, room):
        file.seek(at)
        head = file.read(HEAD.size + MOST_NAME)
        if len(head) < HEAD.size:
            return
        *fixed, size = HEAD.unpack_from(head)
        name, end, _ = head[HEAD.size :].partition(b"\0")
        is_ours = (fixed[0], fixed[2], fixed[7], end) == (GZIP, EXTRA_AND_NAME, FIELD, b"\0")
        if not is_ours or not LEAST_MEMBER <= size <= whole - at:
            return
        yield name.decode(errors="replace"), (at, size)
        at += size


def _unpacked(member: bytes) -> GameStderr | None:
    """A game, None if the member is damaged, or unpacks to more than a game can have."""
    press = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        data = press.decompress(member, MOST_JSON)
        return _decode(data) if press.eof else None
    except (zlib.error, msgspec.DecodeError, ValueError, RecursionError):
        return None
