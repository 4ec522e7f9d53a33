"""What the first page tells somebody who has never seen the arena: the published league's ladder,
games worth a look, and pictures of the game. All of it comes with the arena, so it is the same in
an empty home.
"""

from functools import cache
from typing import Any

from markupsafe import Markup

from arena.commands.published import LeaguePlace, published_league
from arena.commands.rungs import BUNDLED_RUNGS, EASY_BOTS
from arena.exports.grid import signed
from arena.exports.ground import framed, size
from arena.exports.report.animation import film_of
from arena.exports.report.charts import element
from arena.exports.scene import Film
from arena.match.replay import replay
from arena.records.record import GameRecord, name_of
from arena.rules.boards import find_board

HERO = "close"
"""The key of the game that plays itself at the top of the page."""
LEAST_ELO = -400.0
"""The lower end of the scale of ratings; bots below it are off the scale."""
SCALE = 200.0
"""The width of the scale in the units of its drawing."""


@cache
def welcome() -> dict[str, Any]:
    """The values for the templates of the first page: ``hero``, the ``game`` that plays itself and
    its ``film``; the published ``league``; ``leader``, the name of its best bot; ``ladder``, the
    rows of its table; and ``worth``, the games worth a look, each with the picture of its last
    position.
    """
    league = published_league()
    hero = league.game(HERO)
    assert hero is not None, "the file has the game"
    rows = {hero.record.board: find_board(hero.record.board).rows}
    return {
        "hero": {"game": hero, "film": film_of(hero.record, [hero.words], rows)},
        "league": league,
        "leader": name_of(league.places[0].bot),
        "ladder": _ladder(league.places),
        "worth": [(game, last_position(game.record)) for game in league.worth],
    }


def last_position(record: GameRecord) -> Markup:
    """The picture of the board at the end of the game of ``record``: an SVG whose shapes the page
    itself must define (`all_parts`).
    """
    board = find_board(record.board)
    film = Film(board)
    for step in replay(record, board):
        film.add(step.state, step.move)
    shown = sorted((film.elements[at] for at in film.frames[-1]), key=lambda one: one.layer)
    width, height = size(board)
    # our own drawing
    inside = Markup(framed(board, "".join(map(str, shown))))  # noqa: S704
    return element(
        "svg", inside, viewBox=f"0 0 {width} {height}", class_="still", aria_hidden="true"
    )


def league_words(bot: str) -> str:
    """The place of the bot called ``bot`` in the published league, a sentence; empty if it did not
    play there.
    """
    league = published_league()
    for row in _ladder(league.places):
        if row["bot"] == bot:
            place = f"at place {row['places']}, with an Elo of {row['elo']}"
            return f"In {league.name} it came in {place}."
    return ""


def _ladder(places: list[LeaguePlace]) -> list[dict[str, Any]]:
    """A row for each of the league's ``places``: the bot, a sentence about it, its range of places,
    and its rating as text; and ``bar``, the ends and the middle of its bar on the scale, None for a
    bot that is off the scale. Bots with options are left out.
    """
    most = max(place.high or place.elo for place in places)
    sentences = {**BUNDLED_RUNGS, **EASY_BOTS}

    def at(elo: float) -> float:
        """The distance of a rating from the left end of the scale, in the units of its drawing."""
        return round(SCALE * (max(elo, LEAST_ELO) - LEAST_ELO) / (most - LEAST_ELO), 1)

    rows = []
    # A bot with options has the same files as the bot without them, and nobody can play it here.
    for place in (each for each in places if ":" not in each.bot):
        is_on_scale = place.low is not None and place.high is not None and place.elo > LEAST_ELO
        rows.append(
            {
                "bot": place.bot,
                "sentence": sentences.get(place.bot, ""),
                "places": _range(place.rank_low, place.rank_high),
                "elo": f"{place.mark} {signed(place.elo)}".strip(),
                "wins": f"{100 * place.win_rate:.0f} %",
                "bar": (at(place.low or 0), at(place.elo), at(place.high or 0))
                if is_on_scale
                else None,
                "zero": at(0),
            }
        )
    return rows


def _range(low: int, high: int) -> str:
    """A range of places, such as 1 to 2, as text; or one place."""
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"
