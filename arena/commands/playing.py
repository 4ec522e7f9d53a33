"""A run that is open for playing, without a word to anybody."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from arena.commands.bots import Tell
from arena.errors import printable
from arena.players.sandbox.tiers import Sandbox
from arena.tournament.batches import Batches, batches_of
from arena.tournament.events import Event
from arena.tournament.logs import run_log
from arena.tournament.place import Place, workers_at
from arena.tournament.pool import Pool
from arena.tournament.request import Request
from arena.tournament.runner import Runner
from arena.tournament.session import Session, open_session


class OpenRun(NamedTuple):
    """A session, where its games are played, and what plays them."""

    session: Session
    pool: Pool
    runner: Runner

    def missing(self) -> Batches:
        """The games that are not in the journal."""
        return missing_games(self.session, self.pool)


@contextmanager
def open_run(
    folder: Path,
    request: Request,
    place: Place,
    sandbox: Sandbox,
    listen: Callable[[Event], None],
    tell: Tell,
    *,
    adopt: bool = False,
) -> Iterator[OpenRun]:
    """Opens a run for playing. Whoever leaves it, by an exception too, ends its workers and bots.
    Raises UserError.
    """
    warn_of_memory(sandbox, request, tell)
    with ExitStack() as stack:
        workers = stack.enter_context(workers_at(place))
        means = workers.means(sandbox, logging.INFO)
        session = stack.enter_context(open_session(folder, request, means, adopt=adopt))
        warn_unmarked(session, tell)
        queue = stack.enter_context(run_log(folder, means.log_level))
        pool = workers.pool(session.setup, request.bots, queue, listen)
        yield OpenRun(session, pool, Runner(folder, session.journal, pool, listen))


def missing_games(session: Session, pool: Pool) -> Batches:
    """The games that are not in the journal, in batches for a pool."""
    return batches_of(session.schedule, session.journal.ids, lambda: pool.places)


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
