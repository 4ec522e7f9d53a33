"""What somebody asks for: read from arena.toml, put over it, and made into one checked request."""

import json
import os

import pytest

from arena.errors import BoardError, ConfigError
from arena.exports.written import write_standings
from arena.players.player import built_in_bot
from arena.ratings.tables import run_tables
from arena.records.config import DEFAULTS, RunConfig
from arena.records.runfile import RUN_FILE, read_run
from arena.tournament.run import Run
from arena.tournament.runs import (
    boards_of,
    choose_folder,
    find_runs,
    list_runs,
    make_request,
    timing_of,
)
from arena.tournament.settings import UNTIL_DEALS, OwnConfig, read_options
from tests.exports.runs import duels, write_run


def asked(**options):
    """The settings of a request with two built-in bots."""
    bots = [built_in_bot(name) for name in ("random", "greedy")]
    return make_request(options, boards_of(options), bots).config


def test_paths_in_a_file_are_relative_to_it(tmp_path):
    path = tmp_path / "sub" / "arena.toml"
    path.parent.mkdir()
    path.write_text('bots = ["a", "./b", "/c/d"]\nchallenger = "../e"\nout = "name"\n')
    here = path.parent
    asked, _ = read_options(path)
    assert asked == {
        "bots": ["a", str(here / "b"), "/c/d"],
        "challenger": str(here / "../e"),
        "out": "name",
    }


def test_a_file_has_the_options_under_their_names(tmp_path):
    path = tmp_path / "arena.toml"
    path.write_text(
        'bots = ["a", "b"]\nplayers = 2\nboard = ["my.txt"]\nmatch = ["my", "bird"]\nseed = 7\njobs'
        ' = 2\nout = "x"\n'
    )
    asked, own = read_options(path)
    assert asked == {
        "bots": ["a", "b"],
        "players": 2,
        "board_files": [str(tmp_path / "my.txt")],
        "match": ["my", "bird"],
        "seed": 7,
        "out": "x",
    }
    assert own == OwnConfig(jobs=2)


@pytest.mark.parametrize(
    "text",
    [
        "player = 2\n",
        "players = 5\n",
        "deals = 0\n",
        "players = 'two'\n",
        "players =",
        "bots = 3\n",
    ],
)
def test_a_bad_file_is_named(tmp_path, text, refused):
    path = tmp_path / "arena.toml"
    path.write_text(text)
    with refused(ConfigError) as caught:
        read_options(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message", "cure"),
    [
        ("dels = 3", "line 2: expected a setting, got 'dels'", "did you mean 'deals'? "),
        ("deals = x", "line 2, column 9: invalid value, got 'deals = x'", "its keys are"),
        ("deals = 'x'", "line 2: expected a whole number for deals, got 'x'", "its keys are"),
    ],
)
def test_a_mistake_in_a_file_is_found_by_its_line(tmp_path, text, message, cure):
    path = tmp_path / "arena.toml"
    path.write_text(f"players = 2\n{text}\n")
    with pytest.raises(ConfigError, match=f"^{path} {message}") as caught:
        read_options(path)
    assert caught.value.hint.startswith(cure)


@pytest.mark.parametrize(
    "text",
    [
        'out = "x\\u0000y"',
        'board = ["a\\u0000b"]',
        'bots = ["a", "./b\\u0000"]',
        'challenger = "\\u0000"',
    ],
)
def test_a_path_that_no_file_can_have_is_refused_with_the_name_of_the_file(tmp_path, text, refused):
    path = tmp_path / "arena.toml"
    path.write_text(text)
    with refused(ConfigError):
        read_options(path)


def test_a_seed_in_a_file_is_text_in_utf_8(tmp_path, refused):
    path = tmp_path / "arena.toml"
    for content in (b'seed = "\xff"', rb'seed = "\udcff"'):
        path.write_bytes(content)
        with refused(ConfigError):
            read_options(path)


def test_an_empty_list_of_boards_is_refused_unless_there_are_files(tmp_path, refused):
    with refused(ConfigError):
        asked(boards=[])
    (tmp_path / "mine.txt").write_text("R..\n...\n")
    assert asked(boards=[], board_files=[str(tmp_path / "mine.txt")]).boards == ["mine"]


def test_boards_come_by_name_and_from_files(tmp_path, refused):
    (tmp_path / "mine.txt").write_text("R..\n...\n")
    assert list(boards_of({"boards": ["lion"], "board_files": [str(tmp_path / "mine.txt")]})) == [
        "lion",
        "mine",
    ]
    (tmp_path / "bird.txt").write_text("R..\n")
    with refused(ConfigError):
        boards_of({"board_files": [str(tmp_path / "bird.txt")]})
    with refused(BoardError):
        boards_of({"boards": ["owl"]})


def test_what_is_said_counts_over_the_defaults():
    assert asked(deals=7).deals == 7
    assert asked().deals == DEFAULTS["deals"]


def test_where_nothing_is_said_every_setting_is_the_default():
    config = asked()
    own = {"bots", "seed"}
    assert {
        name: getattr(config, name) for name in RunConfig.__struct_fields__ if name not in own
    } == {name: DEFAULTS[name] for name in RunConfig.__struct_fields__ if name not in own}
    assert (config.bots, config.seed) == (["random", "greedy"], "")


def test_a_run_until_its_bars_are_narrow_may_use_more_deals_unless_some_are_named():
    assert asked(until=20.0).deals == UNTIL_DEALS
    assert asked(until=20.0, deals=50).deals == 50


def test_a_match_and_board_files_say_which_boards_are_played(tmp_path):
    (tmp_path / "mine.txt").write_text("R..\n...\n")
    mine = str(tmp_path / "mine.txt")
    assert list(boards_of({"match": ["lion", "lion"]})) == ["lion"]
    assert list(boards_of({"match": ["mine", "bird"], "board_files": [mine]})) == ["bird", "mine"]
    assert list(boards_of({"board_files": [mine]})) == ["mine"]
    assert list(boards_of({"match": []})) == ["bird"]


def test_a_request_without_a_seed_takes_that_of_the_run():
    bots = [built_in_bot(name) for name in ("random", "greedy")]
    for seed, kept in ((None, "its own"), ("s", "s"), (7, "7")):
        options = {} if seed is None else {"seed": seed}
        request = make_request(options, boards_of(options), bots)
        assert request.config_for("its own").seed == kept


def test_the_clock_of_a_game_is_what_was_said_of_it():
    timing = timing_of({"move_ms": 5, "clock": "wall"})
    assert (timing.move_ms, timing.clock, timing.startup_ms) == (5, "wall", DEFAULTS["startup_ms"])


@pytest.fixture
def results(tmp_path):
    """A folder with the runs ``a``, ``b`` and ``c``: only the second is unfinished, and the last
    has standings, written after its last game.
    """
    for name, games in (("a", 4), ("b", 3), ("c", 4)):
        write_run(tmp_path / name, "ab", duels("ab", 2)[:games], deals=2)
    run = Run(tmp_path / "c")
    write_standings(run, run_tables(run.folder, run.info))
    os.utime(run.journal, (1, 1))
    return tmp_path


def test_the_unfinished_tournament_is_found_and_a_rated_one_is_not_counted(results, monkeypatch):
    counted = []
    progress = Run.progress
    monkeypatch.setattr(Run, "progress", lambda run: counted.append(run.name) or progress(run))
    bots = [built_in_bot(name) for name in ("random", "greedy")]
    request = make_request({}, boards_of({}), bots)
    folder, passed_over = choose_folder(results, request)
    assert passed_over == results / "b"
    assert not folder.exists()
    assert "c" not in counted


def test_each_run_json_is_read_once_to_choose_a_folder(results, monkeypatch):
    read = []
    monkeypatch.setattr(
        "arena.tournament.runs.read_run", lambda run: read.append(run.name) or read_run(run)
    )
    monkeypatch.setattr("arena.tournament.run.read_run", lambda run: pytest.fail(f"{run}, again"))
    bots = [built_in_bot(name) for name in ("random", "greedy")]
    choose_folder(results, make_request({}, boards_of({}), bots))
    assert sorted(read) == ["a", "b", "c"]


def test_runs_are_found_by_their_start_and_a_large_run_json_is_not_kept(results, monkeypatch):
    for name, started in (("a", "2026-02-02"), ("b", ""), ("c", "2026-01-01")):
        path = results / name / RUN_FILE
        path.write_text(json.dumps({**json.loads(path.read_text()), "started": started}))
    (results / "b" / RUN_FILE).write_text("{")
    (results / "empty").mkdir()
    (results / "file").write_text("")
    found = find_runs(results)
    assert [each.folder.name for each in found] == ["b", "c", "a"]
    assert [each.info and each.info.started for each in found] == [None, "2026-01-01", "2026-02-02"]
    assert list_runs(results) == [each.folder for each in found]
    monkeypatch.setattr("arena.tournament.runs.KEPT_BYTES", 10)
    assert [(each.folder.name, each.info) for each in find_runs(results)] == [
        ("b", None),
        ("c", None),
        ("a", None),
    ]
