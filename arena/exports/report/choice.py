"""Which games a page shows, out of how many there may be: the faults, the surprising ones, the extreme ones, then the latest."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.exports.report.scan import Scan
from arena.exports.text import MISSING
from arena.rules.terms import LAST_PAGODA

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Reasons = dict[int, list[str]]
"""Games by number, each with why it was chosen."""

SURPRISING = 1.0
"""Elo by which the winner must be rated lower."""


class Field:
    """The games to choose from: all of a frame that ``may_show`` allows.

    ``starts`` (G,) the first row of each game in the frame; ``order`` the allowed games, the latest first; ``clean`` those of them
    without a fault.
    """

    def __init__(self, frame: pd.DataFrame, scan: Scan, elo: Mapping[str, float], may_show: NDArray[np.bool_]) -> None:
        self.scan = scan
        self.starts = np.flatnonzero(frame["seat"].to_numpy() == 0)
        self.order = np.flatnonzero(may_show)[::-1]
        self.allowed = may_show
        faulty = np.logical_or.reduceat(frame["forfeit"].to_numpy(), self.starts) if len(self.starts) else may_show
        self.clean = self.order[~faulty[self.order]]
        self.names = frame["bot"].cat.categories.astype(str)
        self.codes = frame["bot"].cat.codes.to_numpy(dtype=np.int64)
        self.size = frame["seats"].to_numpy(dtype=np.int64)[self.starts]
        self.rating = np.array([elo.get(name, np.nan) for name in self.names])[self.codes]
        self.rank, self.left = frame["rank"].to_numpy(dtype=np.int64), frame["left"].to_numpy(dtype=np.int64)

    def bots(self, game: int) -> list[str]:
        """Who sat at the table, by seat."""
        start = self.starts[game]
        return [str(self.names[code]) for code in self.codes[start : start + self.size[game]]]

    def by_game(self, values: Floats, join: np.ufunc) -> Floats:
        """The values of each game's seats joined into one."""
        return np.asarray(join.reduceat(values, self.starts), dtype=np.float64)


def choose_games(field: Field, count: int) -> Reasons:
    """At most ``count`` games."""
    chosen: Reasons = {}
    some = max(1, count // 8)
    sources: list[tuple[int, Iterator[tuple[int, str]]]] = [
        (count // 3, _faults(field)),
        (some, _upsets(field)),
        (some, _closest(field)),
        (max(1, some // 2), _by_length(field, longest=True)),
        (max(1, some // 2), _by_length(field, longest=False)),
        (count, _latest_of_pairings(field)),
        (count, ((int(game), "latest") for game in field.order)),
    ]
    for share, source in sources:
        for game, reason in islice(source, share):
            if game in chosen or len(chosen) < count:
                chosen.setdefault(game, []).append(reason)
    return {game: [reason for reason in reasons if reason != "latest" or len(reasons) == 1] for game, reasons in chosen.items()}


def _faults(field: Field) -> Iterator[tuple[int, str]]:
    """The latest game of each kind of fault, then of each bot with it."""
    newest = [forfeited for forfeited in reversed(field.scan.faults) if field.allowed[forfeited.game]]
    kinds = {forfeited.fault.kind: forfeited for forfeited in reversed(newest)}
    bots = {(forfeited.fault.kind, forfeited.bot): forfeited for forfeited in reversed(newest)}
    seen: set[tuple[str, str]] = set()
    for forfeited in (*kinds.values(), *bots.values()):
        key = forfeited.fault.kind, forfeited.bot
        if key not in seen:
            seen.add(key)
            yield forfeited.game, f"fault: {forfeited.fault.kind}"


def _upsets(field: Field) -> Iterator[tuple[int, str]]:
    """The latest game of each pair in which the lower rated bot won, the widest difference first."""
    if not len(field.clean):
        return
    won = field.rank == 1
    beaten = field.by_game(np.where(won | np.isnan(field.rating), -np.inf, field.rating), np.maximum)
    winner = field.by_game(np.where(won & ~np.isnan(field.rating), field.rating, -np.inf), np.maximum)
    with np.errstate(invalid="ignore"):
        margin = (beaten - winner)[field.clean]
    keep = np.isfinite(margin) & (margin > SURPRISING)
    games, margin = field.clean[keep], margin[keep]
    _, latest = np.unique(np.round(margin, 3), return_index=True)  # of each difference the first, which is the latest game
    for place in latest[::-1]:
        yield int(games[place]), f"upset: by {margin[place]:.0f} Elo"


def _closest(field: Field) -> Iterator[tuple[int, str]]:
    """The games with the smallest lead, longer ones first."""
    if not len(field.clean):
        return
    won = field.rank == 1
    best = field.by_game(field.left.astype(np.float64), np.minimum)
    second = field.by_game(np.where(won, np.inf, field.left), np.minimum)
    shared = field.by_game(won.astype(np.float64), np.add) > 1
    lead = np.where(shared, 0, second - best)[field.clean]
    for place in np.lexsort((-field.scan.turns[field.clean], lead)):
        yield int(field.clean[place]), f"close: {_lead_text(lead[place])}"


def _lead_text(lead: float) -> str:
    return "a shared win" if lead == 0 else f"won by {lead:.0f} pagoda{'' if lead == 1 else 's'}"


def _by_length(field: Field, *, longest: bool) -> Iterator[tuple[int, str]]:
    """Games by their number of placements; the short ones among those that somebody won with the last pagoda."""
    games = field.clean
    if not longest and LAST_PAGODA in field.scan.ends:
        games = games[field.scan.end[games] == field.scan.ends.index(LAST_PAGODA)]
    turns = field.scan.turns[games]
    for place in np.argsort(-turns if longest else turns, kind="stable"):
        yield int(games[place]), f"{'long' if longest else 'short'}: {turns[place]} turns"


def _latest_of_pairings(field: Field) -> Iterator[tuple[int, str]]:
    """The latest game of each line-up, those of high ratings first."""
    found: dict[tuple[int, ...], int] = {}
    for size in np.unique(field.size):
        games = field.order[field.size[field.order] == size]
        seated = np.sort(field.codes[field.starts[games][:, None] + np.arange(size)], axis=1)
        keys, first = np.unique(seated, axis=0, return_index=True)
        found |= {tuple(key): int(games[at]) for key, at in zip(keys.tolist(), first, strict=True)}
    rating = {int(code): value for code, value in zip(field.codes, field.rating, strict=True)} if found else {}
    strength: Callable[[tuple[int, ...]], float] = lambda key: -sum(np.nan_to_num(rating[code]) for code in key)  # noqa: E731
    for key in sorted(found, key=lambda key: (strength(key), key)):
        yield found[key], f"latest of {' + '.join(field.names[code] for code in key) or MISSING}"
