"""The starters while other programs hold both processors. Those that think play at 100 ms a move:
never late, and stronger than the plain one. Those of all languages play at 20 and 50 ms a move:
next to never late.

It takes minutes, so ``make slow`` plays it, 200 games of each starter that thinks and 20 of each
other one at each limit; ARENA_STARTER_GAMES chooses another number than 200.
"""

import csv
import os

import pytest

from tests.support.burners import all_cores, burners
from tests.support.kits import PLAIN, lack

GAMES = int(os.environ.get("ARENA_STARTER_GAMES", "0"))
THINKERS = {"first": [], "montecarlo": ["--template", "montecarlo"]}
"""The starters in other languages have the plain one's idea: `test_kits` shows that they play the
same moves.
"""
QUICK_GAMES = GAMES // 10
MAX_LATE = 0.05
"""The share of games that a starter may lose by a late answer, which docs/first-bot.md names: now
and then a machine books a stall of 10 ms as CPU time.
"""
LIMITS_MS = (20, 50)

pytestmark = [pytest.mark.skipif(not GAMES, reason="make slow plays it"), pytest.mark.alone]


@pytest.fixture
def busy_machine():
    """One program for each processor that computes all the time, beside a worker for each with its
    bots.
    """
    with burners(all_cores()):
        yield


@pytest.mark.timeout(60 + 10 * GAMES)
@pytest.mark.parametrize("thinker", THINKERS)
def test_a_starter_that_thinks_is_never_late_and_beats_the_plain_one_beyond_error(
    arena, busy_machine, thinker
):
    arena("new", "thinker", *THINKERS[thinker])
    arena("new", "plain", "--template", "plain")
    process = arena.start(
        "run",
        "./thinker",
        "./plain",
        "--deals",
        GAMES // 4,
        "--boards",
        "bird,lion",
        "--move-ms",
        100,
        "--out",
        "slow",
        "--quiet",
    )
    _, err = process.communicate()
    assert process.returncode == 0, err
    records = arena.records("slow")
    assert len(records) == GAMES // 4 * 4
    assert [record["faults"] for record in records if record["faults"]] == []
    arena("standings", "slow")
    rows = csv.DictReader((arena.home / "results" / "slow" / "pairs.csv").read_text().splitlines())
    [pair] = [row for row in rows if row["bot"] == "thinker"]
    slowest = [record["slowest_ms"][record["bots"].index("thinker")] for record in records]
    print(
        f"{thinker}: {pair['wins']} of {pair['games']} games won, {pair['elo_low']} to"
        f" {pair['elo_high']} Elo, slowest {max(slowest)} ms"
    )
    assert float(pair["elo_low"]) > 0


@pytest.mark.timeout(120 + 20 * QUICK_GAMES)
@pytest.mark.parametrize("move_ms", LIMITS_MS)
@pytest.mark.parametrize("language", PLAIN)
def test_a_starter_of_every_language_is_next_to_never_late_with_little_time(
    arena, busy_machine, language, move_ms
):
    if lack(language):
        pytest.skip(lack(language))
    arena("new", "starter", *PLAIN[language])
    process = arena.start(
        "run",
        "./starter",
        "random",
        "--deals",
        QUICK_GAMES // 2,
        "--boards",
        "bird",
        "--move-ms",
        move_ms,
        "--out",
        "quick",
        "--quiet",
    )
    _, err = process.communicate()
    assert process.returncode == 0, err
    records = arena.records("quick")
    assert len(records) == QUICK_GAMES // 2 * 2
    late = [record["faults"] for record in records if record["faults"]]
    slowest = [record["slowest_ms"][record["bots"].index("starter")] for record in records]
    print(
        f"{language} at {move_ms} ms: late in {len(late)} of {len(records)} games, slowest answer"
        f" in time {max(slowest)} ms"
    )
    assert len(late) <= MAX_LATE * len(records), late
