"""What a run keeps beside its records: run.json, its settings, written when it starts, and again
when it is extended or decides how to continue; made-here, which says that this user started the run
on this machine; and the evidence of faults, and the games that broke off.

The user has a secret key in their state folder. A run that the arena starts gets a small file with
a hash, keyed by it, of what identifies the run: its seed and when it started. Nobody else can make
one that fits, so a run without it came from elsewhere, and is only read until the user adopts it.
It is no seal: a run that you send away and get back changed has the file still. What that can do is
bounded by `regular`, and by the hashes of the bots.

``faults/`` has a folder for each game, with a file for each seat that forfeited. ``voids.jsonl``
has a line for each game that broke off without a bot's fault. Nothing depends on these files: a
game counts without them.
"""

import hmac
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.league import Drawn, read_league
from arena.records.record import DealtGame
from arena.records.regular import LineFile, folder_below, read_regular, write_durably

FILE = "run.json"
OLDER = "0."
"""How the version of an arena begins whose runs are not read any more; 1.0.0 reads them, and those
in which line-ups got unequal numbers of deals.
"""
READS_IT = "qin-arena 1.0.0 still reads it: pip install qin-arena==1.0.0"
MOST_BYTES = 256 << 20
"""Runs of a million line-ups have a hundred."""


Grant = Annotated[str, Meta(min_length=1, max_length=1200)]


class BotInfo(Struct, frozen=True, omit_defaults=True):
    """A bot of a run: its files as they were when the run started, and the values of its
    options.

    ``grants`` are what the user let it do beyond the sandbox, such as ``network``. They tell what
    was played, and give nothing to anybody who reads them here.
    """

    name: Annotated[str, Meta(pattern=r"^[^/]+$")]
    version: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{12,64}$")]
    command: Annotated[list[str], Meta(min_length=1)]
    options: dict[str, int | float | bool | str] = {}
    grants: Annotated[list[Grant], Meta(max_length=100)] = []

    @property
    def copy(self) -> str:
        """Where the run's folder keeps the copy of the bot that plays, whatever its options."""
        return f"bots/{self.name.partition(':')[0]}-{self.sha256[:12]}"


class RunInfo(Struct, frozen=True):
    """The contents of run.json. ``config`` is a `tournament.config.RunConfig`; ``boards`` are rows
    by name; ``started`` is UTC. The games ``drawn`` in a league are in a file of their own.
    """

    arena: str
    protocol: int
    rules_core: str
    rules_revision: int
    config: dict[str, Any]
    boards: dict[str, list[str]]
    bots: list[BotInfo]
    seed: str
    sandbox: str
    started: str

    @property
    def has_own_decks(self) -> bool:
        """Whether each game has its own deck, so that deals with the same number have nothing in
        common.
        """
        return bool(self.config.get("seatings") == "single")

    @property
    def clock(self) -> str:
        """What time is measured by, ``cpu`` or ``wall``; empty where it is not limited."""
        return "" if self.config.get("in_process") else str(self.config.get("clock", "wall"))


def read_run(folder: Path) -> RunInfo:
    """The run.json of a run's folder, with the games that its league has drawn. Raises RunError."""
    info = _read(folder)
    if info.config.get("league") is None:
        return info
    drawn, players = read_league(folder).drawn, info.config.get("players", 2)
    for each in drawn:
        if each.line_up.count("+") + 1 != players:
            raise RunError(
                f"expected line-ups of {players} bots in the league in {folder}, got"
                f" {each.line_up!r}",
                "something else changed its league.jsonl: restore it; the games are in the journal",
            )
    return _with_drawn(info, drawn)


def _with_drawn(info: RunInfo, drawn: list[Drawn]) -> RunInfo:
    """The run.json of a league that has drawn these games."""
    return msgspec.structs.replace(info, config={**info.config, "drawn": drawn})


def _read(folder: Path) -> RunInfo:
    path = folder / FILE
    try:
        info = msgspec.json.decode(read_regular(folder, FILE, MOST_BYTES), type=RunInfo)
    except FileNotFoundError:
        raise RunError(
            f"expected a run in {folder}, found no {FILE} there", "'arena runs' lists the runs"
        ) from None
    except (OSError, msgspec.DecodeError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: {error}", "something else changed the file: restore it") from None
    info.config.pop("keep_stderr", None)  # 1.0.0 could keep what bots printed, beside the records
    is_adaptive, allotted = bool(info.config.pop("adaptive", False)), info.config.get("allotted")
    if isinstance(allotted, dict):  # for each line-up, as 1.0.0 wrote it
        each = [*allotted.values(), None]
        is_adaptive |= any(deals != each[0] for deals in each[:-1])
        info.config["allotted"] = each[0]
    if is_adaptive:
        raise RunError(f"expected a run without --adaptive in {folder}, got one with it", READS_IT)
    if info.arena.startswith(OLDER):
        wanted = f"expected a run of qin-arena 1.0.0 or newer in {folder}"
        raise RunError(f"{wanted}, got one of {info.arena}", READS_IT)
    return info


def write_run(folder: Path, info: RunInfo) -> None:
    """Writes run.json atomically, without the drawn games of a league, whose number has no end."""
    if info.config.get("drawn"):
        info = _with_drawn(info, [])
    write_durably(folder / FILE, msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n")


MARK = "made-here"
KEY_BYTES = 32


def is_made_here(run: Path, info: RunInfo) -> bool:
    """Whether the run of this run.json is one of this user's."""
    try:
        known = read_regular(run, MARK, KEY_BYTES * 4).decode(errors="replace").strip()
        return hmac.compare_digest(known.encode(), _mark(_key(), info.seed, info.started).encode())
    except (OSError, RunError):
        return False


def mark_run(run: Path, info: RunInfo) -> str:
    """Marks the run as made here; what kept it from that, or an empty text. Raises RunError when
    the run's folder cannot be written.
    """
    try:
        key = _key()
    except (OSError, RunError) as error:
        return str(error)
    write_durably(run / MARK, f"{_mark(key, info.seed, info.started)}\n".encode())
    return ""


def state_folder() -> Path:
    """Where the arena keeps what is this user's on this machine. Raises RunError where there is no
    home.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    # The rule for these variables: what is not absolute counts as not set.
    if os.path.isabs(named):  # noqa: PTH117
        return Path(named, "qin-arena")
    try:
        return Path.home() / ".local" / "state" / "qin-arena"
    except RuntimeError as error:
        raise RunError(
            f"expected a home for the key of your runs, got {error}",
            "name a folder in XDG_STATE_HOME",
        ) from None


def _mark(key: bytes, seed: str, started: str) -> str:
    return hmac.new(key, f"{started}\n{seed}".encode(errors="surrogatepass"), sha256).hexdigest()


def _key() -> bytes:
    """The user's key, made when it is first needed. Raises OSError, RunError."""
    folder = state_folder()
    path = folder / "key"
    with suppress(FileNotFoundError):
        return _read_key(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = folder / f".key.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another arena was faster: its key counts
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)
    return _read_key(path)


def _read_key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise RunError(
            f"expected a key of {KEY_BYTES} bytes in {path}, got {len(key)}",
            "remove it: your runs then need --adopt once",
        )
    return key


FAULTS = "faults"
MOST_EVIDENCE = 64 << 20
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
            if self._used + room <= MOST_EVIDENCE:
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
