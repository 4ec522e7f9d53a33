"""A run that is open for playing, without a word to anybody."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

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
    *,
    adopt: bool = False,
) -> Iterator[OpenRun]:
    """Opens a run for playing. Whoever leaves it, by an exception too, ends its workers and bots.
    Raises UserError.
    """
    with ExitStack() as stack:
        workers = stack.enter_context(workers_at(place))
        means = workers.means(sandbox, logging.INFO)
        session = stack.enter_context(open_session(folder, request, means, adopt=adopt))
        queue = stack.enter_context(run_log(folder, means.log_level))
        pool = workers.pool(session.setup, request.bots, queue, listen)
        yield OpenRun(session, pool, Runner(folder, session.journal, pool, listen))


def missing_games(session: Session, pool: Pool) -> Batches:
    """The games that are not in the journal, in batches for a pool."""
    return batches_of(session.schedule, session.journal.ids, lambda: pool.places)
