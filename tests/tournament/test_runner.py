"""What is kept when something goes wrong while games are played."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from arena.errors import RunError
from arena.match.referee import Outcome
from arena.players.player import Evidence
from arena.tournament.batches import batches_of
from arena.tournament.config import make_config
from arena.tournament.runner import Runner
from arena.tournament.schedule import Schedule
from arena.tournament.sources import AllGames
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
        records = [SimpleNamespace(id=plan.id) for plan in plans]
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
        runner.play(AllGames(batches_of(schedule, kept, lambda: 1)))
    assert len(kept) == pool.handed_out == 20
