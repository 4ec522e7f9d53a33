"""A bot made ready to play: copied to where it is played, built there, and started from there."""

import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from arena.errors import BotFolderError
from arena.players.folder import Bot, content_hash, copy_files, manifest_text
from arena.players.kept import Kept, cache_folder
from arena.players.manifest import FILE, played_text
from arena.players.passing import make_passing, remove_passing, remove_tree
from arena.players.process import run_build
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.toolchains import installation, missed_program, missing_program, toolchain_files

BUILD_S = 600
VERSION_S = 20
STAGING = ".staging-"
CORRECT = "fix the command in bot.toml"
CURE_BUILD = "fix the error it shows; the step runs in a copy of the bot's folder"


def stage(bot: Bot, target: Path, sandbox: Sandbox = OPEN) -> Bot:
    """Copies the bot to ``target`` and builds it there; a finished copy is reused if it has the
    same content, or build results.

    Only one process at a time may stage into the folder that holds ``target``: anything left
    unfinished there is removed. Raises BotFolderError if a program is missing or a build step
    fails.
    """
    staged = msgspec.structs.replace(bot, folder=target.resolve())
    if target.exists():
        # What a build left there has no hash to compare it with. It is whole, because a copy gets
        # its name only when it is finished, and the run's folder is nobody's but the arena's.
        is_itself = bot.folder.resolve() == target.resolve()
        if is_itself or bot.manifest.build or content_hash(target, bot.manifest) == bot.sha256:
            return staged
        remove_tree(str(target))
    check_programs(bot)
    target.parent.mkdir(parents=True, exist_ok=True)
    for left_over in target.parent.glob(f"{STAGING}*"):
        remove_tree(str(left_over))
    with _staging_folder(target.parent) as temporary:
        work = temporary / "bot"
        if bot.manifest.build:
            _fetch_or_build(bot, work, sandbox)
        else:
            _copy_to(work, bot)
        missing = missing_file(bot, work)
        if missing:
            raise BotFolderError(f"{bot.label}: {missing}", CORRECT)
        work.rename(target)
    return staged


@contextmanager
def staged_for_a_while(*bots: Bot, sandbox: Sandbox = OPEN) -> Iterator[list[Bot]]:
    """The bots staged in a temporary folder, which is removed when the block ends."""
    folder = make_passing("staged")
    try:
        yield [
            stage(bot, Path(folder, f"{number}-{bot.base}"), sandbox)
            for number, bot in enumerate(bots)
        ]
    finally:
        remove_passing(folder)


def check_programs(bot: Bot) -> None:
    """Raises BotFolderError if anything needed to build or start the bot is missing."""
    reason, cure = lack(bot)
    if reason:
        raise BotFolderError(f"{bot.label}: {reason}", cure)


def lack(bot: Bot) -> tuple[str, str]:
    """Why the bot cannot be built or started on this machine, and the cure; both empty if nothing
    is missing.
    """
    program = missing_program([*bot.manifest.build, bot.command])
    if program:
        return f"expected the program {program!r} on PATH, found none", installation(program)
    file = (
        ""
        if bot.manifest.build
        else missing_file(bot, bot.folder if bot.folder.is_dir() else bot.folder.parent)
    )
    return file, CORRECT if file else ""


def missing_file(bot: Bot, folder: Path) -> str:
    """Why the command cannot start, if it is a file in the folder; else an empty text."""
    program = bot.command[0]
    file = folder / program
    if "/" not in program or (os.access(file, os.X_OK) and file.is_file()):
        return ""
    return f"expected {program} to be an executable file in the bot's folder"


def kept_builds(sandbox: Sandbox) -> Kept | None:
    """Where builds are kept; None where a bot could have written to them: without a sandbox, or in
    a folder that others can write to.
    """
    kept = Kept(cache_folder("builds"))
    return kept if sandbox.tier != "none" and kept.is_ours else None


def _copy_to(work: Path, bot: Bot) -> None:
    work.mkdir()
    copy_files(bot.folder, work)
    if (work / FILE).exists():
        (work / FILE).write_text(
            played_text(manifest_text(work / FILE), bot.manifest), encoding="utf-8"
        )


def _fetch_or_build(bot: Bot, work: Path, sandbox: Sandbox) -> None:
    """Makes the built bot in ``work``: a copy of what an earlier build of the same files by the
    same programs made, or a new build.
    """
    kept = kept_builds(sandbox)
    key = f"{bot.manifest.name}-{_build_key(bot, work.parent, sandbox)}" if kept else ""
    if kept and _is_fetched(kept, key, work):
        return
    _copy_to(work, bot)
    # Somebody may have changed the files since they were hashed: then this build must not be kept
    # as that of the hash, for later runs.
    is_as_hashed = kept is not None and content_hash(work, bot.manifest) == bot.sha256
    for step in bot.manifest.build:
        _build(bot, step, work, sandbox)
    if kept and is_as_hashed:
        with suppress(OSError, shutil.Error):  # it is built; keeping it only saves time
            kept.keep(key, work)


def _is_fetched(kept: Kept, key: str, work: Path) -> bool:
    try:
        return kept.fetch(key, work)
    except (OSError, shutil.Error):
        remove_tree(str(work))
        return False


def _build_key(bot: Bot, folder: Path, sandbox: Sandbox) -> str:
    """A hash of all that a build follows from: the bot's files, the machine, the programs that its
    steps name and those that these use.
    """
    programs = dict.fromkeys(step[0] for step in bot.manifest.build if "/" not in step[0])
    versions = [
        run_build([program, "--version"], folder, sandbox, VERSION_S)[1] for program in programs
    ]
    known = [
        bot.sha256,
        sandbox.tier,
        platform.platform(),
        platform.node(),
        sys.version,
        *versions,
        *toolchain_files(programs),
    ]
    return hashlib.sha256(msgspec.json.encode(known)).hexdigest()


def _build(bot: Bot, step: list[str], folder: Path, sandbox: Sandbox) -> None:
    shown = f"{bot.label}: the build step '{' '.join(step)}'"
    ending, tail = run_build(step, folder, sandbox, BUILD_S)
    if ending is None:
        raise BotFolderError(f"{shown} did not finish within {BUILD_S} s", "shorten it")
    if ending.failed:
        raise BotFolderError(
            f"{shown} could not be started: {ending.failed}", "fix the build in bot.toml"
        )
    if ending.exit != 0:
        how = str(ending) if ending.exit is None else f"ended with status {ending.exit}"
        missed = missed_program(tail)
        cure = f"{missed} is not on PATH: {installation(missed)}" if missed else CURE_BUILD
        raise BotFolderError(f"{shown} {how}:\n{tail}", cure)


@contextmanager
def _staging_folder(parent: Path) -> Iterator[Path]:
    """A folder that is removed when the block ends, whatever a build has put into it."""
    folder = tempfile.mkdtemp(prefix=STAGING, dir=parent)
    try:
        yield Path(folder)
    finally:
        remove_tree(folder)
