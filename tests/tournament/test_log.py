"""The log of a run."""

import logging
import threading

import pytest

from arena.tournament.log import run_log


def test_an_interrupted_start_of_the_log_leaves_nothing_to_close_at_the_end(tmp_path, monkeypatch):
    """What ``logging.shutdown`` closes when the program ends must have been started as a whole."""
    (tmp_path / "logs").mkdir()
    start = threading.Thread.start
    closed_later = []

    def interrupt(thread):
        if thread.name == "log-writer":
            closed_later.extend(made() for made in logging._handlerList)
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupt)
    with pytest.raises(KeyboardInterrupt), run_log(tmp_path, logging.INFO):
        pass
    assert closed_later
    assert "RunLogHandler" not in {type(handler).__name__ for handler in closed_later}
