"""Which processes of bots a worker keeps for later games, and that what they know stays with them:
with real processes, whose states the kernel says.
"""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from arena.match.referee import Outcome
from arena.players.folder import bot_at
from arena.players.sandbox.tiers import OPEN
from arena.rules.boards import parse_board
from arena.tournament import kept
from arena.tournament.consistency import make_config
from arena.tournament.next_games import Games, planned_games
from arena.tournament.schedule import Schedule
from arena.tournament.workers import Setup, Worker, play_games
from tests.support.commandline import BARE, ROOT, TINY
from tests.support.processes import is_alive, states

BOARD = parse_board("tiny", TINY)
FOLDER = ROOT / "bots" / "random-python"


class Watched:
    """A worker whose processes are looked at whenever a game is about to begin.

    ``processes``  the ids of all processes of bots that have played
    ``rested``     for each game how many processes were stopped that know its deal
    """

    def __init__(self, sandbox=OPEN):
        bots = {name: bot_at(FOLDER, name=name, command=BARE) for name in ("a", "b", "c")}
        boards = {"tiny": BOARD.rows}
        self.worker = Worker(Setup(sandbox, 30, host="here", bots=bots, boards=boards))
        self.processes = []
        self.rested = []
        self._play = self.worker.play
        self.worker.play = self.play

    def play(self, plan):
        outcome = self._play(plan)
        seated = self.everybody()[-len(plan.bots) :]
        rested = [each for each in self.everybody() if each not in seated]
        assert [each.player.name for each in seated] == list(plan.bots)
        for each in rested:
            assert set(states(each.player.process)) == {"T"}
        self.rested.append(sum(plan.deck in each.decks for each in rested))
        for each in seated:
            process = each.player.process.processes()[0]
            if process not in self.processes:
                self.processes.append(process)
        return outcome

    def everybody(self):
        return self.worker.players._players

    def batch(self, plans, *, stops_after=1000):
        before = len(self.rested)
        results = play_games(
            self.worker, plans, lambda: len(self.rested) - before >= stops_after
        ).results
        assert [isinstance(each, Outcome) for each in results] == [
            number < stops_after for number in range(len(plans))
        ]
        assert not any(each.record.faults for each in results if each)


@pytest.fixture
def watched():
    made = []

    def make(sandbox=OPEN):
        made.append(Watched(sandbox))
        return made[-1]

    yield make
    for each in made:
        each.worker.stop()
        assert not any(map(is_alive, each.processes))


def batches(room, **settings):
    """The batches of a run of two bots, unless the settings name more."""
    config = make_config({"bots": ["a", "b"], "boards": ["tiny"], "seed": "s", **settings})
    source = Games(planned_games(Schedule(config), (), lambda: 1))
    while batch := source.issue(room):
        yield batch
        for plan in batch:
            source.ended(SimpleNamespace(id=plan.id))


def test_two_processes_of_each_bot_play_a_whole_run_and_rest_while_the_others_play_their_deals(
    watched,
):
    """The processes that play the second seatings know nothing of the first ones, which are stopped
    meanwhile.
    """
    worker = watched()
    for batch in batches(8, deals=8):
        worker.batch(batch)
        assert {state for each in worker.everybody() for state in states(each.player.process)} == {
            "T"
        }
    assert len(worker.rested) == 16
    assert sorted(worker.rested) == [0] * 8 + [2] * 8, "in the second seatings two know the deal"
    assert len(worker.processes) == 4


def test_no_process_plays_a_deal_twice_whatever_it_is_told(watched):
    worker = watched()
    [batch] = batches(2, deals=1)
    worker.batch(batch)
    worker.batch(batch)
    assert len(worker.processes) == 8


def test_processes_that_know_a_deal_which_others_play_too_end_with_the_batch(watched):
    worker = watched()
    for batch in batches(4, bots=["a", "b", "c"], deals=1):
        worker.batch(batch)
        assert worker.everybody() == []
    assert worker.rested == [0] * 6
    assert len(worker.processes) == 12


def test_processes_that_know_a_deal_of_which_games_are_left_end_with_the_batch(watched):
    worker = watched()
    [batch] = batches(4, deals=2)
    worker.batch(batch, stops_after=3)
    assert len(worker.processes) == 4
    assert len(worker.everybody()) == 2, "the first pair knows the deal of the game that is left"
    assert not any(batch[3].deck in each.decks for each in worker.everybody())


def test_strangers_processes_end_with_the_batch(watched):
    worker = watched(replace(OPEN, strangers=True))
    for batch in batches(2, deals=4, seatings="single"):
        assert all(plan.ends_deal for plan in batch)
        worker.batch(batch)
        assert worker.everybody() == []
    own = watched()
    for batch in batches(2, deals=4, seatings="single"):
        own.batch(batch)
    assert (len(worker.processes), len(own.processes)) == (4, 2)


@pytest.mark.parametrize(("most", "most_mb", "left"), [(2, 256, 2), (16, 0, 0)])
def test_few_processes_are_kept_and_none_with_much_memory(
    watched, monkeypatch, most, most_mb, left
):
    monkeypatch.setattr(kept, "MAX_IDLE", most)
    monkeypatch.setattr(kept, "MAX_IDLE_MB", most_mb)
    worker = watched()
    [batch] = batches(4, deals=2)
    worker.batch(batch)
    assert len(worker.everybody()) == left


def test_a_process_that_has_played_many_games_is_not_kept(watched, monkeypatch):
    monkeypatch.setattr(kept, "MAX_GAMES", 3)
    worker = watched()
    for batch in batches(2, deals=6, seatings="single"):
        worker.batch(batch)
    assert [len(each.decks) for each in worker.everybody()] == [2, 2]
    assert len(worker.processes) == 4


def test_a_process_that_ended_while_it_rested_is_replaced(watched):
    worker = watched()
    first, second = batches(2, deals=2)
    worker.batch(first)
    for each in worker.everybody():
        each.player.process.keeper.kill_bot()
        assert each.player.process.ending(wait_s=30)
    worker.batch(second)
    assert len(worker.processes) == 8


def test_the_processes_of_the_trial_before_a_run_play_its_first_game(watched):
    worker = watched()
    assert worker.worker.try_starts(["a", "b"]) == {}
    tried = [each.player.process.processes()[0] for each in worker.everybody()]
    assert [set(states(each.player.process)) for each in worker.everybody()] == [{"T"}] * 2
    for batch in batches(1, deals=1):
        worker.batch(batch)
    assert len(worker.processes) == 4
    assert set(tried) == set(worker.processes[:2])


def test_the_processes_of_the_trial_before_a_run_of_strangers_end_at_once(watched):
    worker = watched(replace(OPEN, strangers=True))
    assert worker.worker.try_starts(["a", "b"]) == {}
    assert worker.everybody() == []


def test_a_bot_that_fails_its_trial_is_named_and_the_others_are_kept(watched, snapshot):
    worker = watched()
    bots = worker.worker.setup.bots
    bots["b"] = replace(bots["b"], manifest=replace(bots["b"].manifest, command=["false"]))
    failures = worker.worker.try_starts(["a", "b", "c"])
    assert list(failures) == ["b"]
    assert failures["b"][0] == snapshot
    assert [each.player.name for each in worker.everybody()] == ["a", "c"]
