"""Whether the arena's memory stays flat: ten thousand real games between parrots, with one worker
and a journal, as in a run.
"""

import multiprocessing
import os
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from arena.match.referee import GamePlan
from arena.players.sandbox.tiers import OPEN
from arena.records.journal import Journal
from arena.rules.boards import built_in
from arena.tournament.batch_queue import BatchQueue
from arena.tournament.events import GamePlayed, RunnerEvent
from arena.tournament.next_games import Games
from arena.tournament.runner import Runner
from arena.tournament.workers import LocalPool, Setup, worker_cores
from tests.bench.figures import Figure, in_own_process
from tests.bench.parrots import (
    BOARD,
    LABELS,
    PYTHON_PARROT,
    commands,
    compiled_parrot,
    parrot,
    rehearse,
)
from tests.bench.resident import resident_mb

MARKS = (1_000, 10_000)
QUICK_MARKS = (10, 40)
WARNING = 30
Readings = dict[int, tuple[float, float]]
"""The memory in MB of the main process and of the worker after a number of games."""


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """The memory in MB of the main process and of a worker after a thousand and after ten thousand
    games, and the growth.
    """
    marks = QUICK_MARKS if quick else MARKS
    readings = in_own_process(play_games, marks)
    for at, (key, name) in enumerate((("main", "main process"), ("worker", "worker"))):
        for mark in marks:
            yield Figure(
                f"memory.{key}.mb_after_{mark}",
                f"memory after {mark:,} games, {name}",
                readings[mark][at],
                "MB",
            )
        growth = readings[marks[-1]][at] - readings[marks[0]][at]
        yield Figure(
            f"memory.{key}.growth_mb", f"growth between these, {name}", growth, "MB", "flat"
        )


def play_games(marks: tuple[int, ...]) -> Readings:
    """Plays games up to the last mark, and reads the memory at each mark."""
    readings: Readings = {}
    played = 0

    def listen(event: RunnerEvent) -> None:
        nonlocal played
        played += isinstance(event, GamePlayed)
        if played in marks and played not in readings:
            (worker,) = multiprocessing.active_children()
            readings[played] = resident_mb(os.getpid()), resident_mb(worker.pid or 0)

    with tempfile.TemporaryDirectory(prefix="arena-bench-") as name, Journal(Path(name)) as journal:
        plan, setup = _prepare(Path(name))
        pool = LocalPool(setup, 1)
        plans = _plans(plan, marks[-1])

        def more(games: Games) -> BatchQueue | None:
            batch = list(islice(plans, games.capacity))
            return BatchQueue([batch], share=True) if batch else None

        Runner(Path(name), journal, pool, listen).play(Games(more))
    return readings


def _prepare(folder: Path) -> tuple[GamePlan, Setup]:
    plan, record = rehearse()
    program = compiled_parrot(folder) or PYTHON_PARROT
    bots = {
        LABELS[seat]: parrot(command, seat)
        for seat, command in enumerate(commands(program, record))
    }
    boards = {BOARD: built_in(BOARD).rows}
    return plan, Setup(OPEN, WARNING, worker_cores(1), bots=bots, boards=boards)


def _plans(plan: GamePlan, games: int) -> Iterator[GamePlan]:
    """The same game under other deal numbers, because a bot's process never meets a deal twice."""
    for deal in range(games):
        yield replace(plan, id=f"{BOARD}/{'+'.join(LABELS)}/{deal}/0", deal=deal)
