"""What is kept when something goes wrong while games are played."""

import os
from concurrent.futures import BrokenExecutor, Future
from types import SimpleNamespace

import pytest

from arena.cli.run import show_troubles
from arena.errors import RunError, Void
from arena.match.referee import Outcome, play_alone
from arena.players.player import Evidence, random_move
from arena.records.evidence import evidence_name
from arena.records.journal import Journal
from arena.records.record import Fault, decode_record
from arena.rules.boards import built_in
from arena.tournament.batch_queue import BatchQueue
from arena.tournament.batches import Batch
from arena.tournament.consistency import make_config
from arena.tournament.events import GamePlayed
from arena.tournament.next_games import Games, planned_games
from arena.tournament.runner import MAX_FRUITLESS, FirstGames, Runner
from arena.tournament.schedule import Schedule, single_game

FAULT = Evidence("a", 0, 0, 0.0, "exit", "", "", [], "", [])


class ScriptedPool:
    """The part that all pools of these tests share: they have no workers to stop or to replace."""

    def stop_beginning(self):
        pass

    def renew(self):
        pass

    def close(self, *, kill):
        pass


class Ended(ScriptedPool):
    """A pool whose games have ended as soon as they are handed out; the last one has a fault."""

    slots = 1

    def __init__(self, games):
        self._games = games
        self.handed_out = 0

    def look(self):
        pass

    def capacity(self):
        return self._games - self.handed_out

    def submit(self, plans, *, alone=False):
        self.handed_out += len(plans)
        is_last = self.handed_out == self._games
        evidence = [[FAULT] if is_last and plan is plans[-1] else [] for plan in plans]
        records = [SimpleNamespace(id=plan.id, bots=[], faults=[]) for plan in plans]
        future = Future()
        future.set_result(Batch([*map(Outcome, records, evidence)], 1.0, 1.0))
        return future


def test_games_are_kept_where_the_evidence_of_a_fault_cannot_be_written(tmp_path, refused):
    (tmp_path / "faults").symlink_to(tmp_path)
    kept = set()
    journal = SimpleNamespace(
        ids=kept, append=lambda records: kept.update(record.id for record in records)
    )
    schedule = Schedule(make_config({"bots": ["a", "b"], "seed": "s", "deals": 60}))
    pool = Ended(20)
    runner = Runner(tmp_path, journal, pool, lambda event: None)
    with refused(RunError):
        runner.play(Games(planned_games(schedule, kept, lambda: 1)))
    assert len(kept) == pool.handed_out == 20


def broken_after(*games):
    """Which bots turn out to be broken after games of two, each told by ``turns`` and its faults:
    the bot, the turn, the kind.
    """
    first, broken = FirstGames(), set()
    for turns, *told in games:
        bots = ["a", "b"]
        faults = [Fault(bots.index(bot), turn, kind, "") for bot, turn, kind in told]
        end = "forfeit" if faults else "no tiles"
        found = first.add(SimpleNamespace(bots=bots, faults=faults, turns=turns, end=end))
        broken |= {bots[fault.seat] for fault in found}
    return broken


CRASHED, GREETED_NOT = (1, ("a", 1, "exit")), (0, ("a", 0, "start-up"))


@pytest.mark.parametrize(
    ("games", "broken"),
    [
        ([CRASHED] * 5, set()),
        ([CRASHED] * 6, {"a"}),
        ([GREETED_NOT] * 6, {"a"}),
        ([(3, ("a", 3, "killed"))] * 6, {"a"}),
        ([(24, ("a", 24, "killed"))] * 6, {"a"}),  # always, if late
        ([*[(24, ("a", 24, "killed"))] * 5, (24, ("a", 24, "exit")), CRASHED], set()),
        ([(1, ("a", 1, "late"))] * 9, set()),
        ([*[CRASHED] * 3, *[GREETED_NOT] * 9], set()),
        ([(40,), *[CRASHED] * 9], set()),
        ([*[CRASHED] * 5, (40,), *[CRASHED] * 9], set()),
        # a game that the other one ended says nothing of a bot
        ([(0, ("b", 0, "exit")), *[CRASHED] * 6], {"a"}),
        ([(30, ("b", 30, "late")), *[CRASHED] * 6], {"a"}),
        ([CRASHED, (0, ("b", 0, "exit"))] * 6, {"a", "b"}),
    ],
)
def test_a_bot_is_broken_if_all_of_its_first_games_end_in_the_same_crash(games, broken):
    assert broken_after(*games) == broken


class OneByOne(ScriptedPool):
    """A pool that plays its batches one after another. The ``host`` of a record is the number of
    the game in the order in which they were played. Each game has the ``evidence``; a batch for
    which ``breaks`` is true ends with the death of its worker.
    """

    slots = 2
    as_one = False

    def __init__(self, evidence=(), breaks=lambda plans: False):
        self._evidence = list(evidence)
        self._breaks = breaks
        self._waiting = []
        self._played = 0
        self.ended = 0

    def look(self):
        if not self._waiting:
            return
        plans, future = self._waiting.pop(0)
        self.ended += 1
        if self._breaks(plans):
            future.set_exception(BrokenExecutor("its worker died"))
        else:
            future.set_result(Batch([self._outcome(plan) for plan in plans], 1.0, 1.0))

    def capacity(self):
        return self.slots - len(self._waiting)

    def submit(self, plans, *, alone=False):
        future = Future()
        self._waiting.append((plans, future))
        return future

    def _outcome(self, plan):
        self._played += 1
        record = play_alone(plan, built_in(plan.board), [random_move] * 2, str(self._played))
        return Outcome(record, self._evidence)


GAME = single_game("runner", "bird", 0, ["a", "b"])


def play_batches(folder, batches, listen, pool=None):
    """Plays these batches in this order, with a journal in the folder."""
    queues = iter([BatchQueue(batches, share=True)])
    with Journal(folder) as journal:
        runner = Runner(folder, journal, pool or OneByOne(), listen)
        runner.play(Games(lambda _: next(queues, None)))


@pytest.mark.parametrize("batches", [[[GAME], [GAME]], [[GAME, GAME]]])
def test_of_a_game_that_was_played_twice_the_first_record_is_written_and_announced(
    tmp_path, batches
):
    """Two workers play a game if the first one was thought lost."""
    played = []
    play_batches(tmp_path, batches, played.append)
    assert [event.outcome.record.host for event in played] == ["1"]
    lines = (tmp_path / "games.jsonl").read_bytes().splitlines()
    assert [decode_record(line).host for line in lines] == ["1"]


def test_a_game_is_announced_after_its_record_was_flushed_to_the_disk(tmp_path, monkeypatch):
    # What a disk would hold after a power cut cannot be read, so each flush is recorded.
    flushed = []
    flush = os.fdatasync

    def record_and_flush(descriptor):
        flushed.append((tmp_path / "games.jsonl").read_bytes())
        flush(descriptor)

    def listen(event):
        [text] = flushed
        assert decode_record(text) == event.outcome.record
        announced.append(event.outcome.record.id)

    announced = []
    monkeypatch.setattr(os, "fdatasync", record_and_flush)
    play_batches(tmp_path, [[GAME]], listen)
    assert announced == [GAME.id]


def test_the_evidence_of_a_fault_is_written_before_the_record_of_its_game(tmp_path, monkeypatch):
    evidence = tmp_path / evidence_name(GAME.id, FAULT.seat)
    was_there = []
    flush = os.fdatasync

    def look_and_flush(descriptor):
        was_there.append(evidence.exists())
        flush(descriptor)

    monkeypatch.setattr(os, "fdatasync", look_and_flush)
    play_batches(tmp_path, [[GAME]], lambda event: None, OneByOne([FAULT]))
    assert was_there == [True]


GAMES = [single_game("runner", "bird", deal, ["a", "b"]) for deal in range(MAX_FRUITLESS + 1)]


def test_a_run_ends_when_too_many_workers_in_a_row_have_died(tmp_path):
    pool = OneByOne(breaks=lambda plans: True)
    message = f"{MAX_FRUITLESS + 1} workers died in a row"
    with pytest.raises(Void, match=message):
        play_batches(tmp_path, [[game] for game in GAMES], lambda event: None, pool)
    assert pool.ended == MAX_FRUITLESS + 1


def test_workers_that_die_between_finished_games_do_not_end_a_run(tmp_path):
    tried, events = set(), []

    def breaks_once(plans):
        [plan] = plans
        is_first = plan.id not in tried
        tried.add(plan.id)
        return is_first

    pool = OneByOne(breaks=breaks_once)
    play_batches(tmp_path, [[game] for game in GAMES], events.append, pool)
    played = {event.outcome.record.id for event in events if isinstance(event, GamePlayed)}
    assert played == {game.id for game in GAMES}
    assert pool.ended == 2 * len(GAMES)


class TwoAtOnce(OneByOne):
    """A pool of two workers of a cluster, whose batches run beside each other. ``beside`` has the
    decks of those that ran at the same time.
    """

    def __init__(self, breaks):
        super().__init__(breaks=breaks)
        self.beside = []

    def look(self):
        self.beside.append([plans[0].deck for plans, _ in self._waiting])
        super().look()

    def submit(self, plans, *, alone=False):
        return super().submit(plans, alone=alone) if self.capacity() else None


def test_games_on_one_deal_are_not_played_beside_each_other_after_a_worker_died(tmp_path):
    """A bot that plays both could tell its copy on the other machine what it has seen."""
    plan = Schedule(make_config({"bots": ["a", "b"], "seed": "s", "deals": 4}))
    pool = TwoAtOnce(breaks=lambda plans: len(plans) > 1)
    with Journal(tmp_path) as journal:
        runner = Runner(tmp_path, journal, pool, lambda event: None)
        runner.play(Games(planned_games(plan, journal.ids, lambda: 2)))
        assert len(journal.ids) == plan.games
    assert any(len(decks) == 2 for decks in pool.beside)
    assert all(len(set(decks)) == len(decks) for decks in pool.beside)


class Failing(OneByOne):
    """A pool of a machine that can start no process."""

    def _outcome(self, plan):
        return Void("this machine could not start a process: an error", "allow more open files")


def test_a_game_that_is_given_up_has_the_reason_and_the_cure(tmp_path, capsys, snapshot):
    queues = iter([BatchQueue([[GAMES[0]], [GAMES[1]]], share=True)])
    with Journal(tmp_path) as journal:
        runner = Runner(tmp_path, journal, Failing(), lambda event: None)
        runner.play(Games(lambda _: next(queues, None)))
    assert {(void.game, void.reason, void.cure) for void in runner.voided} == snapshot
    show_troubles(runner, tmp_path)
    shown = capsys.readouterr().err
    assert shown.count("error: ") == 2
    assert shown.count("hint: allow more open files\n") == 1
