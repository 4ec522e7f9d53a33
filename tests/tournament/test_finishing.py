"""A run that is taken up again: its settings name just the boards and bots that it has."""

import msgspec
import pytest

from arena.errors import ConfigError
from arena.players.player import built_in_bot
from arena.records.runfile import read_run, write_run
from arena.rules.boards import built_in
from arena.tournament.consistency import make_config
from arena.tournament.run import Run
from arena.tournament.runs import describe_run, tournament_request


@pytest.fixture
def run(tmp_path):
    """The folder of a run of two built-in bots."""
    bots = [built_in_bot(name) for name in ("greedy", "careful")]
    config = make_config({"bots": ["greedy", "careful"], "seed": "s", "in_process": True})
    info = describe_run(config, {"bird": built_in("bird")}, bots, sandbox="none", started="")
    write_run(tmp_path, info)
    return tmp_path


def test_a_run_begins_again_with_its_own_bots_and_boards(run):
    request = tournament_request(Run(run))
    assert [bot.label for bot in request.bots] == ["greedy", "careful"]
    assert list(request.boards) == ["bird"]


@pytest.mark.parametrize(
    "changes",
    [
        {"boards": ["lion"]},
        {"boards": ["bird", "bird"]},
        {"bots": ["greedy", "zoe"]},
        {"bots": ["greedy", "careful", "zoe"]},
    ],
)
def test_settings_that_name_what_is_not_there_are_refused(run, changes, refused):
    info = read_run(run)
    config = msgspec.structs.replace(info.config, **changes)
    write_run(run, msgspec.structs.replace(info, config=config))
    with refused(ConfigError):
        tournament_request(Run(run))
