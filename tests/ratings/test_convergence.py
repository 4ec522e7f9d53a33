"""Ratings of the first deals are those that a run of only these deals would have."""

import pytest

from arena.ratings.history import checkpoints, convergence_table
from arena.ratings.tables import make_tables
from arena.ratings.tally import score_journal
from tests.exports.runs import duels, game_of, write_run


def counts_of(path, records):
    return score_journal(write_run(path, "abc", records) / "games.jsonl", ()).counted.counts("abc")


def test_each_point_is_the_rating_of_so_many_deals(tmp_path):
    records = [*duels("abc", 12), *duels("abc", 12, "lion")]
    table = convergence_table(counts_of(tmp_path / "all", records))
    assert table["deals"].max() == 24
    for count in (8, 24):
        first = [record for record in records if record.deal < count // 2]
        wanted = (
            make_tables(counts_of(tmp_path / str(count), first))
            .standings.set_index("bot")
            .sort_index()
        )
        got = table[table["deals"] == count].set_index("bot").sort_index()
        if count in set(table["deals"]):
            for column in ("elo", "elo_low", "elo_high"):
                assert got[column].tolist() == pytest.approx(wanted[column].tolist(), abs=1e-6)


def test_the_order_of_the_journal_changes_nothing(tmp_path):
    records = duels("abc", 9)
    one, other = (
        convergence_table(counts_of(tmp_path / name, order))
        for name, order in (("a", records), ("b", records[::-1]))
    )
    assert one.equals(other)


def test_too_few_deals_have_no_course(tmp_path):
    assert len(convergence_table(counts_of(tmp_path / "one", duels("abc", 1)))) == 0
    assert len(convergence_table(counts_of(tmp_path / "none", []))) == 0


def test_tables_of_several_sizes_settle_together(tmp_path):
    records = [*duels("abc", 6), *(game_of(("a", "b", "c"), deal=deal) for deal in range(6, 12))]
    table = convergence_table(counts_of(tmp_path / "mixed", records))
    assert set(table["bot"]) == set("abc")
    assert table["elo"].notna().all()


@pytest.mark.parametrize("deals", [0, 1, 2, 3, 10, 25, 1000, 10**6])
def test_there_are_few_checkpoints_and_the_last_is_the_end(deals):
    points = checkpoints(deals)
    assert len(points) <= 24
    assert points == sorted(set(points))
    assert (points[-1] if points else deals) == deals
