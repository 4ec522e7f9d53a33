"""arena doctor: what works on this machine, and what to install for more."""

import importlib
import os
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from arena import __version__
from arena.cli import DONE, FAILED
from arena.cli.options import as_json
from arena.cli.showing import json_text
from arena.cli.terminal import columns_of, folded
from arena.commands.folders import results_folder
from arena.errors import printable
from arena.players.exchange import CHANNEL
from arena.players.kept import Kept, cache_folder
from arena.players.passing import remove_abandoned
from arena.players.sandbox.probe import failure
from arena.players.sandbox.programs import search_path
from arena.players.sandbox.tiers import TIERS, Sandbox
from arena.players.steadiness import kernel_counts, longest_pauses, paranoia
from arena.rules import CORE
from arena.tournament.crew import START_METHOD
from arena.tournament.own import read_own_config
from arena.tournament.pool import available_cores

TOOLCHAINS = {
    "Python": ("python3",),
    "JavaScript": ("node",),
    "C": ("cc", "gcc", "clang"),
    "C++": ("c++", "g++", "clang++"),
    "Rust": ("cargo", "rustc"),
    "Go": ("go",),
    "Java": ("javac", "java"),
    "C#": ("dotnet",),
}
"""The programs that start or build bots in a language; any one of them is enough."""
MEANING = {
    "bubblewrap": (
        "a bot sees only its own folder and the system's programs: no other files, processes,"
        " network or memory"
    ),
    "landlock": (
        "a bot can open only its own folder and the system's programs, and no network; it can see"
        " which files and processes exist"
    ),
    "none": "a bot runs with your own rights: it can read and change everything that you can",
}
COUNTING = {
    "kernel": "the kernel counts everything that a bot starts, to the nanosecond",
    "proc": (
        "the arena adds up what it sees in /proc; a bot that ignores SIGCHLD is killed, since its"
        " children would not count"
    ),
    "nothing": "only Linux counts processor time reliably, so time is measured by the wall clock",
}
WATCHED_S = 3.0
LONG_STALL_MS, LONG_JUMP_MS = 20, 5
MOST_PARANOID = 2
"""With this kernel.perf_event_paranoid or less, every user may count the processor time of their
own processes.
"""
LEAST_FILES, LEAST_PROCESSES, LEAST_FREE_MB = 1024, 2048, 1024


class TierFound(Struct):
    """A kind of sandbox; ``reason`` says why it does not work here."""

    works: bool
    reason: str
    meaning: str


class Limits(Struct):
    """This user's limits, None for no limit; ``free_mb`` is the free disk space for results."""

    open_files: int | None
    processes: int | None
    free_mb: int


class Builds(Struct):
    """What bots' builds left to be used again: how many, and how much. ``is_used`` is false where a
    bot could have written there.
    """

    folder: str
    number: int
    mb: int
    is_used: bool


class Time(Struct):
    """How a bot's time is measured here. ``counts`` is what counts processor time, ``kernel``,
    ``proc`` or ``nothing``.

    ``paranoid`` is kernel.perf_event_paranoid. ``longest_stall_ms`` is how long a program that only
    computes had to wait at the most, ``longest_jump_ms`` how much processor time it was charged for
    at once while it did nothing.
    """

    counts: str
    meaning: str
    paranoid: int | None
    longest_stall_ms: float
    longest_jump_ms: float


class Findings(Struct):
    """Everything the command finds. ``languages`` are the programs on the bots' PATH.

    ``rules_reason`` says why the core is pure, ``channel_reason`` why the channel is in Python.
    """

    arena: str
    python: str
    system: str
    is_root: bool
    cores: int
    start_method: str
    sandbox: str
    walls: dict[str, TierFound]
    rules: str
    rules_reason: str
    channel: str
    channel_reason: str
    languages: dict[str, list[str]]
    limits: Limits
    builds: Builds
    allow: list[str]
    time: Time
    advice: list[str]


@click.command()
@click.option(
    "--clean",
    is_flag=True,
    help="Remove temporary folders of bots that no running process owns, then stop.",
)
@as_json
@click.pass_obj
def doctor(home: Path, /, *, clean: bool, as_json: bool) -> int:
    """Check what works on this machine. You see the sandbox, rules core, languages, limits and
    time, and what to install for more.

    The exit status is 1 if no sandbox works.

    \b
    arena doctor
    arena doctor --json
    arena doctor --clean
    """  # noqa: D301 - \b is click's mark for lines to keep
    if clean:
        return _clean(as_json=as_json)
    found = examine(results_folder(home))
    click.echo(
        json_text(found)
        if as_json
        else folded("\n".join(report(found)), columns_of(sys.stdout), " " * 6)
    )
    return FAILED if found.sandbox == "none" else DONE


def _clean(*, as_json: bool) -> int:
    """Removes what killed runs left in the temporary folder."""
    removed = [str(folder) for folder in remove_abandoned()]
    if as_json:
        click.echo(msgspec.json.encode({"removed": removed}))
    else:
        click.echo(
            "\n".join(f"removed {printable(folder)}" for folder in removed) or "nothing to remove"
        )
    return DONE


def examine(results: Path) -> Findings:
    """Examines this machine."""
    reasons = {tier: failure(Sandbox(tier).launch) for tier in TIERS}
    system, path = os.uname(), search_path(os.environ)
    found = Findings(
        arena=__version__,
        python=f"{sys.version.split()[0]} in {sys.prefix}",
        system=f"{system.sysname} {system.release} {system.machine}",
        is_root=os.getuid() == 0,
        cores=available_cores(),
        start_method=START_METHOD,
        sandbox=next((tier for tier in TIERS if not reasons[tier]), "none"),
        walls={
            tier: TierFound(not reason, reason, MEANING[tier]) for tier, reason in reasons.items()
        },
        rules=CORE,
        rules_reason=why_not_native("ARENA_RULES", "arena.rules.native") if CORE == "pure" else "",
        channel=CHANNEL,
        channel_reason=(
            why_not_native("ARENA_CHANNEL", "arena.players.native") if CHANNEL == "python" else ""
        ),
        languages={
            name: [place for tool in tools if (place := shutil.which(tool, path=path))]
            for name, tools in TOOLCHAINS.items()
        },
        limits=limits_for(results),
        builds=builds(is_confined=any(not reason for reason in reasons.values())),
        allow=read_own_config().allow or [],
        time=time_here(),
        advice=[],
    )
    found.advice.extend(advice(found))
    return found


def builds(*, is_confined: bool) -> Builds:
    """The builds kept for later runs."""
    kept = Kept(cache_folder("builds"))
    number, size = kept.size()
    return Builds(str(kept.folder), number, size >> 20, is_confined and kept.is_ours)


def time_here() -> Time:
    """How processor time is counted here, and how steadily a program runs; this takes STALL_S."""
    counts = "nothing" if sys.platform != "linux" else "kernel" if kernel_counts() else "proc"
    pauses = longest_pauses(WATCHED_S)
    return Time(
        counts,
        COUNTING[counts],
        paranoia(),
        round(pauses.stall_ns / 1e6, 1),
        round(pauses.jump_ns / 1e6, 1),
    )


def why_not_native(variable: str, module: str) -> str:
    """Why the native module is not in use, which the environment variable could ask for."""
    if os.environ.get(variable):
        return f"because {variable} asks for it"
    try:
        importlib.import_module(module)
    except ImportError as error:
        return f"because the native one is missing: {error}"
    return "because the native one was not requested"


def limits_for(results: Path) -> Limits:
    """The limits of this process, and the free space on the disk where results go or would go."""

    def soft(kind: int) -> int | None:
        number = resource.getrlimit(kind)[0]
        return None if number == resource.RLIM_INFINITY else number

    place = next(
        folder for folder in [results.absolute(), *results.absolute().parents] if folder.is_dir()
    )
    return Limits(
        soft(resource.RLIMIT_NOFILE),
        soft(resource.RLIMIT_NPROC),
        shutil.disk_usage(place).free >> 20,
    )


def advice(found: Findings) -> Iterator[str]:
    """How to get more, one sentence each."""
    if found.sandbox != "bubblewrap":
        yield advice_on_bubblewrap(found.system)
    if found.sandbox == "none":
        yield (
            "until then: use --trust BOT,... for bots that you trust enough to run by hand, or"
            " --unsafe-no-sandbox for all bots"
        )
    elif found.is_root:
        yield (
            "run the arena as a normal user, not as root: then a bot that escapes from the sandbox"
            " is not root either"
        )
    if found.rules == "pure":
        yield (
            "for a rules core about 25 times as fast: install a C compiler (on Debian: apt install"
            " gcc), then run 'pip install .' again"
        )
    yield from advice_on_time(found.time)
    missing = [name for name, programs in found.languages.items() if not programs]
    if missing:
        yield (
            f"for bots in {', '.join(missing)}: install the toolchain, and make sure it is on PATH"
        )
    limits = found.limits
    if limits.open_files is not None and limits.open_files < LEAST_FILES:
        yield f"allow more open files: ulimit -n {LEAST_FILES}"
    if limits.processes is not None and limits.processes < LEAST_PROCESSES:
        yield f"allow more processes: ulimit -u {LEAST_PROCESSES}"
    if limits.free_mb < LEAST_FREE_MB:
        yield "free some disk space for results"


def advice_on_time(time: Time) -> Iterator[str]:
    """How to count better, and to wait less."""
    if time.counts == "proc":
        high = time.paranoid is not None and time.paranoid > MOST_PARANOID
        cure = (
            "sysctl kernel.perf_event_paranoid=2"
            if high
            else "allow perf_event_open, which this container or system refuses"
        )
        yield f"to let the kernel count processor time: {cure}"
    if time.longest_stall_ms > LONG_STALL_MS:
        yield (
            "for games that end sooner: stop other programs on this machine; they make bots late"
            " only with --clock wall"
        )
    if time.longest_jump_ms > LONG_JUMP_MS:
        yield (
            f"so that no bot is late through no fault of its own: give moves much more than"
            f" {time.longest_jump_ms:g} ms (--move-ms); this machine's hypervisor takes the"
            " processor away for that long, and the kernel counts it as the bot's time"
        )


def advice_on_bubblewrap(system: str) -> str:
    """How to get bubblewrap, or why it does not work."""
    if not system.startswith("Linux"):
        return "for a sandbox, run the arena on Linux: there is none for this system"
    if not shutil.which("bwrap"):
        return (
            "for the best sandbox: install bubblewrap (on Debian and Ubuntu: apt install"
            " bubblewrap)"
        )
    restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if restricted.exists() and restricted.read_text().strip() == "1":
        return (
            "bubblewrap is installed, but AppArmor blocks it: give /usr/bin/bwrap a profile that"
            " allows user namespaces"
        )
    return (
        "bubblewrap is installed, but does not work: it cannot in a container, or with user"
        " namespaces turned off"
    )


def report(found: Findings) -> Iterator[str]:
    """The findings as lines to read."""
    yield f"arena {found.arena}, Python {found.python}"
    yield (
        f"{found.system}, {found.cores} cores, as {'root' if found.is_root else 'a normal user'};"
        f" workers start by {found.start_method}"
    )
    yield f"\nsandbox for bots: {found.sandbox}"
    for tier, its in found.walls.items():
        yield _line(
            tier, its.meaning if its.works else f"does not work here: {its.reason}", good=its.works
        )
    if found.sandbox == "none":
        yield _line("none", MEANING["none"], good=False)
    yield f"\nrules core: {found.rules}" + (
        f", {printable(found.rules_reason)}" if found.rules_reason else ""
    )
    yield f"channel: {found.channel}" + (
        f", {printable(found.channel_reason)}" if found.channel_reason else ""
    )
    yield "\nlanguages for bots:"
    for name, programs in found.languages.items():
        yield _line(
            name,
            ", ".join(programs) or f"none of {', '.join(TOOLCHAINS[name])} on PATH",
            good=bool(programs),
        )
    limits = found.limits
    yield (
        f"\nlimits: {_count(limits.open_files)} open files, {_count(limits.processes)} processes;"
        f" {limits.free_mb:,} MB free for results"
    )
    kept = found.builds
    yield (
        f"\nbuilds kept for later runs: {kept.number}, {kept.mb:,} MB in {printable(kept.folder)}"
        + ("; delete that folder to empty it" if kept.number else "")
    )
    if not kept.is_used:
        yield (
            "  not used: there is no sandbox, or others may write to that folder; so bots are built"
            " again for each run"
        )
    if found.allow:
        yield "\nallowed beyond the sandbox by your own configuration:"
        yield from (f"  {printable(text)}" for text in found.allow)
    yield f"\nprocessor time: {found.time.meaning}"
    yield (
        f"  a program that only computes had to wait for up to {found.time.longest_stall_ms:g} ms"
        f" (measured for {WATCHED_S:g} s)"
    )
    yield (
        f"  and up to {found.time.longest_jump_ms:g} ms in which it stood still were counted as its"
        " own time"
    )
    if found.advice:
        yield "\nto get more:"
        yield from (f"  {sentence}" for sentence in found.advice)


def _line(name: str, text: str, *, good: bool) -> str:
    return f"  {click.style('ok', fg='green') if good else '--'}  {name:<10}  {printable(text)}"


def _count(limit: int | None) -> str:
    return "any number of" if limit is None else f"{limit:,}"
