"""The published league that comes with the arena."""

from arena.commands.published import TABLES, league_run, published_league
from arena.match.replay import audit
from arena.rules.boards import find_board
from tests.commands.publish import FILE, text


def test_the_file_is_what_the_runs_of_the_league_say():
    assert FILE.read_text() == text(), "python -m tests.commands.publish writes it anew"


def test_the_games_worth_a_look_are_games():
    league = published_league()
    assert [game.key for game in league.worth] == ["upset", "close", "large", "four"]
    for game in league.worth:
        assert audit(game.record, find_board(game.record.board)) is None
        assert game.record.ranks.count(1) == 1
    assert len(league.game("four").record.bots) == 4
    assert league.game("nothing") is None


def test_places_and_bars_are_those_of_the_standings():
    first, *_, last = published_league().places
    assert (first.bot, first.rank_low, first.low < first.elo < first.high) == (
        "engine-cpp",
        1,
        True,
    )
    assert (last.mark, last.low) == ("<", None)


def test_the_leagues_runs_come_with_the_arena():
    for players in TABLES:
        run = league_run(players)
        played, planned = run.progress()
        assert run.info.counting.players == players
        assert played == planned
    assert len(list(league_run(2).records())) == published_league().games
