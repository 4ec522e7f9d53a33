"""Who is clearly ahead of whom, what is too close to call, and how much more play would settle it:
the sentences under every table of standings.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import floor, isinf, log10

from arena.errors import counted
from arena.ratings.fit import Fit
from arena.ratings.model import Component, Ratings
from arena.ratings.order import MOST_TIMES, RISK, Group, groups_of, placed_bots
from arena.ratings.outside import Bound

NAMED = 3
"""A group of more bots is told by its first and its last one."""
MOST_STEPS = 3
MOST_GROUPS = 4


def order_sentences(bots: Sequence[str], ratings: Ratings, unit: str = "deal") -> list[str]:
    """What the ratings say about the order of these bots, the clear first; ``unit`` is what a group
    of games with shared luck is called.
    """
    return [
        sentence
        for part in ratings.components[:MOST_GROUPS]
        for sentence in (
            _of_core(bots, part, part.fit, unit) if part.fit else _of_duel(bots, part.bounds)
        )
    ]


def _of_duel(bots: Sequence[str], bounds: Sequence[Bound]) -> Iterator[str]:
    """Two bots of which one won everything."""
    above = [bound for bound in bounds if bound.side == ">"]
    if above and above[0].is_clear.all():
        yield f"{bots[above[0].member]} is clearly ahead of {bots[above[0].rivals[0]]}."
    elif above:
        yield "Nothing is clear yet."


def _of_core(bots: Sequence[str], part: Component, fit: Fit, unit: str) -> Iterator[str]:
    # Bots outside have their share of the risk that anything called clear is wrong.
    groups = groups_of(fit, RISK * len(fit.members) / len(part.members))
    known = placed_bots(fit)
    yield from _clear([[bots[bot] for bot in group.bots] for group in groups], part.bounds)
    rated = "all rated bots" if part.is_rated else bots[fit.members[0]]
    yield from _outside(bots, part.bounds, rated)
    close = [group for group in groups if group.more is not None]
    for group in close[:MOST_GROUPS]:
        yield _too_close([bots[bot] for bot in group.bots], group, unit)
    rest = len(close) - MOST_GROUPS
    if rest > 0:
        yield f"So {_are(rest)} {counted(rest, 'more group')} further down."
    few = [bots[member] for member in fit.members[~known].tolist()]
    if known.any() and few:
        yield f"{_listed(few)} {_have(len(few))} played too few {unit}s to be placed."
    elif few:
        yield f"There are too few {unit}s for error bars, so nothing is clear yet."


def _clear(groups: Sequence[Sequence[str]], outside: Sequence[Bound]) -> Iterator[str]:
    """What is clear from one group to the next."""
    alone = sum(len(group) == 1 for group in groups)
    if len(groups) < 2:  # noqa: PLR2004 - nobody is behind
        return
    if len(groups) - 1 > MOST_STEPS:
        others = len(groups) - alone
        whole = "Every rated bot" if outside else "Every bot"
        but = "one exception" if others == 1 else f"{others} exceptions"
        yield f"{whole} is clearly ahead of all below it{f', with {but}' if others else ''}."
        return
    links = [
        f"{_are(len(above))} clearly ahead of {_listed(below)}" for above, below in pairwise(groups)
    ]
    yield f"{_listed(groups[0])} {', which '.join(links)}."


def _outside(bots: Sequence[str], bounds: Sequence[Bound], rated: str) -> Iterator[str]:
    """Where the bots without a rating stand, the clear first; ``rated`` are the others."""
    for side, where in ((">", "ahead of"), ("<", "behind")):
        here = [bound for bound in bounds if bound.side == side]
        clear = [bots[bound.member] for bound in here if bound.is_clear.all()]
        if clear:
            yield f"{_listed(clear)} {_are(len(clear))} clearly {where} {rated}."
        open_ones = [bound for bound in here if not bound.is_clear.all()]
        for bound in open_ones[:MOST_GROUPS]:
            yield f"{bots[bound.member]} is {_partly(bots, bound, f'{where} {rated}')}."


def _partly(bots: Sequence[str], bound: Bound, where: str) -> str:
    """Where a bot stands that is not clearly on one side of all others."""
    others = [bots[rival] for rival in bound.rivals[~bound.is_clear].tolist()]
    if len(others) > NAMED or len(others) == len(bound.rivals):
        return f"not clearly {where}"
    return f"clearly {where} but {_listed(others)}"


def _too_close(names: Sequence[str], group: Group, unit: str) -> str:
    said = f"{_listed(names)} are too close to call"
    if not group.is_alike and len(names) > 2:  # noqa: PLR2004 - a pair has one step
        said += " from one to the next"
    if group.ahead_of is not None:
        behind = names[group.ahead_of]
        rest = " and all below" if group.ahead_of < len(names) - 1 else ""
        said += f", but {names[0]} is clearly ahead of {behind}{rest}"
    return f"{said}; {_wanted(names, group, unit)}."


def _wanted(names: Sequence[str], group: Group, unit: str) -> str:
    """About how many more deals would settle the step that is nearest to clear."""
    assert group.more is not None, "a group of several"
    is_pair = len(names) == 2  # noqa: PLR2004 - two bots
    if isinf(group.more):
        what = "it" if is_pair else "to tell even two neighbours apart"
        return f"{what} would take more than {MOST_TIMES} times the {unit}s played"
    above, below = names[group.nearest : group.nearest + 2]
    more = one_digit(group.more)
    what = "it" if is_pair else f"{above} against {below}"
    return f"about {more:,} more {unit}{'' if more == 1 else 's'} would settle {what}"


def one_digit(value: float) -> int:
    """The value with one digit that is not 0, at least 1."""
    power = int(10 ** floor(log10(max(value, 1))))
    return max(round(value / power), 1) * power


def _listed(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        return f"{names[0]} to {names[-1]} ({len(names)} bots)"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
