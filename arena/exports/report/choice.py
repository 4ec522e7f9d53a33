"""Chooses the games for a page: first close ones, then upsets, extreme games, the best and the
worst of each bot, and the latest, last those with faults.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from arena.exports.report.feats import feats
from arena.exports.report.scan import Scan
from arena.exports.text import MISSING
from arena.rules.terms import LAST_PAGODA

Reasons = dict[int, list[str]]
"""Games by number, each with the reasons it was chosen."""

SURPRISING = 1.0
"""The least number of Elo points by which the winner must be rated lower."""


class Field:
    """The games to choose from: those of a scan that ``may_show`` allows.

    ``order`` (n,) are the allowed games, latest first; ``clean`` are those without a fault; ``elo``
    is by bot.
    """

    def __init__(self, scan: Scan, elo: Mapping[str, float], may_show: NDArray[np.bool_]) -> None:
        self.scan, self.elo, self.allowed = scan, elo, may_show
        self.order = np.flatnonzero(may_show)[::-1]
        faulty = np.zeros(len(may_show), dtype=np.bool_)
        faulty[[forfeited.game for forfeited in scan.faults]] = True
        self.clean = self.order[~faulty[self.order]]


def choose_games(field: Field, count: int) -> Reasons:
    """At most ``count`` games."""
    chosen: Reasons = {}
    some = max(1, count // 8)
    sources: list[tuple[int, Iterator[tuple[int, str]]]] = [
        (some, _closest(field)),
        (some, _same_deals(field, chosen)),
        (some, _upsets(field)),
        (count // 3, _faults(field)),
        (max(1, some // 2), _by_length(field, longest=True)),
        (max(1, some // 2), _by_length(field, longest=False)),
        (count // 3, _feats(field)),
        (count, _latest_of_pairings(field)),
        (count, ((int(game), "latest") for game in field.order)),
    ]
    for share, source in sources:
        for game, reason in islice(source, share):
            if game in chosen or len(chosen) < count:
                chosen.setdefault(game, []).append(reason)
    faulty = {forfeited.game for forfeited in field.scan.faults}
    return {
        game: [reason for reason in reasons if reason != "latest" or len(reasons) == 1]
        for game, reasons in sorted(chosen.items(), key=lambda item: item[0] in faulty)
    }


def _faults(field: Field) -> Iterator[tuple[int, str]]:
    """The latest game with each kind of fault, then with each kind and bot."""
    newest = [
        forfeited for forfeited in reversed(field.scan.faults) if field.allowed[forfeited.game]
    ]
    kinds = {forfeited.fault.kind: forfeited for forfeited in reversed(newest)}
    bots = {(forfeited.fault.kind, forfeited.bot): forfeited for forfeited in reversed(newest)}
    seen: set[tuple[str, str]] = set()
    for forfeited in (*kinds.values(), *bots.values()):
        key = forfeited.fault.kind, forfeited.bot
        if key not in seen:
            seen.add(key)
            yield forfeited.game, f"fault: {forfeited.fault.kind}"


def _upsets(field: Field) -> Iterator[tuple[int, str]]:
    """For each pair of bots, the latest game that the lower-rated one won; the widest difference
    first.
    """
    margins = np.array(
        [_margin(bots, ranks, field.elo) for _, bots, ranks in field.scan.outcomes] or [0.0]
    )
    games = field.clean[(margins > SURPRISING)[field.scan.outcome[field.clean]]]
    margin = margins[field.scan.outcome[games]]
    # the first of each difference is the latest game
    _, latest = np.unique(np.round(margin, 3), return_index=True)
    for place in latest[::-1]:
        yield int(games[place]), f"upset: by {margin[place]:.0f} Elo"


def _margin(bots: Sequence[str], ranks: Sequence[int], elo: Mapping[str, float]) -> float:
    """How far the best-rated loser is rated above the best-rated winner; 0 if unknown."""
    rated = [
        (elo[bot], rank)
        for bot, rank in zip(bots, ranks, strict=True)
        if isfinite(elo.get(bot, nan))
    ]
    beaten, winners = (
        [value for value, rank in rated if (rank == 1) == won] for won in (False, True)
    )
    return max(beaten) - max(winners) if beaten and winners else 0.0


def _closest(field: Field) -> Iterator[tuple[int, str]]:
    """The games with the smallest lead, longer ones first."""
    if not len(field.clean):
        return
    scan, lead = field.scan, field.scan.leads()[field.clean]
    for place in np.lexsort((-scan.turns[field.clean], lead)):
        yield int(field.clean[place]), f"close: {_lead_text(lead[place])}"


def _same_deals(field: Field, chosen: Reasons) -> Iterator[tuple[int, str]]:
    """The games of the deals chosen so far with other seats, so that a page can show both."""
    scan = field.scan
    line_ups = [(board, sorted(bots)) for board, bots, _ in scan.outcomes]
    for game in list(chosen):
        own = line_ups[scan.outcome[game]]
        is_own = scan.by_game(line_up == own for line_up in line_ups) == 1
        for other in np.flatnonzero(is_own & (scan.deal == scan.deal[game]) & field.allowed):
            if other != game:
                yield int(other), "same deal, other seats"


def _lead_text(lead: float) -> str:
    return "a shared win" if lead == 0 else f"won by {lead:.0f} pagoda{'' if lead == 1 else 's'}"


def _by_length(field: Field, *, longest: bool) -> Iterator[tuple[int, str]]:
    """Games by their number of placements; the short ones only from games won by placing the last
    pagoda.
    """
    games = field.clean
    if not longest and LAST_PAGODA in field.scan.ends:
        games = games[field.scan.end[games] == field.scan.ends.index(LAST_PAGODA)]
    turns = field.scan.turns[games]
    for place in np.argsort(-turns if longest else turns, kind="stable"):
        yield int(games[place]), f"{'long' if longest else 'short'}: {turns[place]} turns"


def _feats(field: Field) -> Iterator[tuple[int, str]]:
    """The best win and the worst loss of each bot, highest ratings first."""
    told = feats(field.scan, field.elo, field.clean, 1)
    for bot in sorted(told, key=lambda bot: (-np.nan_to_num(field.elo.get(bot, 0.0)), bot)):
        for name, found in (("best win", told[bot].wins), ("worst loss", told[bot].losses)):
            yield from ((feat.game, f"{name} of {bot}") for feat in found)


def _latest_of_pairings(field: Field) -> Iterator[tuple[int, str]]:
    """The latest game of each line-up, highest ratings first."""
    latest = np.full(len(field.scan.outcomes), -1)
    np.maximum.at(latest, field.scan.outcome[field.order], field.order)
    found: dict[tuple[str, ...], int] = {}
    for (_, bots, _), game in zip(field.scan.outcomes, latest.tolist(), strict=True):
        line_up = tuple(sorted(bots))
        found[line_up] = max(game, found.get(line_up, -1))
    strength: Callable[[tuple[str, ...]], float] = lambda key: (  # noqa: E731
        -sum(np.nan_to_num(field.elo.get(bot, 0.0)) for bot in key)
    )
    for key in sorted(found, key=lambda key: (strength(key), key)):
        if found[key] >= 0:
            yield found[key], f"latest of {' + '.join(key) or MISSING}"
