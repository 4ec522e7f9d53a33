"""Which deals are played, as a user sees it."""

from collections import Counter

from tests.support.wording import lines_with


def test_with_single_seatings_every_game_has_a_deck_of_its_own(arena, snapshot):
    arena.add_bot("other", (arena.home / "bots" / "rnd" / "bot.py").read_text())
    command = ("run", "rnd", "fst", "other", "--deals", 4, "--seatings", "single", "--out", "r")
    _, err = arena(*command)
    assert "clustered by deal" not in err
    records = arena.records("r")
    assert len(records) == 12
    assert len({record["deck"] for record in records}) == 12
    firsts = Counter(record["bots"][0] for record in records)
    assert set(firsts.values()) == {4}
    assert arena("verify", "r")[0] == snapshot
    assert (
        arena("standings", "r", "--csv", "-")[0]
        == (arena.home / "results" / "r" / "standings.csv").read_text()
    )


def test_workers_that_have_nothing_to_do_are_explained(arena, snapshot):
    _, err = arena("run", "rnd", "fst", "--deals", 1, "--jobs", 2, "--out", "r", "-v")
    assert lines_with(err, "--seatings single") == snapshot
    _, err = arena("run", "rnd", "fst", "--deals", 4, "--jobs", 2, "--out", "more", "-v")
    assert "--seatings single" not in err
