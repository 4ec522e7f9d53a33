"""What the reader of the tables should know, in sentences: components, priors, few deals, unequal
machines.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from arena.ratings.columns import BOUNDS
from arena.ratings.model import Component, Fit, Ratings
from arena.ratings.outside import Bound
from arena.ratings.results import Results
from arena.ratings.tally import PlayedBlocks, games_in
from arena.records.record import split_host, unlike
from arena.records.runfile import RunInfo
from arena.rules.rounds import title_of

FEW_DEALS = 10
FAULTY = 3
"""So many bots with forfeits are named; the table with all columns has the others."""


def machines_note(hosts: Collection[str]) -> list[str]:
    """A note if the machines differ too much in speed and bots' time was limited."""
    differ = unlike(map(split_host, hosts))
    if differ is None:
        return []
    slow, fast, ratio = differ
    note = f"{fast} is {ratio:.1f} times as fast as {slow}, so bots did not play under equal"
    return [f"{note} conditions; see 'arena analyse'"]


def comparison_note(info: RunInfo) -> list[str]:
    """A note if the run is that of a comparison, whose Elo is another one."""
    if not info.config.get("compare"):
        return []
    return [
        (
            "a comparison stops as soon as it knows enough, which makes these ratings biased;"
            " 'arena compare' shows the corrected Elo, counted over all seats together, which makes"
            " a difference a little smaller than here"
        )
    ]


def forfeits_note(standings: pd.DataFrame, noun: str) -> list[str]:
    """A note on the bots that forfeited games, the worst first."""
    faulty = standings[standings["forfeits"] > 0].sort_values(
        ["forfeits", "rank"], ascending=[False, True], kind="stable"
    )
    if not len(faulty):
        return []
    named = [
        f"{bot} forfeited {forfeits:,} of {games:,} {noun}"
        for bot, forfeits, games in faulty[["bot", "forfeits", "games"]].itertuples(index=False)
    ]
    rest = len(named) - FAULTY
    more = [f"{rest} more bot{'' if rest == 1 else 's'} forfeited some"] if rest > 0 else []
    return ["; ".join([*named[:FAULTY], *more])]


def uncounted_note(
    results: Results, blocks: Sequence[PlayedBlocks], match: Sequence[str]
) -> list[str]:
    """A note on how many games belong to no complete match."""
    played = games_in(blocks)
    rest = played - results.games * len(match) if match else 0
    if not rest:
        return []
    complete = f"a complete match of {title_of(match)}"
    return [f"{rest} of {played} games do not belong to {complete}, so they do not count"]


def rating_notes(results: Results, ratings: Ratings, unit: str) -> Iterator[str]:
    """What keeps the ratings from being compared, and what makes them rough."""
    parts = ratings.components
    if len(parts) > 1:
        groups = "; ".join(_names(results, part.members) for part in parts)
        yield f"these groups never met, so each has its own mean of 0: {groups}"
    met = {member for part in parts for member in part.members.tolist()}
    idle = [member for member in range(len(results.bots)) if member not in met]
    if idle and results.games:
        yield f"no games against another bot: {_names(results, idle)}"
    for part in parts:
        yield from _outside_notes(results, part)
        if part.fit is not None:
            yield from _fit_notes(results, part.fit, unit)


def _fit_notes(results: Results, fit: Fit, unit: str) -> Iterator[str]:
    for size in fit.open_seats:
        reason = f"with {size} players one of the seats won everything or nothing"
        yield reason if fit.prior else f"{reason}, so all seats count as equally good"
    if fit.prior:
        draws = f"{fit.prior:g} virtual draw{'' if fit.prior == 1 else 's'}"
        yield f"rated with a prior of {draws} for every bot (--prior)"
    if fit.by_prior:
        names = _names(results, fit.members[list(fit.by_prior)])
        yield f"without the prior the games do not rate {names} (~)"
    if fit.clusters < FEW_DEALS:
        units = f"{fit.clusters} {unit}{'s' if fit.clusters != 1 else ''}"
        yield f"only {units}: the error bars are rough below {FEW_DEALS}"
    yield from _alike_note(results, fit, unit)


def _outside_notes(results: Results, part: Component) -> Iterator[str]:
    """What is known of the bots without a rating, one sentence for each case."""
    known = [bound for bound in part.bounds if bound.side in BOUNDS]
    if part.fit is None and not known:
        yield (
            f"no rating for {_names(results, part.members)}: no two of them won from each other,"
            " directly or in a circle; --prior 1 gives everybody a number"
        )
    if part.fit is None:
        yield from [_duel_note(results, known)] if known else []
        return
    for side, did in (("<", "won nothing from"), (">", "lost nothing to")):
        bounds = [bound for bound in known if bound.side == side]
        if bounds:
            where = "below" if side == "<" else "above"
            figure = f"{bounds[0].elo:.0f}" if len(bounds) == 1 else f"the figure after {side}"
            yield (
                f"{_names(results, [bound.member for bound in bounds])} {did} the rated bots: with"
                f" 95 % confidence the rating is {where} {figure}"
            )
    unmet = [bound.member for bound in part.bounds if bound.side == "~" and not bound.deals]
    if unmet:
        yield (
            f"no rating for {_names(results, unmet)}: no game against the rated bots that one of"
            " the two won"
        )
    rest = [bound.member for bound in part.bounds if bound.side == "~" and bound.deals]
    if rest:
        yield (
            f"no rating for {_names(results, rest)}: without error bars of the rated bots there is"
            " no bound either"
        )


def _duel_note(results: Results, bounds: Sequence[Bound]) -> str:
    best, worst = sorted(bounds, key=lambda bound: bound.side, reverse=True)
    return (
        f"{results.bots[best.member]} lost nothing to {results.bots[worst.member]}: with 95 %"
        f" confidence the difference is above {best.differences[0]:.0f} Elo"
    )


def _names(results: Results, members: Iterable[int]) -> str:
    return ", ".join(results.bots[member] for member in members)


def _alike_note(results: Results, fit: Fit, unit: str) -> list[str]:
    given = np.arange(len(fit.members)) == fit.anchor
    alike = [results.bots[member] for member in fit.members[(fit.half_widths() == 0) & ~given]]
    return (
        [f"every {unit} gave the same result for {', '.join(alike)}: an error of 0 means only that"]
        if alike
        else []
    )
