"""Which opponents the page of each bot lists, and the games in which they met."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

from arena.exports.report.material import Material

MAX_PAGES = 60
MAX_OPPONENTS = 900
"""About the most rows about opponents on all pages together. The pages of 30 bots have 870 rows; a
row takes about 700 bytes.
"""
MIN_OPPONENTS = 8


class Meeting(NamedTuple):
    """A game of two bots that is on the page: its ``id``, and in ``words`` how it ended for the
    first of them against the other (won, lost or equal, by their ranks).
    """

    id: str
    words: str


def opponents_of(
    material: Material, meetings: Mapping[tuple[str, str], Any]
) -> dict[str, list[str]]:
    """For each bot with a page, the opponents listed on it, in the order of the standings: the
    opponents that it met and that are nearest in the standings, and those with a game on the page
    (``meetings``, see `meetings_of`).
    """
    names = material.bots
    met = set(material.tables.pairs[["bot", "opponent"]].itertuples(index=False, name=None))
    most = max(MIN_OPPONENTS, MAX_OPPONENTS // max(len(names[:MAX_PAGES]), 1))
    opponents = {}
    for place, name in enumerate(names[:MAX_PAGES]):
        distances: dict[str, int] = {}
        for other_place, other in enumerate(names):
            if (name, other) in met:
                distances[other] = abs(other_place - place)
        near = set(sorted(distances, key=distances.__getitem__)[:most])
        opponents[name] = [
            other for other in distances if other in near or (name, other) in meetings
        ]
    return opponents


def meetings_of(games: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Meeting]]:
    """For each pair (bot, opponent), the games among ``games`` in which both played, in their
    order; ``games`` are the games on the page, as data for the viewer.
    """
    meetings = defaultdict[tuple[str, str], list[Meeting]](list)
    for game in games:
        ranks = dict(zip(game["bots"], game["ranks"], strict=True))
        for (bot, rank), (other, rival) in permutations(ranks.items(), 2):
            words = "won" if rank < rival else "lost" if rank > rival else "equal"
            meetings[bot, other].append(Meeting(game["id"], words))
    return meetings
