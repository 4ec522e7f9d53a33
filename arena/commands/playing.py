"""A run that is open for playing, without a word to anybody."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from arena.commands.bots import Tell
from arena.errors import printable
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.tournament.batches import Batches, batches_of
from arena.tournament.events import Event
from arena.tournament.logs import run_log
from arena.tournament.place import Place, Workers, workers_at
from arena.tournament.pool import Pool
from arena.tournament.request import Request
from arena.tournament.runner import Runner
from arena.tournament.session import Session, open_session


class Play(NamedTuple):
    """A session with what plays it."""

    session: Session
    pool: Pool
    runner: Runner

    def missing(self) -> Batches:
        """The games that are not in the journal, in batches for the pool."""
        session = self.session
        return batches_of(session.schedule, session.journal.ids, lambda: self.pool.places)


class OpenRun(NamedTuple):
    """A session, and the workers that wait for its games. ``queue`` takes what they log."""

    session: Session
    workers: Workers
    bots: Sequence[Bot]
    queue: Any

    def play(self, listen: Callable[[Event], None]) -> Play:
        """What plays the run; ``listen`` is told of every game."""
        session = self.session
        pool = self.workers.pool(session.setup, self.bots, self.queue, listen)
        return Play(session, pool, Runner(session.folder, session.journal, pool, listen))


@contextmanager
def open_run(
    folder: Path,
    request: Request,
    place: Place,
    sandbox: Sandbox,
    tell: Tell,
    *,
    log_level: int = logging.INFO,
    adopt: bool = False,
    opening: AbstractContextManager[None] | None = None,
) -> Iterator[OpenRun]:
    """Opens a run for playing; ``opening`` is entered while its session is opened. Whoever leaves
    it, by an exception too, ends its workers and bots. Raises UserError.
    """
    warn_of_memory(sandbox, request, tell)
    with ExitStack() as stack:
        workers = stack.enter_context(workers_at(place))
        means = workers.means(sandbox, log_level)
        with opening or nullcontext():
            session = stack.enter_context(open_session(folder, request, means, adopt=adopt))
        warn_unmarked(session, tell)
        queue = stack.enter_context(run_log(folder, log_level))
        yield OpenRun(session, workers, request.bots, queue)


def warn_of_memory(sandbox: Sandbox, request: Request, tell: Tell) -> None:
    """Says so when a bot could keep what it sees of a deal outside, until it plays that again."""
    dialling = [label for label, grants in sandbox.grants.items() if grants.network]
    if dialling and request.config.repeats_deals:
        tell(
            f"note: {printable(', '.join(dialling))} can keep on the network what a deal shows, and"
            " every deal is played again with seats changed; --seatings single gives each game its"
            " own deck"
        )


def warn_unmarked(session: Session, tell: Tell) -> None:
    """Warns of a run that will look like one from elsewhere."""
    if session.unmarked:
        tell(
            "warning: going on with this run will need --adopt, since no key of yours marks it:"
            f" {session.unmarked}"
        )
