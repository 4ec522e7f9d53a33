"""What a shell offers for a command line that is not complete, asked of bash as README says."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.commandline import ROOT
from tests.support.imports import loaded_by

ASK = """
eval "$(_ARENA_COMPLETE=bash_source arena)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_arena_completion arena "${COMP_WORDS[$COMP_CWORD]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")


@pytest.fixture
def complete(tmp_path):
    """Asks bash for the words that can stand at the end of a command line."""
    command = tmp_path / "bin" / "arena"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m arena "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}

    def ask(*words):
        done = subprocess.run(
            ["bash", "--norc", "-c", ASK, "bash", *words],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert not done.stderr
        return set(done.stdout.split())

    return ask


@needs_bash
def test_bash_completes_commands_their_options_and_their_values(complete):
    assert complete("arena", "re") == {
        "remove",
        "report",
        "review",
        "replay",
        "reproduce",
        "regress",
    }
    assert complete("arena", "--ho") == {"--home"}
    assert complete("arena", "run", "--dea") == {"--deals"}
    assert complete("arena", "league", "his") == {"history"}
    assert complete("arena", "new", "my-bot", "--language", "r") == {"rust"}
    assert complete("arena", "nonsense", "x") == set()


@pytest.mark.long
@needs_bash
def test_bash_completes_the_names_of_bots_of_runs_and_of_commands_to_explain(complete, tmp_path):
    for name in ("mine", "mint"):
        (tmp_path / "bots" / name).mkdir(parents=True)
        (tmp_path / "bots" / name / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ncommand = ["./bot"]\n'
        )
    for name in ("first", "fine"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "run.json").write_text("{}")
    (tmp_path / "results" / "figures").mkdir()
    assert complete("arena", "run", "greedy", "mi") == {"mine", "mint"}
    assert complete("arena", "compare", "mine", "gre") == {"greedy", "greedy-python"}
    assert complete("arena", "check", "mine@") == {"mine@1"}
    assert complete("arena", "standings", "fi") == {"fine", "first"}
    assert complete("arena", "run", "--finish", "fir") == {"first"}
    for size in ("2-players", "4-players"):
        run = tmp_path / "results" / "league-7" / size
        run.mkdir(parents=True)
        (run / "run.json").write_text("{}")
    both = {"league-7/2-players", "league-7/4-players"}
    assert complete("arena", "standings", "le") == both
    assert complete("arena", "report", "league-7/") == both
    assert complete("arena", "review", "league-7/4") == {"league-7/4-players"}
    assert complete("arena", "--home", "elsewhere", "standings", "fi") == set()
    assert complete("arena", "help", "sta") == {"standings"}
    assert complete("arena", "help", "league", "his") == {"history"}
    assert complete("arena", "help", "run", "x") == set()


def test_completing_the_name_of_a_command_loads_no_command(monkeypatch):
    monkeypatch.setenv("_ARENA_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "arena re")
    monkeypatch.setenv("COMP_CWORD", "1")
    code = "from arena.cli.main import run_command\ntry:\n  run_command()\nexcept SystemExit: pass"
    loaded = loaded_by(code)
    assert "click.shell_completion" in loaded
    assert not loaded & {"arena.cli.run", "arena.rules", "msgspec"}
