"""What people wait for: processor time and memory of whole commands, on runs of 20 games and of
many bots, and what `waits` measures.
"""

import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from arena.records.record import GameRecord
from tests.bench import waits
from tests.bench.figures import Figure
from tests.bench.version import Version
from tests.exports.runs import game_of, write_run

ROUNDS = 5
MANY = (100, 300)
QUICK_MANY = (6, 8)
DEALS = 10
RUN_BOTS = ("greedy-python", "random-python")
THIS = "this"
OTHER = "other"
RUNS = 1000
FEW_RUNS = 10
QUICK_RUNS = 3
POOL = 40
"""How many different games the runs are made of."""
MEASURED = """
import resource, subprocess, sys, time
began = time.perf_counter()
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall_s = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss / 1024)
"""
"""Runs a command and prints its status and what it used. It is a process of its own, because Linux
counts the memory of a process that starts another as the other's, and a bench with many games is
large.
"""


class Used(NamedTuple):
    """What a process used: processor and wall time in seconds, and its peak memory in MB."""

    seconds: float
    wall_s: float
    peak_mb: float


Measured = Mapping[str, float]
"""A figure of each version, by the version's name; ``this`` is the version that measures."""


def measure(*, quick: bool = False, against: Path | None = None) -> Iterator[Figure]:
    """Processor time, peak memory and the size of reports of this version, each in turn with a
    reference, and with the version in the checkout ``against`` if that is given.
    """
    versions = {THIS: Version.this()}
    if against:
        versions[OTHER] = Version.at(against)
    few, many = QUICK_MANY if quick else MANY
    runs = QUICK_RUNS if quick else RUNS
    found: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        home = Path(folder)
        write_run(home / "results" / "twenty", names(2), twenty_games(), deals=10)
        for count in (few, many):
            write_run(home / "results" / f"many-{count}", names(count), round_robin(count))
        for name, count in (("of-few", FEW_RUNS), ("of-runs", runs)):
            write_copies(home / "results" / "twenty", home / name / "results", count)
        (home / "alone" / "results").mkdir(parents=True)
        deals = 1 if quick else DEALS
        used = in_turn(commands_of(few, many, deals), home, 1 if quick else ROUNDS, versions)
        for key, of_version in used.items():
            found[f"{key}_s"] = {name: each.seconds for name, each in of_version.items()}
        for key in ("run_20", "check"):
            found[f"{key}_wall_s"] = {name: each.wall_s for name, each in used[key].items()}
        peaks = used["standings_many"].items()
        found["standings_many_mb"] = {name: each.peak_mb for name, each in peaks}
        for key in ("few", "many"):
            found[f"report_{key}_size"] = {
                name: (home / f"{key}-{name}.html").stat().st_size / 1e6 for name in versions
            }
        found |= waits.starts_and_looks(versions, quick=quick)
        for key, name in (("few", "of-few"), ("many", "of-runs")):
            found[f"home_{key}_s"] = waits.home_page_s(versions, home / name, quick=quick)
    for key, (name, unit, aim) in meanings_of(few, many, runs).items():
        if key in found:
            value = found[key][THIS]
            yield Figure(f"tables.{key}", name, value, unit, aim, found[key].get(OTHER))


def commands_of(few: int, many: int, deals: int) -> dict[str, list[str]]:
    """The arguments of Python for each command. ``{version}`` stands for the version's name."""
    return {
        "reference": ["-c", "import numpy, pandas"],
        "bots": ["-m", "arena", "bots"],
        "sdk": ["-c", "import arena.sdk"],
        # The runs of the other home have no standings.csv, so their games would be counted first.
        "run_20": ["-m", "arena", "--home", "alone", "run", *RUN_BOTS, f"--deals={deals}"],
        "check": ["-m", "arena", "check", "greedy-python"],
        "runs": ["-m", "arena", "--home", "of-runs", "runs"],
        "standings_20": ["-m", "arena", "standings", "twenty"],
        "pairs_few": ["-m", "arena", "standings", f"many-{few}", "--pairs"],
        "standings_many": ["-m", "arena", "standings", f"many-{many}"],
        "report_few": ["-m", "arena", "report", f"many-{few}", "--to", "few-{version}.html"],
        "report_many": ["-m", "arena", "report", f"many-{many}", "--to", "many-{version}.html"],
    }


def meanings_of(few: int, many: int, runs: int) -> dict[str, tuple[str, str, str]]:
    """For each figure what it is, its unit, and the aim."""
    return {
        "reference_s": ("importing numpy and pandas", "s", ""),
        "bots_s": ("arena bots", "s", "0.15"),
        "sdk_s": ("a bot that imports arena.sdk", "s", "0.025"),
        "run_20_s": ("arena run, 20 games of two Python bots", "s", "1.5"),
        "run_20_wall_s": ("the same by the wall clock", "s", "1.5"),
        "check_s": ("arena check greedy-python", "s", ""),
        "check_wall_s": ("the same by the wall clock", "s", "3"),
        "runs_s": (f"arena runs, {runs:,} runs", "s", "0.5"),
        "standings_20_s": ("arena standings, 20 games", "s", "0.4"),
        "pairs_few_s": (f"arena standings --pairs, {few} bots", "s", "2"),
        "standings_many_s": (f"arena standings, {many} bots", "s", ""),
        "standings_many_mb": (f"peak memory, {many} bots", "MB", "200"),
        "report_few_s": (f"arena report, {few} bots", "s", "3"),
        "report_many_s": (f"arena report, {many} bots", "s", "6"),
        "report_few_size": (f"report, {few} bots", "MB", "1.5"),
        "report_many_size": (f"report, {many} bots", "MB", ""),
        "start_c_s": ("until a bot in C in bubblewrap writes a line, wall", "s", "0.015"),
        "start_python_s": ("until a bot in Python writes a line, wall", "s", "0.038"),
        "look_percent": ("the keeper's look at an idle bot", "%", "0.1"),
        "home_few_s": (f"first page of arena serve, {FEW_RUNS} runs", "s", "0.002"),
        "home_many_s": (f"first page of arena serve, {runs:,} runs", "s", "0.002"),
    }


def names(count: int) -> list[str]:
    """The names of ``count`` bots."""
    return [f"bot-{number:03}" for number in range(count)]


@cache
def pool() -> Sequence[GameRecord]:
    """Games of two bots by random moves, none of which is shared."""
    games = [game_of(("one", "two"), deal=deal) for deal in range(POOL)]
    return [game for game in games if len(set(game.ranks)) == len(game.bots)]


def game_between(one: str, other: str, deal: int, seating: int, winner: int) -> GameRecord:
    """A game from the `pool` as if these two bots had played it; ``winner`` is the seat that wins.
    The bot ``one`` sits first if ``seating`` is 0.
    """
    found = [game for game in pool() if game.ranks[winner] == 1]
    game = found[(deal + seating + len(one + other)) % len(found)]
    bots = [one, other] if seating == 0 else [other, one]
    return replace(game, id=f"bird/{one}+{other}/{deal}/{seating}", seating=seating, bots=bots)


def twenty_games() -> Iterator[GameRecord]:
    """Two games on each of ten deals; the first bot wins seven of ten."""
    one, other = names(2)
    for deal in range(10):
        for seating in (0, 1):
            first_wins = (deal + 3 * seating) % 10 < 7
            game = game_between(one, other, deal, seating, seating if first_wins else 1 - seating)
            yield replace(game, deal=deal)


def round_robin(count: int) -> Iterator[GameRecord]:
    """Two games of each two of ``count`` bots, on twelve decks; a later name is a better bot."""
    rng = random.Random(count)
    for one, other in combinations(names(count), 2):
        ahead = (int(other[-3:]) - int(one[-3:])) / count
        for seating in (0, 1):
            one_wins = rng.random() < 1 / (1 + 10 ** (2 * ahead))
            yield game_between(one, other, 0, seating, seating if one_wins else 1 - seating)


def write_copies(run: Path, folder: Path, count: int) -> None:
    """Copies the run ``run`` into ``folder`` this many times."""
    for number in range(count):
        shutil.copytree(run, folder / f"run-{number:04}")


def in_turn(
    commands: Mapping[str, Sequence[str]], home: Path, rounds: int, versions: Mapping[str, Version]
) -> dict[str, dict[str, Used]]:
    """Runs each of the Python ``commands`` in the folder ``home`` once in each round with each
    version, in turn. Returns, by command and version, the medians of the times and the largest peak
    memory.
    """
    found: dict[str, dict[str, list[Used]]] = {
        key: {name: [] for name in versions} for key in commands
    }
    for _ in range(rounds):
        for key, command in commands.items():
            for name, version in versions.items():
                words = [word.format(version=name) for word in command]
                used = used_by([version.python, *words], home, version.environment)
                found[key][name].append(used)
    return {
        key: {name: _median(used) for name, used in of_version.items()}
        for key, of_version in found.items()
    }


def _median(used: Sequence[Used]) -> Used:
    return Used(
        seconds=median(each.seconds for each in used),
        wall_s=median(each.wall_s for each in used),
        peak_mb=max(each.peak_mb for each in used),
    )


def used_by(command: Sequence[str], home: Path, environment: Mapping[str, str]) -> Used:
    """Runs ``command`` in the folder ``home`` and returns what it used."""
    program = [sys.executable, "-c", MEASURED, *command]
    answer = subprocess.run(
        program, cwd=home, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    status, *used = map(float, answer.stdout.split())
    if status:
        raise subprocess.CalledProcessError(int(status), command)
    return Used(*used)
