"""Where a run was made: by this user on this machine, or elsewhere.

The user has a secret key in their state folder. A run that the arena starts gets a small file with
a hash, keyed by it, of what identifies the run: its seed and when it started. Nobody else can make
one that fits, so a run without it came from elsewhere, or from an arena that did not write such
files yet, and is only read until the user adopts it. It is no seal: a run that you send away and
get back changed has the file still. What that can do is bounded by `regular`, and by the hashes of
the bots.
"""

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from arena.errors import RunError
from arena.records.regular import read_regular, write_durably
from arena.records.runfile import RunInfo

FILE = "made-here"
KEY_BYTES = 32


def is_made_here(run: Path, info: RunInfo) -> bool:
    """Whether the run of this run.json is one of this user's."""
    try:
        known = read_regular(run, FILE, KEY_BYTES * 4).decode(errors="replace").strip()
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
    write_durably(run / FILE, f"{_mark(key, info.seed, info.started)}\n".encode())
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
    return hmac.new(
        key, f"{started}\n{seed}".encode(errors="surrogatepass"), hashlib.sha256
    ).hexdigest()


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
