"""Makes pages of runs that take long to make, such as reports, once for all readers."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from arena.web.live import Fingerprint, state_of
from arena.web.page_worker import PageWorker

MAX_KEPT = 8
"""The most pages that are kept, not counting those that are being made."""
MAX_WAITING = 32
"""The most readers that may wait for a page. A reader who has closed the page counts until the page
is made, and uses one of the server's connections.
"""


class PageCache:
    """Makes pages of runs in the process of a page worker, and keeps them.

    A page is made once and sent to all its readers, until the files of the run change or newer
    pages need its place. At most ``most`` pages are kept, not counting those that are being made.
    """

    def __init__(self, page_worker: PageWorker, most: int = MAX_KEPT) -> None:
        self._page_worker = page_worker
        self._most = most
        self._kept = dict[tuple[object, ...], tuple[Fingerprint, asyncio.Task[Any]]]()
        self._waiting = 0

    async def page(self, work: str, folder: Path, *given: Any) -> Any:
        """The page or the picture of the run in ``folder`` that the function ``work`` of
        `arena.web.rendering` makes from ``folder`` and ``given``.

        Raises the ArenaErrors that the function raises, and HTTPException if too many readers wait.
        """
        with self._waiting_reader():
            state = await asyncio.to_thread(state_of, folder)
            return await asyncio.shield(self._made((work, str(folder), *given), state))

    async def lasting(self, work: str, *given: Any) -> Any:
        """What the function of `arena.web.rendering` called ``work`` makes from ``given`` alone, so
        that it stays true as long as the server runs. Raises what `page` raises.
        """
        with self._waiting_reader():
            return await asyncio.shield(self._made((work, *given), ()))

    @contextmanager
    def _waiting_reader(self) -> Iterator[None]:
        """A context manager during whose block a reader counts as waiting. Raises HTTPException if
        too many wait already.
        """
        if self._waiting >= MAX_WAITING:
            raise HTTPException(503, "too many pages are being made: come back in a minute")
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def _made(self, key: tuple[Any, ...], state: Fingerprint) -> asyncio.Task[Any]:
        """The task that makes the page of this key (a function's name and its arguments); ``state``
        is the present state of the run's files. It is the task of an earlier reader, unless that
        task failed, or has ended and the files have changed since it began.
        """
        before, making = self._kept.pop(key, ((), None))
        has_failed = making and making.done() and (making.cancelled() or making.exception())
        if making is None or has_failed or (making.done() and state != before):
            before = state
            making = asyncio.ensure_future(self._page_worker.ask(*key))
            # If all readers have gone, nobody takes the exception, and asyncio would log that.
            making.add_done_callback(lambda made: made.cancelled() or made.exception())
        self._kept[key] = before, making
        for old in list(self._kept)[: -self._most]:
            if self._kept[old][1].done():
                del self._kept[old]
        return making
