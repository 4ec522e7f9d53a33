"""The log of a run."""

import logging
import threading

import pytest

from arena.tournament.log import RunLogHandler


def test_an_interrupted_start_of_the_log_leaves_nothing_to_close_at_the_end(monkeypatch):
    """What ``logging.shutdown`` closes when the program ends must have been started as a whole."""
    start = threading.Thread.start
    closed_later = []

    def interrupt(thread):
        if thread.name == "log-writer":
            closed_later.extend(made() for made in logging._handlerList)
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupt)
    with pytest.raises(KeyboardInterrupt):
        RunLogHandler("log-writer", logging.NullHandler())
    assert closed_later
    assert "RunLogHandler" not in {type(handler).__name__ for handler in closed_later}
