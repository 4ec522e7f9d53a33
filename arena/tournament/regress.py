"""Asks another bot for every decision that a bot took in a run, on worker processes."""

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import NamedTuple

from arena.errors import Void
from arena.match.retrace import Decision, decisions_of, old_ms
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.records.record import GameRecord
from arena.tournament.crew import Crew, plain_crew, starting_workers
from arena.tournament.pool import AHEAD, worker_cores
from arena.tournament.scripts import Scripts
from arena.tournament.workers import Setup, retrace_game


class Compared(NamedTuple):
    """A game of the old bot, with its decisions asked of the new bot.

    ``decisions`` are those asked of the new bot; fewer than ``old_decisions`` if it committed a
    fault that ends its game. ``old_ms`` is the old bot's average time per decision. ``void`` says
    why the game could not be replayed.
    """

    game: str
    seat: int
    decisions: list[Decision]
    old_decisions: int
    old_ms: float
    void: str = ""


Waiting = deque[tuple[GameRecord, int, Future[list[Decision]]]]


def compare_decisions(
    scripts: Scripts, games: Iterable[tuple[GameRecord, int]], new: Bot, sandbox: Sandbox, jobs: int
) -> Iterator[Compared]:
    """These games with the seat of the old bot, in their order; the new bot must have been staged.

    Raises RunError, ConfigError, and Void if a worker dies.
    """
    rest = iter(games)
    waiting: Waiting = deque()
    pool = _pool(scripts, new, sandbox, jobs)
    try:
        while True:
            for record, seat in islice(rest, jobs * AHEAD - len(waiting)):
                with starting_workers():
                    waiting.append(
                        (
                            record,
                            seat,
                            pool.submit(retrace_game, scripts.of(record), seat, new.label),
                        )
                    )
            if not waiting:
                return
            yield _compared(*waiting[0])
            waiting.popleft()
    except BrokenProcessPool:
        raise Void(
            "expected all workers to finish, got one that died", "try again with fewer --jobs"
        ) from None
    finally:
        if waiting:
            pool.kill()
        pool.end()


def _pool(scripts: Scripts, new: Bot, sandbox: Sandbox, jobs: int) -> Crew:
    boards = {name: tuple(rows) for name, rows in scripts.info.boards.items()}
    setup = Setup(
        {new.label: new}, boards, scripts.timing, sandbox, worker_cores(jobs), logging.CRITICAL
    )
    return plain_crew(setup, jobs)


def _compared(record: GameRecord, seat: int, future: Future[list[Decision]]) -> Compared:
    asked, spent_ms = len(decisions_of(record, seat)), old_ms(record, seat)
    try:
        return Compared(record.id, seat, future.result(), asked, spent_ms)
    except Void as void:
        return Compared(record.id, seat, [], asked, spent_ms, str(void))
