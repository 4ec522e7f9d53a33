"""What holds of any results: names and order do not matter, and the table is the CSV is what the
games say.
"""

import csv
import io
import random
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.exports.files import csv_text, standings_object
from arena.ratings.columns import file_names
from arena.ratings.tables import make_tables
from tests.ratings.synthetic import counts_of, small_results, standings_text

BOTS = "abcde"


@given(small_results(), st.permutations(BOTS))
def test_other_names_change_no_figure(games, permuted):
    names = dict(zip(BOTS, permuted, strict=True))
    one = make_tables(counts_of(games)).standings
    other = make_tables(
        counts_of(
            [(deal, [names[bot] for bot in seated], shares) for deal, seated, shares in games]
        )
    ).standings
    one = one.assign(bot=one["bot"].map(names)).set_index("bot").sort_index()
    other = other.set_index("bot").sort_index()
    figures = [
        "elo",
        "elo_low",
        "elo_high",
        "games",
        "wins",
        "shared",
        "losses",
        "win_rate",
        "avg_rank",
        "rank_low",
        "rank_high",
    ]
    for column in figures:
        theirs = pytest.approx(other[column].tolist(), rel=1e-6, abs=1e-5, nan_ok=True)
        assert one[column].tolist() == theirs
    assert one["mark"].tolist() == other["mark"].tolist()


@given(small_results())
def test_the_table_is_the_csv_is_the_json_is_what_the_games_say(games):
    tables = make_tables(counts_of(games))
    rows = list(csv.DictReader(io.StringIO(csv_text(tables.standings, file_names("standings")))))
    objects = standings_object(tables, pairs=True)["standings"]
    lines = standings_text(tables).splitlines()[1:]
    assert (
        [row["bot"] for row in rows]
        == [entry["bot"] for entry in objects]
        == [line.split()[2] for line in lines[: len(rows)]]
    )
    for row, entry in zip(rows, objects, strict=True):
        shares = [
            share
            for _, seated, got in games
            for bot, share in zip(seated, got, strict=True)
            if bot == row["bot"]
        ]
        assert int(row["games"]) == len(shares) == entry["games"]
        assert int(row["wins"]) == shares.count(1) == entry["wins"]
        assert int(row["shared"]) == sum(0 < share < 1 for share in shares) == entry["shared"]
        assert int(row["losses"]) == shares.count(0) == entry["losses"]
        assert float(row["win_rate"]) == pytest.approx(np.mean(shares), abs=5.1e-5)
        assert entry["bound"] == (row["mark"] in ("<", ">"))
        assert (row["elo"] == "" or entry["bound"]) == (entry["elo"] is None)
        if entry["elo"] is not None:
            assert float(row["elo"]) == entry["elo"]
    counted = Counter()
    for _, seated, shares in games:
        ranks = [1 + sum(other > share for other in shares) for share in shares]
        for one, rank in zip(seated, ranks, strict=True):
            for other, its in zip(seated, ranks, strict=True):
                if one != other:
                    counted[one, other, "games"] += 1
                    counted[
                        one, other, "wins" if rank < its else "losses" if rank > its else "shared"
                    ] += 1
    rows = list(csv.DictReader(io.StringIO(csv_text(tables.pairs, file_names("pairs")))))
    assert len(rows) == len({key[:2] for key in counted})
    for row in rows:
        for what in ("games", "wins", "shared", "losses"):
            assert int(row[what]) == counted[row["bot"], row["opponent"], what]


def test_a_large_table_in_another_order_is_the_same_to_the_last_digit():
    rng = random.Random(8)
    games = []
    for deal in range(300):
        for _ in range(3):
            seated = rng.sample(BOTS, rng.choice((2, 3, 4)))
            winners = rng.sample(range(len(seated)), rng.choice((1, 1, 2)))
            games.append(
                (
                    deal,
                    seated,
                    [1 / len(winners) if seat in winners else 0 for seat in range(len(seated))],
                )
            )
    one = make_tables(counts_of(games))
    for _ in range(3):
        rng.shuffle(games)
        other = make_tables(counts_of(games))
        pd.testing.assert_frame_equal(one.standings, other.standings, check_exact=True)
        pd.testing.assert_frame_equal(one.pairs, other.pairs, check_exact=True)
        assert one.covariance.equals(other.covariance)
