"""How often a run is read whose page somebody reads."""

import asyncio
from itertools import pairwise
from types import SimpleNamespace

from arena.web import live
from arena.web.live import PAUSES, Live, Sight

SECONDS = 3.0
"""The CPU time that a reading takes."""


def test_a_run_that_takes_long_to_read_is_read_seldom_also_before_a_game_can_be_shown(
    tmp_path, monkeypatch
):
    reads = []
    now = [0.0]

    class Worker:
        async def ask(self, *_):
            reads.append(now[0])
            return Sight(
                {"board": "empty"},
                title="run: playing",
                is_over=False,
                leader=("", ""),
                seconds=SECONDS,
            )

    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(live, "state_of", lambda _: tuple(now))
    run = Live(Worker()).watched(tmp_path)
    for second in range(200):
        now[0] = float(second)
        asyncio.run(run.look())
    first, *rest = (later - earlier for earlier, later in pairwise(reads))
    assert first <= 3, "the first reading also loads pandas"
    assert rest == [PAUSES * SECONDS] * 3


def test_before_the_first_reading_nothing_says_whether_the_run_is_played(tmp_path):
    assert Live(None).watched(tmp_path).title == ""
