"""Remembers which bots passed `arena check` within the last hour, so that `arena submit` need not
check them again.
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
"""The name of the folder, inside the arena's state folder, that has one empty file per passed
check.
"""
FRESH_S = 3600
"""For how many seconds a passed check counts. It expires because what a bot needs from the machine
may change.
"""
MAX_KEPT = 1000
"""The number of remembered checks from which on expired ones are removed."""


def remember_passed(home: Path, bot: Bot, move_ms: int, sandbox: Sandbox) -> None:
    """Remembers that this bot, with exactly its present files, passed every step of a check with
    this time for a move and this sandbox. If that cannot be written, no error is raised: the bot is
    then simply checked again.
    """
    with suppress(OSError, RunError):
        folder = make_state_folder(PASSED)
        _remove_old(folder)
        (folder / _key(home, bot, move_ms, sandbox)).touch()


def passed_s_ago(home: Path, bot: Bot, move_ms: int, sandbox: Sandbox) -> float | None:
    """How many seconds ago a bot with exactly these files passed a check with this ``move_ms`` and
    this ``sandbox``, by this version of the arena in this ``home``. None if no such check is
    remembered, or if it is more than `FRESH_S` seconds old.
    """
    try:
        passed_s = (_folder() / _key(home, bot, move_ms, sandbox)).stat().st_mtime
    except (OSError, RunError):
        return None
    ago_s = time.time() - passed_s
    return ago_s if 0 <= ago_s <= FRESH_S else None


def _folder() -> Path:
    """The folder in which passed checks are remembered. It lies outside the home, because a home
    may be a repository into which other people put bots, and no bot in a sandbox can see it. The
    folder need not exist. Raises RunError.
    """
    return state_folder() / PASSED


def _remove_old(folder: Path) -> None:
    """Removes the expired checks from a folder of remembered checks that has at least `MAX_KEPT` of
    them.
    """
    places = list(folder.iterdir())
    if len(places) < MAX_KEPT:
        return
    oldest_s = time.time() - FRESH_S
    for place in places:
        if place.stat().st_mtime < oldest_s:
            place.unlink(missing_ok=True)


def _key(home: Path, bot: Bot, move_ms: int, sandbox: Sandbox) -> str:
    """A hash of what the result of a check depends on: the bot's files and settings, the time for a
    move, the sandbox, the arena's own Python files, and the machine.
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
    """When a Python file (``*.py``) of the arena itself was last changed, in nanoseconds since
    1970. The version number is not enough, because in a checkout the code changes while the number
    stays.
    """
    package = Path(arena.__file__).parent
    return max(path.stat().st_mtime_ns for path in package.rglob("*.py"))
