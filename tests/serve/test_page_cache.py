"""Pages that take long: made once, kept, and never in the way of the others."""

import asyncio
from contextlib import closing

import pytest
from starlette.exceptions import HTTPException

from arena.errors import RunError
from arena.web.page_cache import MAX_WAITING, PageCache
from arena.web.page_worker import PageWorker
from tests.exports.runs import duels, write_run
from tests.serve.serving import Served
from tests.support.waiting import wait_for


class Slow:
    """Stands for a page worker; ``asked`` counts its calls."""

    def __init__(self):
        self.asked, self.may_end = 0, asyncio.Event()

    async def ask(self, work, *given):
        assert work == "made"
        self.asked += 1
        await self.may_end.wait()
        return made(*given)


def made(folder, word):
    if word == "wrong":
        raise RunError(word)
    return f"{folder} {word}"


def test_a_page_is_made_once_until_the_run_changes(tmp_path):
    async def ask():
        page_worker = Slow()
        page_cache = PageCache(page_worker)
        both = asyncio.gather(*(page_cache.page("made", tmp_path, "a") for _ in range(2)))
        page_worker.may_end.set()
        assert await both == [f"{tmp_path} a"] * 2
        await page_cache.page("made", tmp_path, "a")
        assert page_worker.asked == 1
        (tmp_path / "review.jsonl").write_text("new")
        await page_cache.page("made", tmp_path, "a")
        assert page_worker.asked == 2
        for _ in range(2):
            with pytest.raises(RunError):
                await page_cache.page("made", tmp_path, "wrong")
        assert page_worker.asked == 4, "what failed is tried again"

    asyncio.run(ask())


def test_only_so_many_wait(tmp_path):
    async def ask():
        page_worker = Slow()
        page_cache = PageCache(page_worker)
        waiting = [
            asyncio.ensure_future(page_cache.page("made", tmp_path, str(number)))
            for number in range(MAX_WAITING)
        ]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException):
            await page_cache.page("made", tmp_path, "b")
        page_worker.may_end.set()
        await asyncio.gather(*waiting)
        assert await page_cache.page("made", tmp_path, "b")

    asyncio.run(ask())


def test_a_page_worker_that_was_ended_makes_no_more_pages():
    page_worker = PageWorker()
    page_worker.end()
    with pytest.raises(RunError):
        asyncio.run(page_worker.ask("nothing"))


def test_readers_who_are_gone_take_no_page_from_the_others(tmp_path, snapshot):
    write_run(tmp_path / "results" / "run", "ab", duels("ab", 1), deals=1)
    with closing(Served(tmp_path)) as server:
        host = f"Host: 127.0.0.1:{server.port}\r\n"
        for _ in range(250):
            with server.raw() as connection:
                connection.sendall(f"GET /runs/run/report HTTP/1.1\r\n{host}\r\n".encode())
        wait_for(lambda: server.ask("/rules")[0] == 200, "a page of the rules", seconds=60)
        assert server.ask("/runs/run/events")[0] == 200
        assert server.ask("/runs/run/report")[0] in (200, 503)
        status, said = server.stop()
        assert status == 0
        assert said == snapshot


class Drawing:
    """Stands for a page worker; ``asked`` has the keys that it was asked for."""

    def __init__(self):
        self.asked = []
        self.may_answer = asyncio.Event()

    async def ask(self, *key):
        self.asked.append(key)
        await self.may_answer.wait()
        return "-".join(map(str, key))


def test_readers_of_one_picture_wait_for_one_drawing_and_later_ones_for_none():
    async def read():
        worker = Drawing()
        cache = PageCache(worker, 2)
        readers = [asyncio.ensure_future(cache.lasting("picture", "close", 3)) for _ in range(9)]
        await asyncio.sleep(0)
        worker.may_answer.set()
        assert await asyncio.gather(*readers) == ["picture-close-3"] * 9
        assert await cache.lasting("picture", "close", 3) == "picture-close-3"
        for turn in range(5):
            await cache.lasting("picture", "other", turn)
        await cache.lasting("picture", "other", 4)
        return worker.asked

    asked = asyncio.run(read())
    assert asked == [("picture", "close", 3), *(("picture", "other", turn) for turn in range(5))]
