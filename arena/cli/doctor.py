"""arena doctor: shows what works on this machine, and what to install for more. Its texts are in
doctor.txt.
"""

import contextlib
import importlib
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena import __version__
from arena.cli import DONE, FAILED
from arena.cli.options import as_json, tell_json
from arena.cli.sections import ExplainingCommand
from arena.cli.terminal import columns_of, folded
from arena.commands.home import results_folder
from arena.errors import printable
from arena.players.builds import MAX_BYTES, BuildCache, cache_folder
from arena.players.channel import CHANNEL
from arena.players.counter import kernel_counts
from arena.players.process import MAX_STDERR, MEMORY_MB
from arena.players.sandbox.readable import search_path
from arena.players.sandbox.tiers import TIERS, Sandbox, Tier, failure, sdk_failure, why_no_strangers
from arena.rules import CORE
from arena.tournament.crew import START_METHOD
from arena.tournament.settings import read_own_config
from arena.tournament.workers import available_cores

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
"""What each kind of sandbox means for bots."""
COUNTING = {
    "kernel": "the kernel counts everything that a bot starts, to the nanosecond",
    "proc": "the arena adds up what it sees in /proc, which is good enough for bots of your own",
    "nothing": "only Linux counts CPU time reliably, so time is measured by the wall clock",
}
"""What each way of counting CPU time means."""
WATCHED_S = 3.0
"""For how many seconds doctor measures how steadily a program runs."""
MAX_VALUES = {"stall_ms": 20, "jump_ms": 5, "paranoid": 2}
"""The largest values that doctor accepts without advice. With this kernel.perf_event_paranoid or
less, every user may count the CPU time of their own processes.
"""
MIN_VALUES = {"files": 1024, "processes": 2048, "free_mb": 1024}
"""The smallest values that doctor accepts without advice."""
GROUPS = Path("/sys/fs/cgroup")
"""Where Linux shows control groups, which limit the memory of a container."""
NO_BUBBLEWRAP = {
    "missing": "for the best sandbox: install bubblewrap (on Debian and Ubuntu: apt install"
    " bubblewrap)",
    "app_armor": "bubblewrap is installed, but AppArmor blocks it: give /usr/bin/bwrap a profile"
    " that allows user namespaces",
    "no_namespaces": "bubblewrap is installed, but does not work: it cannot in a container, or with"
    " user namespaces turned off",
    "other_system": "for a sandbox, run the arena on Linux: there is none for this system",
}
"""What to do if bubblewrap does not work, by the reason."""


@click.command(cls=ExplainingCommand)
@as_json
@click.pass_obj
def doctor(home: Path, /, *, as_json: bool) -> int:
    """Check what works on this machine. You see the sandbox, rules core, languages, limits and
    time, and what to install for more.

    The exit status is 1 if no sandbox works, or if a bot that imports arena.sdk does not start.

    \b
    arena doctor
    arena doctor --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    findings = examine(results_folder(home))
    if as_json:
        tell_json(findings)
    else:
        click.echo(folded(str(words().report(findings)), columns_of(sys.stdout), " " * 6))
    return FAILED if findings["sandbox"] == "none" or findings["sdk"] else DONE


def words() -> Any:
    """The texts of doctor.txt, a template, as a module of functions. Each takes the findings of
    `examine` and returns text.
    """
    # Imported here, because Jinja is slow to load.
    from jinja2 import Environment  # noqa: PLC0415

    made = Environment(autoescape=False)  # noqa: S701 - a text, not a page
    made.filters["printable"] = printable
    made.filters["number"] = lambda number: "any number of" if number is None else f"{number:,}"
    made.globals |= {
        "meaning": MEANING,
        "toolchains": TOOLCHAINS,
        "most": MAX_VALUES,
        "least": MIN_VALUES,
    }
    made.globals |= {"most_builds_mb": MAX_BYTES >> 20, "game_mb": 2 * MEMORY_MB}
    made.globals |= {"temporary": tempfile.gettempdir(), "game_temporary_mb": 2 * MAX_STDERR >> 20}
    made.globals |= {"ok": click.style("ok", fg="green"), "watched_s": WATCHED_S}
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    return made.from_string(text).module


def examine(results: Path) -> dict[str, Any]:
    """What doctor finds out about this machine, as ``--json`` prints it. ``results`` is the folder
    of runs. These are the keys that their names do not explain.

    ``walls``      the kinds of sandbox: whether each works, and if not, why
    ``sandbox``    the best kind that works, or ``none``
    ``strangers``  why this machine cannot isolate bots of strangers; empty if it can
    ``sdk``        why a bot that imports ``arena.sdk`` does not start; empty if it does
    ``languages``  the programs on the bots' PATH
    ``limits``     this user's limits, None for no limit
    ``builds``     the builds kept for later runs, which are not used if a bot could have written to
                   them
    ``time``       the result of `time_here`
    """
    walls: dict[Tier, dict[str, Any]] = {}
    for tier in TIERS:
        reason = failure(Sandbox(tier).launch)
        walls[tier] = {"works": not reason, "reason": reason, "meaning": MEANING[tier]}
    best: Tier = next((tier for tier in TIERS if walls[tier]["works"]), "none")
    system = os.uname()
    cache = BuildCache(cache_folder("builds"))
    builds, size = cache.size()
    findings = {
        "arena": __version__,
        "python": f"{sys.version.split()[0]} in {sys.prefix}",
        "system": f"{system.sysname} {system.release} {system.machine}",
        "is_root": os.getuid() == 0,
        "cores": available_cores(),
        "start_method": START_METHOD,
        "sandbox": best,
        "walls": walls,
        "strangers": why_no_strangers(),
        "sdk": sdk_failure(Sandbox(best).launch),
        "rules": CORE,
        "rules_reason": why_not_native("ARENA_RULES", "arena.rules.native", CORE),
        "channel": CHANNEL,
        "channel_reason": why_not_native("ARENA_CHANNEL", "arena.players.native", CHANNEL),
        "languages": {name: _paths_of(tools) for name, tools in TOOLCHAINS.items()},
        "limits": limits_for(results),
        "builds": {
            "folder": str(cache.folder),
            "number": builds,
            "mb": size >> 20,
            "is_used": best != "none" and cache.is_ours,
        },
        "allow": read_own_config().allow or [],
        "time": time_here(),
    }
    blocked = NO_BUBBLEWRAP[why_no_bubblewrap()]
    return {**findings, "advice": str(words().advice(findings, blocked)).splitlines()}


def _paths_of(tools: Iterable[str]) -> list[str]:
    """The paths of those ``tools`` that are on the bots' PATH."""
    path = search_path(os.environ)
    places = [shutil.which(tool, path=path) for tool in tools]
    return list(filter(None, places))


def time_here() -> dict[str, Any]:
    """How a bot's time is measured on this machine, and how steadily a program runs here. Takes
    `WATCHED_S` seconds.

    ``counts``             what counts CPU time: ``kernel``, ``proc`` or ``nothing``
    ``meaning``            a sentence about that
    ``paranoid``           the value of kernel.perf_event_paranoid
    ``longest_stall_ms``   the longest time that a computing program had to wait
    ``longest_jump_ms``    the most CPU time that was charged to it at once while it stood still
    """
    counts = "nothing" if sys.platform != "linux" else "kernel" if kernel_counts() else "proc"
    pauses = longest_pauses(WATCHED_S)
    return {
        "counts": counts,
        "meaning": COUNTING[counts],
        "paranoid": paranoia(),
        "longest_stall_ms": round(pauses.stall_ns / 1e6, 1),
        "longest_jump_ms": round(pauses.jump_ns / 1e6, 1),
    }


def why_not_native(variable: str, module: str, in_use: str) -> str:
    """A clause that says why the compiled module called ``module`` is not used, such as "because
    ARENA_RULES asks for it"; empty if it is used. ``in_use`` is the name of what is used, and
    ``variable`` the environment variable that chooses.
    """
    if in_use not in ("pure", "python"):
        return ""
    if os.environ.get(variable):
        return f"because {variable} asks for it"
    try:
        importlib.import_module(module)
    except ImportError as error:
        return f"because the native one is missing: {error}"
    return "because the native one was not requested"


def limits_for(results: Path) -> dict[str, int | None]:
    """The limits of this process for open files and for processes, None for no limit, and the
    memory and the free space for ``results`` and for temporary files in MiB, by name.
    """
    folders = (results.absolute(), *results.absolute().parents)
    place = next(folder for folder in folders if folder.is_dir())
    return {
        "open_files": _soft_limit(resource.RLIMIT_NOFILE),
        "processes": _soft_limit(resource.RLIMIT_NPROC),
        "memory_mb": memory_mb(GROUPS),
        "free_mb": shutil.disk_usage(place).free >> 20,
        "temporary_mb": shutil.disk_usage(tempfile.gettempdir()).free >> 20,
    }


def _soft_limit(kind: int) -> int | None:
    """This process's soft limit of the resource ``kind``, a constant such as
    `resource.RLIMIT_NOFILE`; None for no limit.
    """
    limit, _ = resource.getrlimit(kind)
    return None if limit == resource.RLIM_INFINITY else limit


def memory_mb(groups: Path) -> int:
    """The memory in MiB that all programs together may use here: that of the machine, or less if
    one of this process's control groups has less. ``groups`` is where the second version of control
    groups is mounted; the first version is not looked at.
    """
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    own = Path("/proc/self/cgroup")
    lines = own.read_text().splitlines() if own.exists() else []
    for line in lines:
        if line.startswith("0::/"):
            group = groups / line.removeprefix("0::/")
            for folder in (group, *group.parents):
                # the group of the whole machine has no such file, and "max" is no limit
                with contextlib.suppress(OSError, ValueError):
                    sizes.append(int((folder / "memory.max").read_text()))
    return min(sizes) >> 20


def why_no_bubblewrap() -> str:
    """The key in `NO_BUBBLEWRAP` of the likely reason why bubblewrap does not work on this machine.
    Nothing here tests whether it works.
    """
    if sys.platform != "linux":
        return "other_system"
    if not shutil.which("bwrap"):
        return "missing"
    restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    is_blocked = restricted.exists() and restricted.read_text().strip() == "1"
    return "app_armor" if is_blocked else "no_namespaces"


def paranoia() -> int | None:
    """The value of kernel.perf_event_paranoid on this machine, None if it has none. Above 2, only
    root may use counters.
    """
    try:
        return int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    except (OSError, ValueError):
        return None


class Pauses(NamedTuple):
    """The longest time that a computing program stood still, and the longest such time that it was
    charged for, in ns.
    """

    stall_ns: int
    jump_ns: int


def longest_pauses(seconds: float) -> Pauses:
    """Computes for ``seconds``, watches the wall clock and the CPU clock, and returns the longest
    jump of each.

    If only the wall clock jumps, another program ran. If the CPU clock jumps, a hypervisor held the
    virtual CPU: the kernel cannot tell, and charges the process that ran. Seen: 15 to 30 ms.
    """
    stall = jump = 0
    wall = time.monotonic_ns()
    used = time.process_time_ns()
    end = wall + int(seconds * 1_000_000_000)
    while wall < end:
        wall_now = time.monotonic_ns()
        used_now = time.process_time_ns()
        stall = max(stall, wall_now - wall)
        jump = max(jump, used_now - used)
        wall = wall_now
        used = used_now
    return Pauses(stall, jump)
