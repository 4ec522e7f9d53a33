"""Finding out whether a sandbox works, and leaving nothing behind."""

import importlib
import os
import py_compile
import select
import subprocess
import sys

import pytest

from arena.players.sandbox import tiers
from arena.players.sandbox.launch import Launch, plain_python


def test_a_probe_that_takes_too_long_ends_with_all_it_started(monkeypatch, tmp_path):
    monkeypatch.setattr(tiers, "PATIENCE_S", 0.5)
    ours, theirs = os.pipe()

    def start_another(_command, _folder):
        return Launch(["sh", "-c", "sleep 1000 & wait"], dict(os.environ), [theirs])

    with pytest.raises(subprocess.TimeoutExpired):
        tiers.look_around(start_another, tmp_path)
    # the pipe ends once nobody holds its other side
    ended, _, _ = select.select([ours], [], [], 60)
    os.close(ours)
    assert ended


def test_a_program_that_is_missing_is_named_without_an_errno():
    def start_missing(_command, _folder):
        return Launch(["no-such-program"], dict(os.environ), [])

    assert tiers.failure(start_missing) == "no-such-program is not installed"


def test_what_python_compiled_runs_only_while_its_source_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "stands_alone.py"
    source.write_text("print('before')\n")
    py_compile.compile(str(source))
    module = importlib.import_module("stands_alone")
    assert plain_python(module)[-1] == module.__cached__
    source.write_text("print('after the upgrade')\n")
    assert plain_python(module)[-1] == str(source)
    done = subprocess.run(plain_python(module), capture_output=True, text=True, check=True)
    assert done.stdout == "after the upgrade\n"
