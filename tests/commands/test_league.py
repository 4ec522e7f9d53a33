"""A league while it is played: what follows from the games of its members."""

import logging

import pytest

from arena.commands.league import Budget, LeaguePlay
from arena.commands.members import Members, league_request
from arena.players.sandbox.tiers import OPEN
from arena.tournament.runner import FIRST_GAMES
from arena.tournament.session import open_session
from arena.tournament.workers import Setup
from tests.exports.runs import game_of


@pytest.mark.parametrize(
    ("games", "status"), [(FIRST_GAMES - 1, "candidate"), (FIRST_GAMES, "aside")]
)
def test_a_candidate_that_forfeits_its_first_games_is_set_aside(tmp_path, games, status):
    bots = ["random", "greedy"]
    folder = tmp_path / "league"
    folder.mkdir()
    members = Members(tmp_path, folder, bots, str)
    members.admit(bots[:1], "benchmark")
    members.admit(bots[1:], "candidate")
    request = league_request(members, bots, {"in_process": True}, lambda _: OPEN, str)
    with open_session(folder, request, Setup(OPEN, logging.WARNING)) as session:
        forfeits = [(1, 1, "exit", "")]
        session.journal.append([game_of(bots, deal=deal, faults=forfeits) for deal in range(games)])
        assert LeaguePlay(members, Budget(games=0)).source(session, request.bots).issue(1) == []
    assert members.league.members["greedy"].status == status
