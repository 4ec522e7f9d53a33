"""One word for bots of strangers: bubblewrap and the kernel's counter, a deck for each game."""

import json

import pytest

from arena.errors import SandboxError
from arena.players.counter import kernel_counts
from arena.players.sandbox import tiers
from tests.attacks.tiers import needs, tiers_command  # noqa: F401 - the last is a fixture
from tests.support.commandline import FIRST
from tests.support.wording import messages


@pytest.fixture
def fit():
    """Skips where strangers cannot play."""
    needs("bubblewrap")
    if not kernel_counts():
        pytest.skip("the kernel counts no CPU time here")


def test_strangers_play_in_bubblewrap_and_each_game_has_its_own_deck(arena, fit, snapshot):
    arena("run", "rnd", "fst", "--deals", 2, "--strangers", "--out", "run")
    told = json.loads((arena.home / "results" / "run" / "run.json").read_text())
    assert told["config"]["seatings"] == "single"
    assert {record["sandbox"] for record in arena.records("run")} == {"bubblewrap"}
    _, err = arena("run", "rnd", "fst", "--strangers", "--seatings", "rotations", status=1)
    assert messages(err) == snapshot
    _, err = arena("run", "rnd", "fst", "--strangers", "--sandbox", "auto", status=1)
    assert messages(err) == snapshot


def test_a_run_with_deals_that_come_back_is_not_finished_by_strangers(arena, fit, snapshot):
    arena("run", "rnd", "fst", "--deals", 1, "--out", "run")
    _, err = arena("run", "--finish", "run", "--strangers", status=1)
    assert messages(err) == snapshot


def test_strangers_are_granted_no_programs_but_their_bot_toml_may_name_readable_ones(
    arena, fit, snapshot
):
    grant = ("--allow", "fst=exec:/usr/bin/env")
    _, err = arena("run", "rnd", "fst", "--deals", 1, *grant, "--strangers", status=1)
    assert messages(err) == snapshot
    assert 'programs = ["env"]' in err
    script = arena.home / "bots" / "fst" / "run"
    script.write_text("#!/bin/sh\nexec python3 -S bot.py\n")
    script.chmod(0o755)
    manifest = 'name = "fst"\ncommand = ["./run"]\nprograms = ["python3"]\n'
    (arena.home / "bots" / "fst" / "bot.toml").write_text(manifest)
    arena("run", "rnd", "fst", "--deals", 1, "--strangers", "--out", "run")
    assert [record["faults"] for record in arena.records("run") if record["faults"]] == []


def test_strangers_do_not_play_in_the_weaker_sandbox(arena, request):
    request.getfixturevalue("tiers_command")("landlock")
    _, err = arena("run", "rnd", "fst", "--deals", 1, "--strangers", status=1)
    assert "this machine cannot provide the sandbox bubblewrap: the sandbox is Landlock" in err


def test_strangers_do_not_play_where_the_kernel_does_not_count(monkeypatch, refused):
    needs("bubblewrap")
    monkeypatch.setattr(tiers, "kernel_counts", lambda: False)
    with refused(SandboxError):
        tiers.choose("strangers", accept_none=True)


def test_strangers_do_not_play_where_they_could_run_what_they_write(monkeypatch, fit, refused):
    monkeypatch.setattr(tiers, "look_around", lambda *_: {"files": True, "programs": False})
    assert tiers.choose("require", accept_none=False).sandbox.tier == "bubblewrap"
    with refused(SandboxError):
        tiers.choose("strangers", accept_none=True)


def test_a_league_of_strangers_goes_on_as_it_began_and_places_a_submission(arena, fit):
    run = ("league", "run", "ladder", "rnd", "--benchmarks", "random,greedy-4", "--strangers")
    arena(*run, "--games", 8, "-q")
    arena("league", "run", "ladder", "--games", 8, "--strangers", "-q")
    records = arena.records("ladder")
    assert len({(record["board"], record["deal"]) for record in records}) == len(records) == 16
    arena.add_bot("new", FIRST, to="submissions")
    options = ("--league", "ladder", "--strangers", "--no-check", "--games", 40)
    status, out, err = arena.ended("submit", "submissions/new", *options)
    assert "new@1" in out, err
    assert status in (0, 5)
