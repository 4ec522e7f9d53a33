"""Finding out whether a sandbox works, and leaving nothing behind."""

import os
import select
import subprocess

import pytest

from arena.players.sandbox import probe
from arena.players.sandbox.launch import Launch


def test_a_probe_that_takes_too_long_ends_with_all_it_started(monkeypatch, tmp_path):
    monkeypatch.setattr(probe, "PATIENCE_S", 0.5)
    ours, theirs = os.pipe()

    def start_another(_command, _folder):
        return Launch(["sh", "-c", "sleep 1000 & wait"], dict(os.environ), [theirs])

    with pytest.raises(subprocess.TimeoutExpired):
        probe.look_around(start_another, tmp_path)
    # the pipe ends once nobody holds its other side
    ended, _, _ = select.select([ours], [], [], 60)
    os.close(ours)
    assert ended
