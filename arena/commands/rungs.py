"""The opponents of a person as rungs of a ladder, from the weakest to the strongest, and the rung
that a person with these results stands before.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from arena.commands.game import PastGame
from arena.commands.published import published_league

BUILT_IN_RUNGS = (
    ("random", "Places any tile anywhere. A first opponent, easy to beat."),
    ("greedy-2", "Looks at two of its moves, and takes the one with more pagodas."),
    ("greedy-4", "Looks at four of its moves, and takes the one with the most pagodas."),
    ("greedy-16", "Looks at sixteen of its moves, and takes the one with the most pagodas."),
    ("greedy", "Looks at all its moves, takes the most pagodas now, and never thinks ahead."),
    ("careful", "Counts what may grow and what may be lost."),
)
"""The built-in bots, from weak to strong, each with a sentence about it. In 4,320 games on the
board bird (60 deals with random, greedy-N and careful-N), each was clearly ahead of those before.
"""
BUNDLED_RUNGS = {
    "lookahead-python": "Thinks one round ahead, and guesses which tiles you hold.",
    "flatmc-python": "Tries each good move in many games, played on to the end.",
    "learner-python": "Has learnt in games against itself what a board is worth.",
    "ismcts-python": "Thinks many moves ahead, for all tiles that you may hold.",
    "engine-cpp": "The champion of the published league.",
}
"""The bundled bots that are stronger than all built-in ones, each with a sentence about it. Their
order is that of the published league's ratings. The other bundled bots play like built-in ones.
"""


EASY_BOTS = {
    "careful-python": "Counts what may grow and what may be lost.",
    "greedy-python": "Takes the most pagodas now, and never looks further.",
    "first-js": "Founds provinces beside free villages.",
    "random-python": "Places any tile anywhere.",
}
"""A sentence about each bundled bot that is no rung."""


class Rung(NamedTuple):
    """An opponent, ``bot``, with a ``sentence`` about it for people who do not know the game."""

    bot: str
    sentence: str


class PersonScore(NamedTuple):
    """How many games with two players a person has won against a bot, and how many lost. A shared
    win counts as neither.
    """

    won: int = 0
    lost: int = 0


def rungs(bots: Collection[str]) -> list[Rung]:
    """The opponents from the weakest to the strongest: all built-in ones, and those of the bundled
    ones that are among ``bots``, the names of the bots that can play here.
    """
    elo = {place.bot: place.elo for place in published_league().places}
    bundled = [Rung(bot, sentence) for bot, sentence in BUNDLED_RUNGS.items() if bot in bots]
    bundled.sort(key=lambda rung: elo[rung.bot])
    return [Rung(bot, sentence) for bot, sentence in BUILT_IN_RUNGS] + bundled


def scores(games: Iterable[PastGame]) -> dict[str, PersonScore]:
    """A person's score against each bot, by the bot's label, in those of the ``games`` that had two
    players and that the person played from the first tile.
    """
    counted = dict[str, PersonScore]()
    for game in games:
        if len(game.opponents) == 1 and not game.is_taken_over:
            [bot] = game.opponents
            before = counted.get(bot, PersonScore())
            won = before.won + (game.rank == 1 and not game.is_shared)
            counted[bot] = PersonScore(won, before.lost + (game.rank > 1))
    return counted


def next_rung(ladder: list[Rung], results: dict[str, PersonScore]) -> Rung | None:
    """The first rung above the strongest bot that the person has beaten; the lowest one if the
    person has beaten none, and None if they have beaten the strongest.
    """
    beaten = [at for at, rung in enumerate(ladder) if results.get(rung.bot, PersonScore()).won]
    above = beaten[-1] + 1 if beaten else 0
    return ladder[above] if above < len(ladder) else None


def easier_than(ladder: list[Rung], bot: str) -> Rung | None:
    """The rung below that of ``bot``; None if there is none, or if the bot is on no rung."""
    return _beside(ladder, bot, -1)


def harder_than(ladder: list[Rung], bot: str) -> Rung | None:
    """The rung above that of ``bot``; None if there is none, or if the bot is on no rung."""
    return _beside(ladder, bot, 1)


def companions(ladder: list[Rung], names: Sequence[str], count: int) -> list[str]:
    """The names of ``count`` more bots for a game against ``names``: the bots of the ``ladder``
    that are nearest in strength to the first of the names and not among them. Empty if ``count`` is
    less than 1; fewer if the ladder has no more.
    """
    bots = [rung.bot for rung in ladder]
    start = bots.index(names[0]) if names[0] in bots else len(BUILT_IN_RUNGS)
    others = [bot for bot in bots if bot not in names]
    others.sort(key=lambda bot: abs(bots.index(bot) - start))
    return others[: max(count, 0)]


def _beside(ladder: list[Rung], bot: str, way: int) -> Rung | None:
    """The rung ``way`` steps above that of ``bot`` (below it, if ``way`` is negative); None if
    there is none, or if the bot is on no rung.
    """
    places = [at + way for at, rung in enumerate(ladder) if rung.bot == bot]
    return ladder[places[0]] if places and 0 <= places[0] < len(ladder) else None
