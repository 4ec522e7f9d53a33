"""Runs that are played within the test's own process."""

from arena.match.referee import Referee
from arena.players.player import InProcessPlayer, first_move, random_move
from arena.records.journal import Journal
from arena.records.runfile import BotInfo, RunInfo, write_run
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.consistency import make_config
from arena.tournament.schedule import Schedule

PLAYERS = {"ann": random_move, "bob": first_move, "cy": random_move, "dee": random_move}


def play_run(folder, names=("ann", "bob", "cy"), **settings):
    """A run played in this process, on disk as the arena leaves it."""
    config = make_config({"bots": list(names), "seed": "tables", **settings})
    bots = [BotInfo(name, "1", "0" * 64, ["x"]) for name in names]
    boards = {name: list(built_in(name).rows) for name in config.boards}
    write_run(
        folder,
        RunInfo("0", 1, "pure", 1, config, boards, bots, "tables", "none", "2026-01-01T00:00:00Z"),
    )
    with Journal(folder) as journal:
        for plan in Schedule(config):
            players = [InProcessPlayer(name, PLAYERS[name]) for name in plan.bots]
            journal.append([Referee(plan, built_in(plan.board), players, Timing()).play().record])
    return folder
