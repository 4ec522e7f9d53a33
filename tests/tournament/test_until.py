"""Runs that play until their error bars are narrow: who gets more deals, and when."""

import json

import msgspec
import pytest

from arena.errors import ConfigError, RunError
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.records.runfile import RUN_FILE, read_run, write_run
from arena.rules.boards import built_in
from arena.tournament.consistency import config_of, make_config
from arena.tournament.differences import differences
from arena.tournament.lineups import fix_allotment, next_allotment
from arena.tournament.runs import completeness, describe_run
from arena.tournament.schedule import Schedule


def config(**settings):
    return make_config({"bots": ["ann", "bob", "cy"], "seed": "s", **settings})


def test_other_runs_allot_nothing():
    assert fix_allotment(config(), None) == config()


@pytest.mark.parametrize(("deals", "first"), [(1000, 10), (20, 10), (10, 5), (3, 2), (1, 1)])
def test_a_run_starts_with_a_few_deals(deals, first):
    settings = fix_allotment(config(until=20, deals=deals), None)
    assert settings.allotted == first
    assert Schedule(settings).games == 3 * first * 2


def test_line_ups_get_more_up_to_the_deals():
    settings = fix_allotment(config(until=20, deals=220), None)
    found = []
    while more := next_allotment(settings):
        settings = msgspec.structs.replace(settings, allotted=more)
        found.append(more)
    assert found[:3] == [20, 30, 40]
    assert found[-4:] == [176, 193, 212, 220]


def test_games_are_those_of_a_run_that_has_as_many_deals():
    boards = ["bird", "lion"]
    plans = list(Schedule(config(until=20, deals=50, boards=boards, allotted=25)))
    assert plans == list(Schedule(config(boards=boards, deals=25)))


def test_what_a_run_allotted_is_kept_and_growth_unsettles_it():
    known = config(until=20, deals=50, allotted=30, settled=30)
    assert fix_allotment(config(until=20, deals=50), known) == known
    for growth in ({"until": 10}, {"deals": 60}, {"bots": ["ann", "bob", "cy", "dee"]}):
        again = fix_allotment(config(**{"until": 20, "deals": 50, **growth}), known)
        assert (again.allotted, again.settled) == (30, None)


def info(**settings):
    made = fix_allotment(config(**settings), None)
    bots = [Bot(name, Manifest(name=name, command=["x"]), None, "1" * 64) for name in made.bots]
    return describe_run(made, {"bird": built_in("bird")}, bots, sandbox="none", started="")


def test_a_run_may_get_more_precise_but_not_less_and_not_of_another_kind(snapshot):
    assert differences(info(until=20), info(until=10)) == []
    assert differences(info(until=20), info(until=30)) == snapshot
    assert differences(info(), info(until=30)) == snapshot


def test_until_it_is_settled_the_plan_is_the_most_there_can_be():
    first = info(until=20, deals=50)
    assert completeness(Schedule(config_of(first)), {})[:2] == (3 * 50 * 2, 3 * 50 * 2)
    done = msgspec.structs.replace(first, config=msgspec.structs.replace(first.config, settled=10))
    assert completeness(Schedule(config_of(done)), {})[:2] == (3 * 10 * 2, 3 * 10 * 2)


def test_a_run_of_the_first_version_is_read_if_all_line_ups_had_as_many_deals(tmp_path, refused):
    before = info(until=20, deals=50)
    write_run(tmp_path, before)
    path = tmp_path / RUN_FILE
    written = json.loads(path.read_text())
    known = {"ann+bob": 30, "ann+cy": 30}
    there = {**written["config"], "adaptive": False, "allotted": known}
    path.write_text(json.dumps({**written, "config": there}))
    assert config_of(read_run(tmp_path)).allotted == 30
    for changed in ({"adaptive": True}, {"allotted": {**known, "bob+cy": 20}}):
        path.write_text(json.dumps({**written, "config": {**there, **changed}}))
        with refused(RunError):
            read_run(tmp_path)


def test_until_is_above_nothing():
    with pytest.raises(ConfigError, match="until"):
        config(until=0)
