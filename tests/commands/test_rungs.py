"""The opponents of a person as rungs of a ladder."""

from arena.commands.game import PastGame
from arena.commands.published import published_league
from arena.commands.rungs import (
    BUILT_IN_RUNGS,
    BUNDLED_RUNGS,
    PersonScore,
    easier_than,
    harder_than,
    next_rung,
    rungs,
    scores,
)
from arena.players.player import NAME
from arena.players.registry import ladder

ALL = rungs(ladder())


def game(bot, rank, *further, is_shared=False):
    return PastGame("run", "id", "bird", [bot, *further], rank, "", is_shared)


def test_rungs_go_from_random_to_the_champion_and_bundled_bots_by_their_ratings():
    assert (ALL[0].bot, ALL[-1].bot) == ("random", "engine-cpp")
    assert all(NAME.fullmatch(bot) for bot, _ in BUILT_IN_RUNGS)
    best = [place.bot for place in published_league().places if place.bot in BUNDLED_RUNGS]
    assert [rung.bot for rung in ALL[-len(best) :]] == best[::-1]
    assert all(rung.sentence.endswith(".") for rung in ALL)


def test_a_bot_that_is_not_here_is_no_rung():
    assert [rung.bot for rung in rungs(["engine-cpp"])] == [
        *(bot for bot, _ in BUILT_IN_RUNGS),
        "engine-cpp",
    ]


def test_scores_count_duels_and_no_shared_win():
    games = [
        game("random", 1),
        game("random", 1, is_shared=True),
        game("random", 2),
        game("random", 1, "greedy"),
    ]
    assert scores(games) == {"random": PersonScore(1, 1)}


def test_the_next_rung_is_above_the_strongest_bot_that_was_beaten():
    assert next_rung(ALL, {}) == ALL[0]
    assert next_rung(ALL, {"random": PersonScore(0, 3)}) == ALL[0]
    assert (
        next_rung(ALL, {"greedy-4": PersonScore(1, 4), "careful": PersonScore(0, 2)}).bot
        == "greedy-16"
    )
    assert next_rung(ALL, {"engine-cpp": PersonScore(1, 0)}) is None


def test_every_bot_has_the_rungs_beside_it():
    assert easier_than(ALL, "random") is None
    assert easier_than(ALL, "greedy").bot == "greedy-16"
    assert harder_than(ALL, "careful").bot == "lookahead-python"
    assert harder_than(ALL, "engine-cpp") is None
    assert harder_than(ALL, "my-bot") is None
