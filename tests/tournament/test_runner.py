"""What is kept when something goes wrong while games are played."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from arena.errors import RunError
from arena.match.referee import Outcome
from arena.players.player import Evidence
from arena.records.record import Fault
from arena.tournament.config import make_config
from arena.tournament.runner import FirstGames, Runner
from arena.tournament.schedule import Schedule
from arena.tournament.sources import Games, lanes_of
from arena.tournament.workers import Batch

FAULT = Evidence("a", 0, 0, 0.0, "exit", "", "", [], "", [])


class Ended:
    """A pool whose games have ended as soon as they are handed out; the last one has a fault."""

    places = 1

    def __init__(self, games):
        self._games = games
        self.handed_out = 0

    def look(self):
        pass

    def room(self):
        return self._games - self.handed_out

    def submit(self, plans, *, alone=False):
        self.handed_out += len(plans)
        is_last = self.handed_out == self._games
        evidence = [[FAULT] if is_last and plan is plans[-1] else [] for plan in plans]
        records = [SimpleNamespace(id=plan.id, bots=[], faults=[]) for plan in plans]
        future = Future()
        future.set_result(Batch([*map(Outcome, records, evidence)], 1.0))
        return future

    def stop_beginning(self):
        pass

    def renew(self):
        pass

    def close(self, *, kill):
        pass


def test_games_are_kept_where_the_evidence_of_a_fault_cannot_be_written(tmp_path):
    (tmp_path / "faults").symlink_to(tmp_path)
    kept = set()
    journal = SimpleNamespace(
        ids=kept, append=lambda records: kept.update(record.id for record in records)
    )
    schedule = Schedule(make_config({"bots": ["a", "b"], "seed": "s", "deals": 60}))
    pool = Ended(20)
    runner = Runner(tmp_path, journal, pool, lambda event: None)
    with pytest.raises(RunError, match="got a link"):
        runner.play(Games(lanes_of(schedule, kept, lambda: 1)))
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
