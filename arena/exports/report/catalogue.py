"""The list of the games on a page: the largest upsets first, and for each game by how much it was
won.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from arena.exports.report.choice import margin_of, without_nan


class Listed(NamedTuple):
    """A game in the list.

    ``game``     the data of the game for the viewer, see `viewer_data.game_object`
    ``winners``  the bots that won or shared the game
    ``upset``    by how many Elo the best loser is rated above the best winner; NaN if it is not
                 rated above
    ``lead``     the winner's lead in pagodas, 0 if all seats share the win; NaN after a forfeit
    """

    game: Mapping[str, Any]
    winners: list[str]
    upset: float
    lead: float


def catalogue_of(games: Sequence[Mapping[str, Any]], elo: Mapping[str, float]) -> list[Listed]:
    """The ``games`` on a page (data for the viewer) in the order of the list: upsets, the largest
    first, then the other games in the order given. ``elo`` has the ratings by bot; NaN stands for
    no rating.
    """
    rated = without_nan(elo)
    listed = [_listed(game, rated) for game in games]
    return sorted(listed, key=lambda each: -each.upset if isfinite(each.upset) else 0.0)


def _listed(game: Mapping[str, Any], rated: Mapping[str, float]) -> Listed:
    """The entry of ``game`` in the list; ``rated`` has the ratings by bot."""
    margin = margin_of(game["bots"], game["ranks"], rated)
    winners = []
    left_of_winners = []
    left_of_losers = []
    for bot, rank, left in zip(game["bots"], game["ranks"], game["left"], strict=True):
        if rank == 1:
            winners.append(bot)
            left_of_winners.append(left)
        else:
            left_of_losers.append(left)
    lead = min(left_of_losers) - left_of_winners[0] if left_of_losers else 0
    return Listed(
        game=game,
        winners=winners,
        upset=margin if margin > 0 else float("nan"),
        lead=float("nan") if game["faults"] else lead,
    )
