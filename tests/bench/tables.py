"""What people wait for at tables: processor time and memory of whole commands, on runs of 20 games
and of many bots.
"""

import os
import random
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
from tests.bench.figures import Figure
from tests.exports.runs import game_of, write_run

ROUNDS = 5
MANY = (100, 300)
QUICK_MANY = (6, 8)
POOL = 40
"""How many different games the runs are made of."""
KB = 1024


class Used(NamedTuple):
    """What a process used: processor time in seconds, and its peak memory in MB."""

    seconds: float
    peak_mb: float


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Processor time, peak memory and the size of reports, with a reference in turn."""
    few, many = QUICK_MANY if quick else MANY
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        home = Path(folder)
        write_run(home / "results" / "twenty", names(2), twenty_games(), deals=10)
        for count in (few, many):
            write_run(home / "results" / f"many-{count}", names(count), round_robin(count))
        commands = {
            "reference": ["-c", "import numpy, pandas"],
            "bots": ["-m", "arena", "bots"],
            "sdk": ["-c", "import arena.sdk"],
            "standings_20": ["-m", "arena", "standings", "twenty"],
            "pairs_few": ["-m", "arena", "standings", f"many-{few}", "--pairs"],
            "standings_many": ["-m", "arena", "standings", f"many-{many}"],
            "report_few": ["-m", "arena", "report", f"many-{few}", "--to", "few.html"],
            "report_many": ["-m", "arena", "report", f"many-{many}", "--to", "many.html"],
        }
        used = in_turn(commands, home, 1 if quick else ROUNDS)
        sizes = {key: (home / f"{key}.html").stat().st_size / 1e6 for key in ("few", "many")}
    meanings = {
        "reference": ("importing numpy and pandas", ""),
        "bots": ("arena bots", "0.15"),
        "sdk": ("a bot that imports arena.sdk", "0.025"),
        "standings_20": ("arena standings, 20 games", "0.4"),
        "pairs_few": (f"arena standings --pairs, {few} bots", "2"),
        "standings_many": (f"arena standings, {many} bots", ""),
        "report_few": (f"arena report, {few} bots", "3"),
        "report_many": (f"arena report, {many} bots", "6"),
    }
    for key, (name, aim) in meanings.items():
        yield Figure(f"tables.{key}_s", name, used[key].seconds, "s", aim)
    peak = used["standings_many"].peak_mb
    yield Figure("tables.standings_many_mb", f"peak memory, {many} bots", peak, "MB", "200")
    yield Figure("tables.report_few_size", f"report, {few} bots", sizes["few"], "MB", "1.5")
    yield Figure("tables.report_many_size", f"report, {many} bots", sizes["many"], "MB")


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


def in_turn(commands: Mapping[str, Sequence[str]], home: Path, rounds: int) -> dict[str, Used]:
    """Runs each of the Python ``commands`` in the folder ``home`` once in each round, in turn.
    Returns the median of the processor times and the largest peak memory of each.
    """
    found: dict[str, list[Used]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(used_by([sys.executable, *command], home))
    return {
        name: Used(median(each.seconds for each in used), max(each.peak_mb for each in used))
        for name, used in found.items()
    }


def used_by(command: Sequence[str], home: Path) -> Used:
    """Runs ``command`` in the folder ``home`` and returns what it used."""
    process = subprocess.Popen(
        command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / KB)
