"""run.json: what is read of it, also where another version or something else has written it."""

import json

import pytest

from arena.errors import RunError
from arena.records.config import RunConfig
from arena.records.runfile import RUN_FILE, RunInfo, read_run, write_run

BOARDS = {"bird": ["....."]}


def write(folder, **settings):
    """Writes the run.json of a run with two bots, whose settings may be any."""
    config = {"bots": ["ann", "bob"], "seed": "s", **settings}
    info = RunInfo("9.0.0", 1, "pure", 1, None, BOARDS, [], "s", "none", "2026-01-01T00:00:00Z")
    fields = {name: getattr(info, name) for name in RunInfo.__struct_fields__ if name != "other"}
    (folder / RUN_FILE).write_text(json.dumps({**fields, "config": config}))


def test_the_settings_are_read_as_they_were_written(tmp_path):
    config = RunConfig(bots=["ann", "bob"], seed="s", deals=7, match=["bird"], until=20.0)
    info = RunInfo("9.0.0", 1, "pure", 1, config, BOARDS, [], "s", "none", "2026-01-01T00:00:00Z")
    write_run(tmp_path, info)
    written = (tmp_path / RUN_FILE).read_bytes()
    assert read_run(tmp_path) == info
    assert list(json.loads(written)) == [
        "arena", "protocol", "rules_core", "rules_revision", "config", "boards", "bots", "seed",
        "sandbox", "started",
    ]  # fmt: skip
    write_run(tmp_path, read_run(tmp_path))
    assert (tmp_path / RUN_FILE).read_bytes() == written


def test_of_the_settings_of_another_version_those_are_known_that_count_the_games(
    tmp_path, snapshot
):
    write(tmp_path, later=1, players=3, match=["bird"], seatings="single", clock="cpu")
    info = read_run(tmp_path)
    assert info.config is None
    assert info.problem == snapshot
    assert (info.counting.players, info.counting.match) == (3, ["bird"])
    assert (info.has_own_decks, info.clock) == (True, "cpu")
    kinds = [info.is_league, info.is_comparison, info.is_search, info.is_one_game]
    assert not any(kinds)


@pytest.mark.parametrize("settings", [{"match": "bird"}, {"players": "two"}, {"in_process": 3}])
def test_settings_of_which_no_version_could_count_the_games_are_damage(tmp_path, settings, refused):
    write(tmp_path, **settings)
    with refused(RunError):
        read_run(tmp_path)
