"""made-here: the file in a run's folder which says that this user started the run on this machine.

The user has a secret key in their state folder. When the arena starts a run, it writes a hash,
keyed by that key, of the run's seed and the time at which the run started. Without the key, nobody
can make a hash that fits. So a run without the file came from elsewhere, and the arena only reads
it until the user adopts it.

The file does not show that the run is unchanged: if the user sends a run away and gets it back
changed, the hash still fits. What such a run can do is limited by `arena.records.regular` and by
the hashes of the bots.
"""

import hmac
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from arena.errors import RunError
from arena.records.regular import read_regular, write_durably
from arena.records.runfile import RunInfo

MARK = "made-here"
KEY_BYTES = 32


def is_made_here(run: Path, info: RunInfo) -> bool:
    """Whether this user started the run in the folder ``run`` on this machine, or adopted it.
    ``info`` is the content of its run.json. False, too, if the mark or the user's key cannot be
    read.
    """
    try:
        mark = read_regular(run, MARK, KEY_BYTES * 4).decode(errors="replace").strip()
        expected = _mark(_key(), info.seed, info.started)
    except (OSError, RunError):
        return False
    return hmac.compare_digest(mark.encode(), expected.encode())


def mark_run(run: Path, info: RunInfo) -> str:
    """Marks the run in the folder ``run``, whose run.json is ``info``, as made here. Returns an
    empty text, or the reason why the user's key cannot be read or made. Raises RunError if the mark
    cannot be written.
    """
    try:
        key = _key()
    except (OSError, RunError) as error:
        return str(error)
    write_durably(run / MARK, f"{_mark(key, info.seed, info.started)}\n".encode())
    return ""


def state_folder() -> Path:
    """The path of the folder for this user's own data on this machine, which need not exist. Raises
    RunError if the user has no home folder.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    # The XDG standard says that a path that is not absolute counts as not set.
    if os.path.isabs(named):  # noqa: PTH117
        return Path(named, "qin-arena")
    try:
        return Path.home() / ".local" / "state" / "qin-arena"
    except RuntimeError as error:
        raise RunError(
            f"found no folder for the key of your runs: {error}", "name a folder in XDG_STATE_HOME"
        ) from None


def make_state_folder(name: str) -> Path:
    """Makes the folder ``name`` in the user's state folder, and the state folder, if they are
    missing, with access for this user alone. Returns its path. Raises OSError, RunError.
    """
    # With ``parents=True`` alone, the mode would apply to the inner folder only.
    state = state_folder()
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = state / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _mark(key: bytes, seed: str, started: str) -> str:
    """The content of the file made-here: a hash of the run's ``seed`` and of the time it
    ``started``, made with the user's ``key``.
    """
    return hmac.new(key, f"{started}\n{seed}".encode(errors="surrogatepass"), sha256).hexdigest()


def _key() -> bytes:
    """The user's key; it is made if there is none yet. Raises OSError, RunError."""
    folder = state_folder()
    path = folder / "key"
    with suppress(FileNotFoundError):
        return _read_key(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = folder / f".key.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another arena made a key first: that key counts
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)
    return _read_key(path)


def _read_key(path: Path) -> bytes:
    """Reads the key in the file at ``path``. Raises OSError, or RunError if the key has the wrong
    length.
    """
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise RunError(
            f"expected a key of {KEY_BYTES} bytes in {path}, got {len(key)}",
            "remove it: your runs then need --adopt once",
        )
    return key
