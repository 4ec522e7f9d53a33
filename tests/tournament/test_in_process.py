"""Runs of built-in bots: what a session of one leaves on disk, how it goes on, and that its games
hang on its seed alone.
"""

import logging

import msgspec
import pytest

from arena.errors import ConfigError
from arena.players.player import built_in_bot
from arena.players.sandbox.tiers import OPEN
from arena.records.runfile import write_run
from arena.rules.boards import built_in
from arena.tournament import session as sessions
from arena.tournament.runs import make_request
from arena.tournament.session import open_session
from arena.tournament.workers import Setup, Worker

BOARDS = {name: built_in(name) for name in ("bird", "lion")}


def play(folder, bots, **settings):
    """Plays what is missing of a run, in this process; returns the records of this session and the
    run's info.
    """
    options = {"deals": 2, "in_process": True, **settings}
    request = make_request(options, BOARDS, [built_in_bot(bot) for bot in bots])
    with open_session(folder, request, Setup(OPEN, logging.WARNING)) as session:
        worker = Worker(session.setup)
        outcomes = [worker.play(plan) for plan in session.run.schedule.missing(session.journal.ids)]
        session.journal.append([outcome.record for outcome in outcomes])
    assert not any(outcome.evidence for outcome in outcomes)
    return [outcome.record for outcome in outcomes], session.run.info


def timeless(records):
    return [
        msgspec.structs.replace(record, think_ms=[], slowest_ms=[], ended="") for record in records
    ]


@pytest.mark.parametrize("players", [2, 3])
def test_the_same_seed_gives_the_same_games_and_another_seed_others(tmp_path, players):
    bots = ("random", "greedy-2", "careful-2")
    one, info = play(tmp_path / "one", bots, seed="s", players=players)
    assert len(one) == {2: 24, 3: 12}[players]
    assert {(record.sandbox, record.end != "forfeit", record.faults == []) for record in one} == {
        ("none", True, True)
    }
    assert timeless(play(tmp_path / "again", bots, seed="s", players=players)[0]) == timeless(one)
    assert timeless(play(tmp_path / "other", bots, seed="t", players=players)[0]) != timeless(one)
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        "games.jsonl",
        "made-here",
        "run.json",
    ]
    assert [bot.command for bot in info.bots] == [["arena", "in-process", name] for name in bots]
    assert (info.sandbox, info.config.in_process) == ("none", True)


def test_more_deals_and_further_bots_extend_a_run(tmp_path):
    first, _ = play(tmp_path / "run", ("random", "greedy-2"), seed="s")
    assert play(tmp_path / "run", ("random", "greedy-2"))[0] == []
    more, info = play(tmp_path / "run", ("random", "greedy-2", "careful-1"), deals=3)
    assert len({record.id for record in first + more}) == len(first + more) == 36
    assert [bot.name for bot in info.bots] == ["random", "greedy-2", "careful-1"]


def test_a_bot_that_plays_otherwise_now_does_not_go_on(tmp_path, monkeypatch, refused):
    play(tmp_path / "run", ("random", "greedy-2"))
    monkeypatch.setattr("arena.players.player.PLAYS", 2)
    with refused(ConfigError):
        play(tmp_path / "run", ("random", "greedy-2"))


def test_ctrl_c_right_after_run_json_was_written_leaves_a_run_that_goes_on_without_adopt(
    tmp_path, monkeypatch
):
    def write_and_interrupt(folder, info):
        write_run(folder, info)
        raise KeyboardInterrupt

    monkeypatch.setattr(sessions, "write_run", write_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "run", ("random", "greedy-2"), seed="s")
    monkeypatch.undo()
    rest, info = play(tmp_path / "run", ("random", "greedy-2"))
    assert (len(rest), info.seed) == (8, "s")


def test_ctrl_c_before_run_json_is_written_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(folder, info):
        raise KeyboardInterrupt

    monkeypatch.setattr(sessions, "write_run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "run", ("random", "greedy-2"))
    assert list(tmp_path.iterdir()) == []
