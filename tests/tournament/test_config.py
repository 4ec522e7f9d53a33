"""Settings: checked with a sentence, and compared with a run that exists."""

import json
from pathlib import Path

import msgspec
import pytest

from arena.errors import ConfigError
from arena.players.folder import Bot
from arena.players.labels import timing_for
from arena.players.manifest import Manifest
from arena.records.runfile import RUN_FILE, read_run, write_run
from arena.rules.boards import built_in
from arena.tournament.consistency import config_of, make_config
from arena.tournament.differences import differences
from arena.tournament.runs import describe_run


def settings(**changes):
    return {"bots": ["ann", "bob"], "seed": "s", **changes}


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 5},
        {"players": 3},
        {"bots": ["ann", "ann"]},
        {"deals": 0},
        {"challenger": "zoe"},
        {"increment_ms": 5},
        {"seatings": "some"},
        {"movems": 5},
        {"move_ms": 0},
        {"settled": 10**30},
        {"until": 50.0, "allotted": 10**30},
        {"allotted": -1},
        {"match": ["bird", "lion"]},
        {"match": ["bird"], "boards": ["bird", "lion"]},
        {"match": ["bird", "bird"], "deals": 6_000_000},
        {"boards": []},
        {"bots": ["ann", "bob:move_ms=0"]},
        {"bots": ["ann", "bob:memory_mb=9e9"]},
        {"bots": ["ann", "bob:increment_ms=5"]},
        {"bots": ["ann", "bob:move_ms=5"], "in_process": True},
        {"in_process": True, "game_ms": 9},
        {"match": ["bird"], "compare": {"new": "ann", "old": "bob"}},
    ],
)
def test_settings_that_cannot_be_are_refused_with_a_sentence(changes, refused):
    with refused(ConfigError):
        make_config(settings(**changes))


def test_the_time_control_is_taken_over():
    timing = make_config(
        settings(move_ms=100, game_ms=5000, increment_ms=20, startup_ms=900)
    ).timing
    assert (timing.move_ms, timing.game_ms, timing.increment_ms, timing.startup_ms) == (
        100,
        5000,
        20,
        900,
    )


def test_a_bot_adds_its_own_increment_to_the_bank_of_the_run():
    config = make_config(settings(bots=["ann", "bob:increment_ms=5"], game_ms=5000))
    assert timing_for("bob:increment_ms=5", config.timing).increment_ms == 5


def bot(label, sha="1" * 64, version="1"):
    return Bot(label, Manifest(name=label, command=["x"], version=version), Path(), sha)


def info(bots=None, **changes):
    bots = bots or (bot("ann"), bot("bob"))
    config = make_config(settings(bots=[one.label for one in bots], **changes))
    return describe_run(
        config,
        {name: built_in(name) for name in config.boards},
        bots,
        sandbox="none",
        started="2026-01-01T00:00:00Z",
    )


def test_the_same_settings_are_no_difference():
    assert differences(info(), info()) == []


@pytest.mark.parametrize("missing", ["match", "in_process"])
def test_a_run_from_before_there_was_a_setting_goes_on(tmp_path, missing):
    known = info()
    write_run(tmp_path, known)
    path = tmp_path / RUN_FILE
    written = json.loads(path.read_text())
    del written["config"][missing]
    path.write_text(json.dumps(written))
    old = read_run(tmp_path)
    assert differences(old, known) == []
    assert not getattr(config_of(old), missing)


def test_a_run_of_built_in_bots_alone_stays_one_and_so_does_any_other(snapshot):
    one, other = info(), info(in_process=True)
    assert differences(one, other) == snapshot
    assert differences(other, one) == snapshot


def test_more_deals_and_further_bots_are_no_difference():
    assert differences(info(), info(bots=(bot("ann"), bot("bob"), bot("cy")), deals=99)) == []


@pytest.mark.parametrize(
    "wanted",
    [
        {"deals": 3},
        {"move_ms": 5},
        {"boards": ["lion"]},
        {"match": ["bird", "bird"]},
        {"seatings": "all"},
        {"challenger": "ann"},
        {"seed": "other"},
        {"bots": (bot("ann"), bot("cy"))},
        {"bots": (bot("ann"), bot("bob", "2" * 64, "2"))},
    ],
)
def test_every_other_difference_is_named(wanted, snapshot):
    assert differences(info(), info(**wanted)) == snapshot


def test_other_rules_or_rows_are_a_difference(snapshot):
    known = info()
    assert differences(msgspec.structs.replace(known, rules_revision=0), known) == snapshot
    changed = msgspec.structs.replace(known, boards={"bird": ["R.."]})
    assert differences(changed, known) == snapshot
