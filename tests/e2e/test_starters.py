"""The starters that think, at 100 ms a move while other programs hold both processors: never late,
and stronger than the plain one.

It takes minutes, so ``make slow`` plays it, 200 games each; ARENA_STARTER_GAMES chooses another
number.
"""

import csv
import os

import pytest

from tests.burners import all_cores, burners

GAMES = int(os.environ.get("ARENA_STARTER_GAMES", "0"))
THINKERS = {"first": [], "montecarlo": ["--template", "montecarlo"]}
"""The starters in other languages have the plain one's idea: `test_kits` shows that they play the
same moves.
"""

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
