"""Finished games of built-in bots, for tests of what grades them."""

from arena.match.referee import play_alone
from arena.players.player import built_in
from arena.rules import boards
from arena.tournament.schedule import single_game

BIRD = boards.built_in("bird")


def game_of(*names, deal=0):
    plan = single_game("grading", "bird", deal, list(names))
    return play_alone(plan, BIRD, [built_in(name).choose for name in names], "here")


GAMES = [game_of("random", "greedy-8", deal=deal) for deal in range(3)]
