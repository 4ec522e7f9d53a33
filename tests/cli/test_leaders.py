"""The leaders of a run under its bar, and the bar itself, on a terminal that shrinks."""

import os
import time
from concurrent.futures import Future

import pytest
from tqdm import tqdm

from arena.cli.leaders import Leaders, erasing, redraw
from arena.exports.leaders import leading
from tests.exports.runs import duels, game_of, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    late = game_of(("ann", "bob"), deal=9, faults=[(1, 5, "late", "the answer came too late")])
    records = [*duels(["ann", "bob", "eve", "dan"], 6), late]
    return write_run(tmp_path_factory.mktemp("led") / "run", ["ann", "bob", "eve", "dan"], records)


def test_the_leaders_have_ratings_games_and_faults(run):
    found = leading(str(run), 3)
    assert found.seconds > 0
    ranks, bots, elo, errors, games, faults = ([*field.cells[1:]] for field in found.fields)
    assert len(bots) == 3
    assert ranks[0] == "1"
    assert set(bots) < {"ann", "bob", "eve", "dan"}
    assert all(error.startswith("+/- ") for error in errors)
    assert dict(zip(bots, games, strict=True)).get("ann", "37 games") == "37 games"
    assert [fault for fault in faults if fault] == ["1 fault"] * ("bob" in bots)
    assert elo


def test_a_run_without_games_has_leaders_without_ratings(tmp_path):
    found = leading(str(write_run(tmp_path / "run", ["ann", "bob"], [])), 3)
    assert [*found.fields[1].cells] == ["", "ann", "bob"]


@pytest.fixture
def written(monkeypatch, capfd):
    """What has been written to a terminal since it was asked last."""
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((80, 24)))
    return lambda: capfd.readouterr().err


class Told(Leaders):
    """Leaders that another process has found out already."""

    def __init__(self, run):
        super().__init__(run)
        self._next = 0

    def _ask(self):
        told = Future()
        told.set_result(leading(self._folder, 3))
        return told


def test_they_stand_below_the_bar_and_are_erased_at_the_end(run, written):
    leaders = Told(run)
    leaders.note()
    assert written() == ""
    leaders.note()
    assert written().count("games") == 3
    leaders.close()
    erased = written()
    assert erased
    assert "games" not in erased


def test_the_next_look_waits_much_longer_than_the_last_one_took(run, written):
    leaders = Told(run)
    leaders.note()
    leaders.note()
    assert leaders._next >= time.monotonic() + 2
    leaders.close()


def test_a_low_terminal_has_no_leaders(run, written, monkeypatch):
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((80, 9)))
    leaders = Told(run)
    leaders.note()
    leaders.note()
    assert "games" not in written()
    leaders.close()


def test_what_cannot_be_rated_is_left_alone(tmp_path, written):
    leaders = Told(tmp_path)
    failed = Future()
    failed.set_exception(OSError("no such run"))
    leaders._ask = lambda: failed
    leaders.note()
    leaders.note()
    leaders.note()
    assert written() == ""
    leaders.close()


@pytest.mark.parametrize(
    ("before", "now", "up"), [(80, 79, 1), (80, 40, 1), (80, 39, 2), (200, 20, 9)]
)
def test_a_bar_that_a_narrower_terminal_has_folded_is_erased_whole(before, now, up):
    assert erasing(before, now) == f"\x1b[{up}A\r\x1b[J"


def test_a_bar_is_drawn_anew_without_the_blanks_that_covered_a_wider_one(capfd):
    with tqdm(total=9, ncols=80) as bar:
        bar.refresh()
        bar.ncols = 30
        capfd.readouterr()
        redraw(bar)
        assert len(capfd.readouterr().err.strip("\r")) <= 30
