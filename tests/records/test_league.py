"""league.jsonl: appended by several arenas, torn by crashes, changed by hand."""

import pytest

from arena.errors import RunError
from arena.records.league import (
    LEAGUE_FILE,
    Drawn,
    Joined,
    League,
    LeagueScale,
    PlaceFound,
    RegressionBegun,
    RegressionRule,
    Scaled,
    StatusChanged,
    events_file,
    lines_of,
    read_league,
    versions_before,
)
from arena.records.record import version_key

WHEN = "2026-11-22T12:00:00Z"
EVENTS = [
    Joined("a@1", "benchmark", WHEN),
    Joined("my@1", "candidate", WHEN),
    Drawn("a@1+my@1", 0, 4),
    Drawn("a@1+my@1", 4, 4),
    Scaled(WHEN, {"a@1": 0.0}),
    PlaceFound("my@1", WHEN, 35.0, 48.5, 200),
    StatusChanged("my@1", "retired", WHEN, "me", "a better one is there"),
]


def append_events(run, events):
    with events_file(run) as file:
        file.append(lines_of(events))


def test_who_is_made_a_benchmark_before_it_is_placed_waits_no_longer(tmp_path):
    append_events(tmp_path, EVENTS[:2])
    assert read_league(tmp_path).members["my@1"].is_waiting
    append_events(tmp_path, [StatusChanged("my@1", "benchmark", WHEN, "me")])
    member = read_league(tmp_path).members["my@1"]
    assert (member.plays, member.placed, member.is_waiting) == (True, None, False)


def test_a_league_is_what_its_events_come_to(tmp_path):
    append_events(tmp_path, EVENTS[:3])
    append_events(tmp_path, EVENTS[3:])
    league = read_league(tmp_path)
    assert league.deals == 8
    assert league.scale == LeagueScale({"a@1": 0.0})
    assert league.with_status("benchmark") == ["a@1"]
    member = league.members["my@1"]
    assert (member.status, member.by, member.plays) == ("retired", "me", False)
    assert member.placed.games == 200


def test_a_torn_line_is_left_out_and_cut_off_by_the_next(tmp_path):
    append_events(tmp_path, EVENTS[:2])
    with (tmp_path / LEAGUE_FILE).open("ab") as file:
        file.write(b'{"event":"drawn","line_up":"a@1+')
    assert read_league(tmp_path).deals == 0
    append_events(tmp_path, EVENTS[2:3])
    assert read_league(tmp_path).deals == 4


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        '{"event":"crowned","bot":"a@1"}',
        '{"event":"joined","bot":"a@1","status":"candidate","when":""}',
        '{"event":"joined","bot":"b@1","status":"king","when":""}',
        '{"event":"status","bot":"b@1","status":"retired","when":"","by":""}',
        '{"event":"drawn","line_up":"a@1+my@1","first":0,"deals":4}',
        '{"event":"drawn","line_up":"a@1+a@1","first":4,"deals":4}',
        '{"event":"drawn","line_up":"my@1+a@1","first":4,"deals":4}',
        '{"event":"scale","when":"","elo":{"a@1":1e308}}',
        '{"event":"scale","when":"","elo":{"a@1":0},"weights":{"a@1":0}}',
        '{"event":"scale","when":"","elo":{},"weights":{"b@1":0.5}}',
        '{"event":"regression_rule","every":-1,"games":9,"when":"","by":""}',
        '{"event":"regression_test","bot":"my@1","old":"my@0","games":9,"when":""}',
        '{"event":"drawn","line_up":"a@1+nobody","first":4,"deals":4}',
        '{"event":"drawn","line_up":"a@1+my@1","first":99999999,"deals":4}',
    ],
)
def test_a_line_changed_by_hand_is_named_by_its_number(tmp_path, line, refused, snapshot):
    append_events(tmp_path, EVENTS[:3])
    with (tmp_path / LEAGUE_FILE).open("a") as file:
        file.write(f"{line}\n")
    with refused(RunError) as caught:
        read_league(tmp_path)
    assert str(caught.value) == snapshot
    assert "restore" in caught.value.hint


def test_a_missing_file_is_said(tmp_path, refused):
    with refused(RunError):
        read_league(tmp_path)


def league_of(*bots):
    league = League()
    for bot in bots:
        league.add(Joined(bot, "candidate", WHEN))
    return league


def test_versions_follow_each_other_by_name_and_options():
    league = league_of("my@1", "other@1", "my@2", "my@1:depth=3", "my@2:depth=3")
    assert versions_before(league.members) == {"my@2": "my@1", "my@2:depth=3": "my@1:depth=3"}


def test_versions_follow_each_other_by_number_whichever_joined_first():
    league = league_of("my@10", "my@2", "my@1")
    assert versions_before(league.members) == {"my@2": "my@1", "my@10": "my@2"}


def test_a_number_of_any_length_is_compared_by_value():
    vast = "9" * 5000
    labels = [f"my@{vast}", "my@10", "my@a", "my@0", "my@007", "my@1.10", "my@1.9", f"my@1{vast}"]
    in_order = ["my@0", "my@1.9", "my@1.10", "my@007", "my@10", f"my@{vast}", f"my@1{vast}", "my@a"]
    assert sorted(labels, key=version_key) == in_order


def test_who_was_set_aside_is_before_nobody():
    league = league_of("my@1", "my@2", "my@3")
    league.add(StatusChanged("my@2", "aside", WHEN, "arena"))
    assert versions_before(league.members) == {"my@2": "my@1", "my@3": "my@1"}


def test_what_earlier_versions_wrote_is_read_and_their_later_benchmarks_are_no_founders(tmp_path):
    """Lines as version 1.1.0.dev0 wrote them before founders had weights."""
    lines = [
        '{"event":"joined","bot":"a@1","status":"benchmark","when":""}',
        '{"event":"joined","bot":"my@1","status":"candidate","when":""}',
        '{"event":"scale","when":"","elo":{"a@1":0.0}}',
        '{"event":"drawn","line_up":"a@1+my@1","first":0,"deals":4}',
        '{"event":"placed","bot":"my@1","when":"","elo":35.0,"error":48.5,"games":200}',
        '{"event":"status","bot":"my@1","status":"benchmark","when":"","by":"me"}',
        '{"event":"scale","when":"","elo":{"my@1":35.0}}',
    ]
    (tmp_path / LEAGUE_FILE).write_text("".join(f"{line}\n" for line in lines))
    league = read_league(tmp_path)
    assert league.scale == LeagueScale({"a@1": 0.0})
    assert not league.members["my@1"].placed.is_worse
    # it goes on: the weights are added once, and stay
    append_events(tmp_path, [Scaled(WHEN, {"a@1": 0.0}, {"a@1": 1.0})])
    append_events(tmp_path, [Scaled(WHEN, {"a@1": 9.0}, {"a@1": 0.5})])
    assert read_league(tmp_path).scale == LeagueScale({"a@1": 0.0}, {"a@1": 1.0})


def test_regression_tests_are_in_the_file_with_the_games_drawn_for_them(tmp_path):
    append_events(tmp_path, EVENTS)
    append_events(tmp_path, [Joined("my@2", "candidate", WHEN)])
    append_events(tmp_path, [RegressionRule(5, 400, WHEN, "me"), RegressionRule(1, 8, WHEN, "me")])
    append_events(tmp_path, [RegressionBegun("my@2", "my@1", 8, WHEN)])
    append_events(tmp_path, [Drawn("my@1+my@2", 8, 4, "my@2")])
    league = read_league(tmp_path)
    assert league.regression_rule.every == 1
    assert league.regressions["my@2"].old == "my@1"
    assert [drawn.tested for drawn in league.drawn] == ["", "", "my@2"]
    *_, last = (tmp_path / LEAGUE_FILE).read_text().splitlines()
    assert last == '{"event":"drawn","line_up":"my@1+my@2","first":8,"deals":4,"tested":"my@2"}'
