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
    ("changes", "message"),
    [
        ({"players": 5}, r"Expected `int` <= 4 - at `\$.players`"),
        ({"players": 3}, "a game of 3 needs at least 3 bots"),
        ({"bots": ["ann", "ann"]}, "the bot 'ann' is named twice"),
        ({"deals": 0}, r"Expected `int` >= 1 - at `\$.deals`"),
        ({"challenger": "zoe"}, "the challenger 'zoe' is not one of the bots ann, bob"),
        ({"increment_ms": 5}, "--increment-ms needs --game-ms"),
        ({"seatings": "some"}, r"Invalid enum value 'some' - at `\$.seatings`"),
        ({"movems": 5}, "unknown field `movems`"),
        ({"move_ms": 0}, r"at `\$.move_ms`"),
        ({"settled": 10**30}, r"Expected `int` <= 9007199254740992 - at `\$.settled`"),
        (
            {"until": 50.0, "allotted": 10**30},
            r"Expected `int` <= 9007199254740992 - at `\$.allotted`",
        ),
        ({"allotted": -1}, r"Expected `int` >= 0 - at `\$.allotted`"),
        (
            {"match": ["bird", "lion"]},
            "the boards of the match are bird,lion, but --boards has bird$",
        ),
        (
            {"match": ["bird"], "boards": ["bird", "lion"]},
            "the boards of the match are bird, but --boards has bird,lion",
        ),
        (
            {"match": ["bird", "bird"], "deals": 6_000_000},
            "expected at most 10,000,000 deals on a board, got 6,000,000 for each of 2 rounds",
        ),
        ({"boards": []}, "expected at least one board, got none"),
        ({"bots": ["ann", "bob:move_ms=0"]}, "expected move_ms to be a whole number from 1 to 86"),
        (
            {"bots": ["ann", "bob:memory_mb=9e9"]},
            "expected memory_mb to be a whole number from 16 to 4096, got '9e9'",
        ),
        ({"bots": ["ann", "bob:increment_ms=5"]}, "expected game_ms with increment_ms"),
        (
            {"bots": ["ann", "bob:move_ms=5"], "in_process": True},
            "limits do not apply to bob:move_ms=5",
        ),
        ({"in_process": True, "game_ms": 9}, "time limits do not apply"),
        (
            {"match": ["bird"], "compare": {"new": "ann", "old": "bob"}},
            "a comparison counts single games",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_with_a_sentence(changes, message):
    with pytest.raises(ConfigError, match=message):
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


def test_a_run_of_built_in_bots_alone_stays_one_and_so_does_any_other():
    one, other = info(), info(in_process=True)
    assert differences(one, other) == [
        (
            "in_process: the run has bots that are processes; built-in ones alone"
            " would be a run of its own"
        )
    ]
    assert differences(other, one) == [
        (
            "in_process: all bots of the run are built in; with others among them it"
            " would be a run of its own"
        )
    ]


def test_more_deals_and_further_bots_are_no_difference():
    assert differences(info(), info(bots=(bot("ann"), bot("bob"), bot("cy")), deals=99)) == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"deals": 3}, "deals: the run has 10, asked for 3; a run can only be extended"),
        ({"move_ms": 5}, "move_ms: the run has 1000, asked for 5"),
        ({"boards": ["lion"]}, "boards: the run has bird, asked for lion"),
        (
            {"match": ["bird", "bird"]},
            (
                "match: the run has none, asked for bird,bird; use 'arena standings --match' to see"
                " a run under another scoring"
            ),
        ),
        ({"seatings": "all"}, "seatings: the run has rotations, asked for all"),
        ({"challenger": "ann"}, "challenger: the run has none, asked for ann"),
        ({"seed": "other"}, "seed: the run has s, now it is other"),
        (
            {"bots": (bot("ann"), bot("cy"))},
            "bot bob: in the run, but not asked for; a run can only be extended",
        ),
        (
            {"bots": (bot("ann"), bot("bob", "2" * 64, "2"))},
            "bot bob: its content changed from 1 (111111111111) to 2 (222222222222)",
        ),
    ],
)
def test_every_other_difference_is_named(wanted, said):
    assert said in differences(info(), info(**wanted))


def test_other_rules_or_rows_are_a_difference():
    known = info()
    assert differences(msgspec.structs.replace(known, rules_revision=0), known) == [
        "rules revision: the run has 0, now it is 1"
    ]
    changed = msgspec.structs.replace(known, boards={"bird": ["R.."]})
    assert differences(changed, known) == [
        "board bird: its rows differ from those the run was played on"
    ]
