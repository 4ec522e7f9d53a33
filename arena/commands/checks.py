"""Remembers which bots recently passed `arena check`, so that `arena submit` does not check them
again.
"""

import hashlib
import os
import platform
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec

import arena
from arena.errors import RunError
from arena.match.bench import STARTUP_MS
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.records.ownership import make_state_folder, state_folder
from arena.rules import CORE

PASSED = "passed"
FRESH_S = 3600
"""For how many seconds a passed check counts. What a bot needs from the machine may
change later.
"""
MAX_KEPT = 1000
"""The number of remembered checks above which old ones are removed."""


def remember_passed(home: Path, bot: Bot, move_ms: int, sandbox: Sandbox) -> None:
    """Remembers that a bot with exactly these files passed every step of a check with these
    settings. If that cannot be written, nothing is lost but time: the bot is checked again.
    """
    with suppress(OSError, RunError):
        folder = make_state_folder(PASSED)
        _remove_old(folder)
        (folder / _key(home, bot, move_ms, sandbox)).touch()


def passed_s_ago(home: Path, bot: Bot, move_ms: int, sandbox: Sandbox) -> float | None:
    """How many seconds ago a bot with exactly these files passed a check with these settings, by
    the same arena in the same home; None if that is unknown or too long ago.
    """
    try:
        passed_s = (_folder() / _key(home, bot, move_ms, sandbox)).stat().st_mtime
    except (OSError, RunError):
        return None
    ago_s = time.time() - passed_s
    return ago_s if 0 <= ago_s <= FRESH_S else None


def _folder() -> Path:
    """The folder in which passed checks are remembered. It lies outside the home, because others
    may put bots into a home that is a repository; and no bot in a sandbox can see it. Raises
    RunError.
    """
    return state_folder() / PASSED


def _remove_old(folder: Path) -> None:
    """Removes remembered checks that no longer count, once there are many."""
    places = list(folder.iterdir())
    if len(places) < MAX_KEPT:
        return
    oldest_s = time.time() - FRESH_S
    for place in places:
        if place.stat().st_mtime < oldest_s:
            place.unlink(missing_ok=True)


def _key(home: Path, bot: Bot, move_ms: int, sandbox: Sandbox) -> str:
    """A hash of everything that the result of a check depends on: the bot's files and settings, the
    time for a move, the sandbox, the arena's own files, and the machine.
    """
    known = [
        str(home.absolute()).encode(errors="surrogateescape").hex(),
        bot.sha256,
        bot.settings,
        move_ms,
        STARTUP_MS,
        sandbox.tier,
        sandbox.strangers,
        repr(sandbox.of(bot.label)),
        arena.__version__,
        _newest_file_ns(),
        CORE,
        sys.version,
        platform.platform(),
        os.environ.get("PATH", "").encode(errors="surrogateescape").hex(),
    ]
    return hashlib.sha256(msgspec.json.encode(known)).hexdigest()


def _newest_file_ns() -> int:
    """When a file of the arena itself was last changed. A checkout keeps one version number for a
    long time, so the version is not enough.
    """
    package = Path(arena.__file__).parent
    return max(path.stat().st_mtime_ns for path in package.rglob("*.py"))
