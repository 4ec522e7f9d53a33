"""Which steps down the table of ratings are clear, about how many more deals would settle the
others, the sentences that say so, and how precise ratings are.

A step from one place to the next is *clear* if each bot above it is clearly above each bot below
it, by the same tests of pairs that the ranges of ranks come from. All of these together are right
with 95 % confidence. The bots between two clear steps are a *group*.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from math import floor, inf, isinf, log10, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.errors import counted
from arena.ratings.bounds import Bound
from arena.ratings.fit import Fit
from arena.ratings.intervals import RISK
from arena.ratings.model import (
    FEW_DEALS,
    Component,
    Defeat,
    Ratings,
    chances_of_equals,
    clearly_above,
    rate,
    risk_of_order,
)
from arena.ratings.results import Flags, Floats, Ints, Results
from arena.ratings.scipy_parts import stdtrit
from arena.ratings.sequential import FAR
from arena.ratings.tally import score_journal

MAX_TIMES = 10
"""If even this many times the deals played would not make a difference clear, the number of deals
that would settle it is not given.
"""
LIKELY = 0.84
"""The 80 % quantile of the normal distribution: if the true difference is this many standard errors
more than needed, it is found to be clear in four of five cases.
"""
FINER = 1.1
APART = 200.0
"""Bots that seem to be further apart than this many Elo are not called too close to call: the
better one of two bots 200 Elo apart wins 76 % of their games.
"""
NAMED = 3
"""The most bots whose names are listed in a sentence; of more bots only the first and the last are
named.
"""
MAX_STEPS = 3
MAX_GROUPS = 4


class Group(NamedTuple):
    """Bots between two clear steps, the best first.

    ``bots``        the numbers of the bots in the results
    ``ahead_of``    the index in ``bots`` from which on each bot is clearly behind the first; None
                    if the last bot is not
    ``is_alike``    whether no two bots of the group clearly differ, or seem to differ by more than
                    `APART` Elo
    ``is_unknown``  whether nothing is known yet about the order: no bot is clearly behind the
                    first, and the 95 % interval of the step nearest to being clear reaches further
                    than `FAR` Elo to either side
    ``nearest``     the index in ``bots`` of the bot whose difference from the next one is, of those
                    that are not clear, nearest to being so
    ``more``        about how many more deals would make that difference clear, if it is the true
                    one; infinite beyond `MAX_TIMES` the deals played, None if the deals do not give
                    an error, if all neighbours clearly differ, and for a group of one
    """

    bots: list[int]
    ahead_of: int | None = None
    is_alike: bool = True
    nearest: int = 0
    more: float | None = None
    is_unknown: bool = False


def placed_bots(fit: Fit) -> Flags:
    """(n,) whether each bot of ``fit`` takes part in the order: it has an error bar and enough
    deals not to be marked ``?``. If fewer than two bots have both, an error bar alone is enough. A
    newcomer's wide error bar would otherwise leave no step clear.
    """
    known = np.isfinite(fit.half_widths())
    settled = np.asarray(known & ~fit.is_few, dtype=np.bool_)
    return settled if settled.sum() > 1 else known


def groups_of(fit: Fit, risk: float = RISK) -> list[Group]:
    """The groups of the bots of ``fit``, the best first, without bots that `placed_bots` leaves
    out. The probability that any pair is wrongly called clear is at most ``risk``.
    """
    order = np.argsort(-fit.elo, kind="stable")
    order = order[placed_bots(fit)[order]]
    chance = chances_of_equals(fit)
    is_above = clearly_above(fit, chance, risk)
    # Row i, column j: whether a bot from the best to the i-th is not clearly above one from the
    # j-th to the last.
    is_open = np.logical_or.accumulate(~is_above[np.ix_(order, order)], axis=0)
    is_open = np.logical_or.accumulate(is_open[:, ::-1], axis=1)[:, ::-1]
    edges = [0, *(np.flatnonzero(~np.diag(is_open, 1)) + 1).tolist(), len(order)]
    # By Holm's method the surest of the open pairs has to be as sure as if it were one of so many.
    open_pairs = int((np.isfinite(chance) & ~is_above & ~is_above.T).sum() - len(fit.elo)) // 2
    groups = []
    for start, end in pairwise(edges):
        if start < end:
            group = _group(fit, order[start:end], is_above, chance, risk / max(open_pairs, 1))
            groups.append(group)
    return groups


def _group(fit: Fit, held: Ints, is_above: Flags, chance: Floats, risk: float) -> Group:
    """The group of the bots ``held``, indices of ``fit`` from the best bot on. ``is_above`` and
    ``chance`` are `clearly_above` and `chances_of_equals` for all bots of ``fit``. ``risk`` is the
    p value at which the next pair becomes clear.
    """
    bots = fit.members[held].tolist()
    if len(bots) == 1:
        return Group(bots)
    square = np.ix_(held, held)
    is_above = is_above[square]
    steps = np.diag(fit.difference_error()[square], 1)
    difference = -np.diff(fit.elo[held])
    ratio = np.divide(difference, steps, out=np.zeros(len(steps)), where=steps > 0)
    # A vague bot may keep a step from being clear although the two neighbours clearly differ.
    is_open = ~np.diag(is_above, 1)
    nearest = int(np.where(is_open, ratio, -inf).argmax())
    behind = int(np.flatnonzero(~is_above[0]).max()) + 1
    deals = float(fit.deals[held[nearest : nearest + 2]].min())
    is_known = is_open[nearest] and steps[nearest] > 0
    widest = float(fit.elo[held[0]] - fit.elo[held[-1]])
    halves = np.diag(fit.difference_half_widths()[square], 1)
    pairs = chance[square][np.triu_indices(len(bots), 1)]
    return Group(
        bots,
        behind if behind < len(bots) else None,
        not (pairs <= RISK).any() and widest <= APART,
        nearest,
        _more(ratio[nearest], deals, risk) if is_known else None,
        is_unknown=bool(halves[nearest] > FAR) and behind == len(bots),
    )


def _more(ratio: float, deals: float, risk: float) -> float:
    """About how many more deals make a difference clear that is now ``ratio`` standard errors,
    after ``deals`` deals, if its p value must be at most ``risk``: errors shrink with the square
    root of the number of deals. Infinite if it is more than `MAX_TIMES` the deals.
    """
    times = FINER
    while times <= 1 + MAX_TIMES:
        quantile = float(stdtrit(max(deals * times - 1, 1), 1 - risk / 2))
        if ratio * sqrt(times) >= quantile + LIKELY:
            return deals * (times - 1)
        times *= FINER
    return inf


def order_sentences(bots: Sequence[str], ratings: Ratings, unit: str = "deal") -> list[str]:
    """Sentences about the order of the bots by their ``ratings``, for the largest `MAX_GROUPS`
    components; clear steps come first. ``bots`` are the names by the bots' numbers, ``unit`` is the
    word for a group of games with shared luck.
    """
    sentences: list[str] = []
    for part in ratings.components[:MAX_GROUPS]:
        if part.fit:
            sentences += _of_rated(bots, part, part.fit, unit)
        else:
            sentences += _of_unrated(bots, part)
    # a sentence that applies to several components is given once
    return list(dict.fromkeys(sentences))


def _of_unrated(bots: Sequence[str], part: Component) -> Iterator[str]:
    """Sentences on the component ``part``, in which no bot has a rating."""
    above = part.bounds_on(">")
    if above and above[0].is_clear.all():
        yield f"{bots[above[0].member]} is clearly ahead of {bots[above[0].rivals[0]]}."
        return
    if above:
        yield "Nothing is clear yet."
    yield from _beaten(bots, part.defeats)


def _beaten(bots: Sequence[str], defeats: Sequence[Defeat]) -> Iterator[str]:
    """A sentence on how bots without a rating did against each other; none without ``defeats``."""
    results = []
    for defeat in defeats[:MAX_GROUPS]:
        score = f"{defeat.won:,} to {defeat.lost:,}"
        shared = f", with {defeat.shared:,} shared" if defeat.shared else ""
        results.append(f"{bots[defeat.bot]} beat {bots[defeat.other]} {score}{shared}")
    if results:
        yield f"{'; '.join(results)}."


def _of_rated(bots: Sequence[str], part: Component, fit: Fit, unit: str) -> Iterator[str]:
    """Sentences on the component ``part``, whose rated bots have this ``fit``."""
    groups = groups_of(fit, risk_of_order(part, fit))
    known = placed_bots(fit)
    yield from _clear([_named(bots, group.bots) for group in groups], part.bounds)
    rated = "all rated bots" if part.is_rated else bots[fit.members[0]]
    yield from _outside(bots, part.bounds, rated)
    yield from _beaten(bots, part.defeats)
    close = [group for group in groups if group.more is not None]
    for group in close[:MAX_GROUPS]:
        yield _too_close(_named(bots, group.bots), group, unit)
    unnamed = len(close) - MAX_GROUPS
    if unnamed > 0:
        yield f"So {_are(unnamed)} {counted(unnamed, 'more group')} further down."
    few = _named(bots, fit.members[~known])
    if known.any() and few:
        have = "has" if len(few) == 1 else "have"
        yield f"{_listed(few)} {have} played too few {unit}s to be placed."
    elif few:
        yield f"There are too few {unit}s for error bars, so nothing is clear yet."


def _named(bots: Sequence[str], numbers: Iterable[int]) -> list[str]:
    """The names of the bots with these ``numbers``, from ``bots``, the names by number."""
    return [bots[number] for number in numbers]


def _clear(groups: Sequence[Sequence[str]], outside: Sequence[Bound]) -> Iterator[str]:
    """A sentence that says which ``groups`` of bots are clearly ahead of which; none for a single
    group. ``outside`` are the bounds of the bots that are not in the groups.
    """
    alone = sum(len(group) == 1 for group in groups)
    if len(groups) < 2:  # noqa: PLR2004 - nobody is behind
        return
    if len(groups) - 1 > MAX_STEPS:
        others = len(groups) - alone
        whole = "Every rated bot" if outside else "Every bot"
        but = "one exception" if others == 1 else f"{others} exceptions"
        yield f"{whole} is clearly ahead of all below it{f', with {but}' if others else ''}."
        return
    links = []
    for above, below in pairwise(groups):
        links.append(f"{_are(len(above))} clearly ahead of {_listed(below)}")
    yield f"{_listed(groups[0])} {', which '.join(links)}."


def _outside(bots: Sequence[str], bounds: Sequence[Bound], rated: str) -> Iterator[str]:
    """Sentences that compare the bots with these ``bounds`` with the rated bots, clear cases first;
    ``rated`` is the phrase for the rated bots.
    """
    for side, where in ((">", "ahead of"), ("<", "behind")):
        here = [bound for bound in bounds if bound.side == side]
        clear = [bots[bound.member] for bound in here if bound.is_clear.all()]
        if clear:
            yield f"{_listed(clear)} {_are(len(clear))} clearly {where} {rated}."
        # Bots of which the same is said share a sentence.
        alike = defaultdict[str, list[str]](list)
        for bound in here:
            if not bound.is_clear.all():
                alike[_partly(bots, bound, where)].append(bots[bound.member])
        for phrase, names in islice(alike.items(), MAX_GROUPS):
            yield f"{_listed(names)} {_are(len(names))} {phrase}."


def _partly(bots: Sequence[str], bound: Bound, where: str) -> str:
    """The end of the sentence "X is …" about the bot of ``bound``, which is not clearly ``where``
    ("ahead of" or "behind") every rated bot. It names or counts the rated bots from which the bot
    is not yet clearly apart. ``bots`` are the names by number.
    """
    others = _named(bots, bound.rivals[~bound.is_clear])
    count = len(bound.rivals)
    if len(others) == count:
        return f"not yet clearly {where} {others[0] if count == 1 else 'any rated bot'}"
    if len(others) > NAMED:
        return f"not yet clearly {where} {len(others)} of the {count} rated bots"
    return f"not yet clearly {where} {_listed(others)}, but clearly {where} all other rated bots"


def _too_close(names: Sequence[str], group: Group, unit: str) -> str:
    """A sentence on the bots ``names`` of a ``group``, which have no clear order."""
    if group.is_unknown:
        return f"Nothing is known yet about the order of {_listed(names)}."
    if group.is_alike:
        text = f"{_listed(names)} are too close to call"
    elif len(names) == 2:  # noqa: PLR2004 - a pair has one step
        text = f"{names[0]} is probably ahead of {names[1]}, but that is not clear yet"
    else:
        text = (
            f"The order of the {len(names)} bots from {names[0]} down to {names[-1]} is not clear"
            " yet"
        )
    if group.ahead_of is not None:
        behind = _listed(names[group.ahead_of :])
        text += f", but {names[0]} is clearly ahead of {behind}"
    return f"{text}; {_wanted(names, group, unit)}."


def _wanted(names: Sequence[str], group: Group, unit: str) -> str:
    """A phrase that says about how many more deals, or other ``unit``, would settle the step of the
    ``group`` that is nearest to being clear, if the difference is the one that the deals show.
    """
    # In simulations of 2 to 15 bots the number of deals settles the step in 87 to 92 % of cases if
    # the difference is the one that the deals show, and in 69 to 76 % over all true differences.
    assert group.more is not None, "a group of several"
    is_pair = len(names) == 2  # noqa: PLR2004 - two bots
    if isinf(group.more):
        apart = "to tell even two neighbours apart" if group.is_alike else "to make it clear"
        what = "it" if is_pair else apart
        return f"{what} would take more than {MAX_TIMES} times the {unit}s played"
    above, below = names[group.nearest : group.nearest + 2]
    more = one_digit(group.more)
    difference = (
        "their true difference" if is_pair else f"the true difference of {above} and {below}"
    )
    more_deals = f"about {more:,} more {unit}{'' if more == 1 else 's'}"
    which = "which is better" if is_pair else "which of these two is better"
    return f"if the table shows {difference}, {more_deals} would settle {which}"


def one_digit(value: float) -> int:
    """``value`` rounded to one significant digit, at least 1."""
    power = int(10 ** floor(log10(max(value, 1))))
    return max(round(value / power), 1) * power


def _listed(names: Sequence[str]) -> str:
    """The names as a phrase, such as ``a, b and c``, or ``a to f (6 bots)`` for many."""
    if len(names) > NAMED:
        return f"{names[0]} to {names[-1]} ({len(names)} bots)"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


class Precision(NamedTuple):
    """How precise the ratings of a run are.

    ``widest``  the half-width in Elo of the widest 95 % interval; infinite if a bot has no interval
                and may still get one
    ``games``   about how many more games make all intervals as narrow as wanted; infinite if
                unknown
    """

    widest: float
    games: float


def rate_journal(
    journal: Path, bots: Sequence[str], match: Sequence[str] = (), *, own_decks: bool = False
) -> tuple[Results, Ratings]:
    """Reads a journal and rates what it has between ``bots``, the bots of the run: matches on the
    boards ``match``, or single games if ``match`` is empty. ``own_decks`` says that line-ups play
    different decks under the same deal numbers. Raises RunError, NoAnswerError.
    """
    score = score_journal(journal, match, own_decks=own_decks)
    results = score.counted.counts(bots).results
    return results, rate(results)


def precision(results: Results, ratings: Ratings, until: float) -> Precision:
    """The half-width in Elo of the widest interval of ``ratings``, and about how many more games
    than in ``results`` are needed until each interval reaches at most ``until`` Elo to either side.
    """
    widths = np.full(len(results.bots), np.inf)
    games = results.played()
    widths[_settled(ratings)] = 0
    for fit in ratings.fits:
        widths[fit.members] = np.nan_to_num(fit.half_widths(), nan=np.inf)
    if np.isinf(widths).any():  # this also holds for a bot without games
        return Precision(inf, inf)
    # Half-widths shrink with the root of the number of games.
    seats = games.sum() / max(results.games, 1)
    more = (games * np.maximum((widths / until) ** 2 - 1, 0)).sum() / seats
    return Precision(float(widths.max()), float(more))


def _settled(ratings: Ratings) -> list[int]:
    """The numbers of the bots without a rating that have a bound from at least `FEW_DEALS` deals.
    These may never get an interval, so a run does not wait for one. A bot with fewer deals may just
    have had bad luck.
    """
    settled = []
    for part in ratings.components:
        for bound in part.bounds if part.fit else ():
            if bound.deals >= FEW_DEALS and np.isfinite(bound.elo):
                settled.append(bound.member)
    return settled
