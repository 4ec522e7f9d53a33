"""A plugin of pytest that writes a ledger for `.ci/suite`: how many tests were collected, how many
reported a result, which failed, and which ended the process that ran them.

Loaded by tests/conftest.py; it does nothing without ``--ledger FILE``. With pytest-xdist it runs in
the process that distributes the tests, so a crash of a worker process does not lose the ledger.
"""

import json
from pathlib import Path

import pytest


class Ledger:
    """Counts tests while pytest runs them, and writes the counts at the end."""

    def __init__(self, path):
        self.path = path
        self.collected = set()
        self.reported = set()
        self.failed = []
        self.crashed = []

    def pytest_collection_finish(self, session):
        self.collected.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self.collected.update(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem):
        """Note the test during which a process of pytest-xdist ended."""
        self.crashed.append(crashitem)

    def pytest_runtest_logreport(self, report):
        """Note a report of a phase of a test, or of a crash. A test has reported its result with
        its tear-down, its last phase.
        """
        if report.when not in ("setup", "call"):
            self.reported.add(report.nodeid)
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self):
        entries = {
            "collected": len(self.collected),
            "reported": len(self.reported),
            "failed": self.failed,
            "crashed": self.crashed,
        }
        self.path.write_text(json.dumps(entries))


def pytest_addoption(parser):
    parser.addoption("--ledger", type=Path, help="write here which tests reported and failed")


def pytest_configure(config):
    is_worker = hasattr(config, "workerinput")
    if config.option.ledger and not is_worker:
        config.pluginmanager.register(Ledger(config.option.ledger))
