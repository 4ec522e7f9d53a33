"""What commands say of strange options and of strangers' files: a sentence, never a traceback."""

import json

import pytest

from arena.cli.main import run_command
from tests.exports.runs import duels, write_run
from tests.support.wording import messages


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty home; returns its exit status, its output and its errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "300")

    def run(*arguments):
        status = run_command(["--home", str(tmp_path), *arguments])
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return status, shown.out, shown.err

    return run


def strange_run(home, name, **settings):
    """A run of two bots whose run.json somebody has changed."""
    folder = write_run(home / "results" / name, "ab", duels("ab", 1))
    info = json.loads((folder / "run.json").read_text())
    info["config"] |= settings
    (folder / "run.json").write_text(json.dumps(info))
    return folder


@pytest.mark.parametrize("command", ["runs", "verify"])
def test_a_run_with_more_deals_than_can_be_counted_stops_no_listing(
    tmp_path, said, command, snapshot
):
    strange_run(tmp_path, "sane")
    strange_run(tmp_path, "vast", until=50.0, allotted=10**30, settled=None)
    if command == "runs":
        status, out, err = said("runs")
        assert (status, "sane" in out, "vast" in out) == (0, True, False)
        assert messages(err) == snapshot
    else:
        status, _, err = said(command, "vast")
        assert status == 1
        assert messages(err) == snapshot


@pytest.mark.parametrize("command", [["run", "greedy", "careful"], ["play", "greedy", "careful"]])
def test_a_seed_that_is_not_utf_8_is_a_bad_option(said, command, snapshot):
    status, out, err = said(*command, "--seed", "\udcff")
    assert (status, out) == (2, "")
    assert messages(err) == snapshot


def test_a_deal_has_a_number_that_a_record_can_hold(said, snapshot):
    command = ["play", "greedy", "careful"]
    assert said(*command, "--seed", "s", "--deal", "9999999")[0] == 0
    status, out, err = said(*command, "--deal", "10000000")
    assert (status, out) == (2, "")
    assert err == snapshot


def test_a_path_where_nothing_is_gets_the_hint_of_a_name(said, snapshot):
    builtin = "built in are random, greedy, careful, greedy-N and careful-N\n"
    assert said("run", "./nothing", "greedy")[2].endswith(f"\nhint: {builtin}")
    for text in ("./carefull", "bots/carefull", "carefull"):
        assert said("run", text, "greedy")[2] == snapshot


def test_a_path_where_nothing_is_gets_the_name_beside_it_first(tmp_path, said, snapshot):
    (tmp_path / "carefully").mkdir()
    _, _, err = said("run", "./carefull", "greedy")
    assert messages(err) == snapshot


LONG = "x" * 400


@pytest.mark.parametrize(
    "command",
    [
        ["standings", LONG],
        ["replay", LONG, "game"],
        ["analyse", LONG],
        ["remove", "--run", LONG],
        ["run", LONG, "greedy"],
        ["bots", LONG],
        ["league", "run", LONG],
        ["check", LONG],
        ["submit", LONG],
        ["rate", LONG],
        ["run", "greedy", "careful", "--cluster", LONG],
        ["run", "greedy", "careful", "--cluster", f"{LONG}.json"],
    ],
    ids=lambda command: " ".join(command).replace(LONG, "LONG"),
)
def test_a_name_that_no_file_can_have_is_refused(said, command, snapshot):
    status, _, err = said(*command)
    assert status == 1
    assert messages(err) == snapshot


@pytest.mark.parametrize("digits", [7, 400, 5000])
def test_a_report_has_no_more_games_than_can_be_counted(tmp_path, said, digits):
    write_run(tmp_path / "results" / "r", "ab", duels("ab", 1))
    assert said("report", "r", "--games", "1000000")[0] == 0
    status, _, err = said("report", "r", "--games", "9" * digits)
    assert (status, "expected a whole number from 0 to 1000000, got '999" in err) == (2, True)


@pytest.mark.parametrize("command", ["replay", "reproduce"])
def test_no_game_has_an_id_that_is_not_utf_8(tmp_path, said, command, snapshot):
    write_run(tmp_path / "results" / "r", "ab", duels("ab", 1))
    status, _, err = said(command, "r", "\udcff")
    assert status == 1
    assert messages(err) == snapshot


def test_a_seed_of_thousands_of_digits_is_hashed_as_a_text_is(tmp_path, said):
    write_run(tmp_path / "results" / "r", "ab", duels("ab", 1))
    command = ["review", "r", "bird/a+b/0/0", "--deals", "10"]
    assert said(*command, "--seed", "9" * 5000)[0] == 0


def test_a_version_of_thousands_of_digits_is_sorted_by_value(tmp_path, said):
    """The labels of a league are in its run.json and league.jsonl, which may come from anybody."""
    labels = [f"my-bot@{'9' * 5000}", "my-bot@2", "my-bot@10"]
    folder = write_run(tmp_path / "results" / "l", labels, duels(labels, 1))
    events = [{"event": "joined", "bot": label, "status": "benchmark"} for label in labels]
    lines = [json.dumps(event | {"when": "2026-11-22T12:00:00Z"}) for event in events]
    (folder / "league.jsonl").write_text("\n".join(lines) + "\n")
    status, _, _ = said("league", "history", "--league", "l", "--json")
    assert status == 0
