"""The workers of a session, from the trial of its bots on."""

import logging
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.players.sandbox.tiers import OPEN
from arena.tournament.pools import LocalWorkers, Staff
from arena.tournament.workers import LocalPool, Setup


def test_a_ctrl_c_while_bots_are_tried_ends_the_workers_before_their_folders_are_removed(
    tmp_path, monkeypatch
):
    """The caller removes the folders of the builds when the exception reaches it."""
    order = []

    def interrupted(self, labels):
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalPool, "try_starts", interrupted)
    monkeypatch.setattr(LocalPool, "close", lambda self, *, kill: order.append(f"closed {kill}"))
    bot = Bot("own", Manifest(name="own", command=["own"], version="1"), Path(), "0" * 64)
    with ExitStack() as closing:
        staff = Staff(LocalWorkers(1), tmp_path, logging.INFO, closing)
        with pytest.raises(KeyboardInterrupt):
            staff.try_starts(Setup(sandbox=OPEN, log_level=logging.INFO, bots={"own": bot}))
        order.append("removed")
    assert order[:2] == ["closed True", "removed"]
