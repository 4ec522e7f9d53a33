"""The log of a run: what it has when a session ends."""

import logging

from arena.tournament import log
from arena.tournament.crew import WORKERS
from arena.tournament.log import LOG, run_log

LOGGER = logging.getLogger("a.test")


def put_records(queue):
    for number in range(100):
        queue.put(logging.makeLogRecord({"msg": "record %d", "args": (number,), "levelno": 30}))


def test_all_records_are_in_the_log_when_the_session_ends(tmp_path):
    with run_log(tmp_path, logging.INFO) as queue:
        worker = WORKERS.Process(target=put_records, args=(queue,))
        worker.start()
        LOGGER.debug("too detailed")
        LOGGER.error("%s went wrong", "something", exc_info=ValueError("no such thing"))
        worker.join()
    text = (tmp_path / LOG).read_text()
    assert [f": record {number}\n" in text for number in range(100)] == [True] * 100
    assert "ERROR" in text
    assert ": something went wrong\nValueError: no such thing\n" in text
    assert "too detailed" not in text


def test_a_queue_that_a_killed_worker_blocks_does_not_keep_the_session_from_ending(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(log, "PATIENCE_S", 0.2)
    with run_log(tmp_path, logging.INFO) as queue:
        queue._wlock.acquire()  # a worker that is killed while it writes does not release it
        LOGGER.warning("lost")
    assert not [each for each in logging.getLogger().handlers if hasattr(each, "_writer")]
