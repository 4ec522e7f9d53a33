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
