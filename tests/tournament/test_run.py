"""A run as an object: what follows from the files in its folder."""

import json
import os
from functools import cache

import pytest

from arena.errors import ConfigError, RunError
from arena.exports.written import write_standings
from arena.ratings.tables import run_tables
from arena.records.blocks import PlayedBlocks, count_blocks
from arena.records.journal import JOURNAL_FILE
from arena.records.runfile import RUN_FILE
from arena.records.voids import VoidGame, append_void
from arena.rules.boards import built_in
from arena.tournament.run import STANDINGS_FILE, PlayedCount, Run
from tests.exports.runs import duels, write_run

BOTS = "abc"


@cache
def every_game():
    """All games of three bots on three deals, played once."""
    return duels(BOTS, 3)


@pytest.fixture
def run(tmp_path):
    """A run of three bots on three deals, of which one game is still to be played."""
    return Run(write_run(tmp_path / "cup", BOTS, every_game()[:-1], deals=3))


def test_a_run_has_its_name_boards_and_settings(run):
    assert (run.name, run.journal.name) == ("cup", JOURNAL_FILE)
    assert run.boards["bird"].rows == built_in("bird").rows
    assert (run.config.bots, run.config.deals) == (list(BOTS), 3)
    assert run.schedule.games == run.schedule.planned == 3 * 3 * 2


def test_its_records_are_those_of_the_journal_and_one_is_found_by_its_id(run, refused):
    ids = [record.id for record in run.records()]
    assert len(ids) == 3 * 3 * 2 - 1
    assert run.record(ids[4]).id == ids[4]
    with refused(RunError):
        run.record("x")


def test_it_knows_how_many_games_of_its_plan_were_played(run):
    assert run.progress() == PlayedCount(played=17, planned=18)
    (run.folder / JOURNAL_FILE).unlink()
    assert run.progress() == PlayedCount(played=0, planned=18)


def test_its_blocks_have_the_games_of_each_deal_and_are_counted_once(run):
    counted = {block.place: (list(block.deals), list(block.games)) for block in run.blocks()}
    assert list(counted) == ["bird/a+b", "bird/a+c", "bird/b+c"]
    assert counted["bird/a+b"] == ([0, 1, 2], [2, 2, 2])
    assert min(games for _, games in counted.values()) == [2, 2, 1]
    assert run.blocks() is run.blocks()


def test_a_game_that_stands_twice_in_a_journal_counts_once(run):
    before = [(block.place, list(block.games)) for block in count_blocks(run.journal)]
    journal = run.journal.read_bytes()
    run.journal.write_bytes(journal + journal.splitlines(keepends=True)[0])
    assert [(block.place, list(block.games)) for block in count_blocks(run.journal)] == before


def test_a_deal_is_secret_until_its_last_game_is_played(run):
    [open_deal] = {record.deal for record in run.records() if run.secrecy().is_open_game(record)}
    played = [block.games[list(block.deals).index(open_deal)] for block in run.blocks()]
    assert sorted(played) == [1, 2, 2]
    assert run.secrecy().missing == 1
    assert run.secrecy() is run.secrecy()


def test_who_has_counted_the_blocks_passes_them(run):
    every = [PlayedBlocks(place, range(3), [2, 2, 2]) for place in ("bird/a+b", "bird/a+c")]
    assert run.secrecy(every).missing == 6
    assert run.secrecy([*every, PlayedBlocks("bird/b+c", range(3), [2, 2, 2])]).is_finished


def test_of_a_run_from_another_version_everything_is_secret(run, refused):
    path = run.folder / RUN_FILE
    info = json.loads(path.read_text())
    path.write_text(json.dumps({**info, "config": {**info["config"], "later": 1}}))
    other = Run(run.folder)
    assert other.known_schedule is None
    assert all(other.secrecy().is_open_game(record) for record in other.records())
    for asked in (lambda: other.config, lambda: other.schedule, other.progress):
        with refused(ConfigError):
            asked()


def test_its_voids_are_those_in_the_file(run):
    assert run.voids() == []
    record = next(run.records())
    void = VoidGame(
        v=1,
        id=record.id,
        board=record.board,
        deal=record.deal,
        seating=record.seating,
        bots=record.bots,
        deck=record.deck,
        reason="the machine stalled",
        attempt=1,
        ended="2026-01-01T00:00:00Z",
    )
    append_void(run.folder, void)
    assert run.voids() == [void]


def test_a_folder_without_a_run_is_none(tmp_path, refused):
    with refused(RunError):
        Run(tmp_path)


def rated(run):
    """The run, with the standings of all its games, written a second after its last game."""
    write_standings(run, run_tables(run.folder, run.info))
    os.utime(run.journal, (1, 1))
    os.utime(run.folder / STANDINGS_FILE, (2, 2))
    return run


@pytest.fixture
def finished(tmp_path):
    """A finished run with standings."""
    return rated(Run(write_run(tmp_path / "whole", BOTS, every_game(), deals=3)))


def without_counting(run):
    """Whether the run is finished; None if that was not known before the journal was read."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Run, "progress", lambda _: pytest.fail("counted"))
        try:
            return run.is_finished()
        except pytest.fail.Exception:
            return None


def test_standings_of_the_whole_plan_save_the_counting(finished):
    assert without_counting(finished) is True


def test_an_unfinished_run_is_counted_and_not_finished(run):
    assert without_counting(rated(run)) is None
    assert not run.is_finished()


def test_a_run_that_was_given_more_deals_is_not_finished(finished):
    path = finished.folder / RUN_FILE
    info = json.loads(path.read_text())
    info["config"]["deals"] = 4
    path.write_text(json.dumps(info))
    grown = Run(finished.folder)
    assert without_counting(grown) is None
    assert not grown.is_finished()


@pytest.mark.parametrize("written_s", [0, 1])
def test_standings_that_may_be_older_than_the_journal_do_not_count(finished, written_s):
    lines = finished.journal.read_bytes().splitlines(keepends=True)
    finished.journal.write_bytes(b"".join(lines[:-1]))
    os.utime(finished.journal, (1, 1))
    os.utime(finished.folder / STANDINGS_FILE, (written_s, written_s))
    assert without_counting(finished) is None
    assert not finished.is_finished()


@pytest.mark.parametrize("text", [None, "", "bot\na\n", "bot,games\na,x\n", "games,bot\n,a\n"])
def test_a_finished_run_without_usable_standings_is_counted(finished, text):
    path = finished.folder / STANDINGS_FILE
    path.unlink()
    if text is not None:
        path.write_text(text)
    assert without_counting(finished) is None
    assert finished.is_finished()


def test_standings_of_no_games_do_not_finish_a_run(tmp_path):
    run = Run(write_run(tmp_path / "none", BOTS, [], deals=3))
    (run.folder / STANDINGS_FILE).write_text("rank,bot,games\n1,a,0\n1,b,0\n1,c,0\n")
    os.utime(run.journal, (1, 1))
    assert without_counting(run) is None
    assert not run.is_finished()


def test_a_run_without_a_journal_is_not_finished(finished):
    finished.journal.unlink()
    assert without_counting(finished) is None
    assert not finished.is_finished()


def test_standings_of_matches_count_all_their_rounds(tmp_path):
    boards = ("bird", "lion")
    records = [*duels("ab", 2), *duels("ab", 2, "lion")]
    whole = write_run(tmp_path / "two", "ab", records, deals=2, boards=boards, match=boards)
    assert without_counting(rated(Run(whole))) is True
    part = write_run(tmp_path / "part", "ab", records[:-1], deals=2, boards=boards, match=boards)
    assert without_counting(rated(Run(part))) is None
    assert not Run(part).is_finished()


def test_a_run_whose_answer_cuts_its_deals_is_counted(finished):
    path = finished.folder / RUN_FILE
    info = json.loads(path.read_text())
    info["config"]["settled"] = 3
    path.write_text(json.dumps(info))
    assert without_counting(Run(finished.folder)) is None
