"""What the reader of the tables should know, in sentences: components, priors, few deals, unequal
machines.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pandas as pd

from arena.ratings.model import Fit
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


def fit_notes(results: Results, fits: Sequence[Fit], unit: str) -> Iterator[str]:
    """What keeps the ratings from being compared, and what makes them rough."""
    groups = [", ".join(results.bots[member] for member in fit.members) for fit in fits]
    if len(fits) > 1:
        yield f"these groups never met, so each has its own mean of 0: {'; '.join(groups)}"
    rated = {member for fit in fits for member in fit.members.tolist()}
    idle = [name for number, name in enumerate(results.bots) if number not in rated]
    if idle and results.games:
        yield f"no games against another bot: {', '.join(idle)}"
    for fit in fits:
        if fit.prior:
            draws = f"{fit.prior:g} virtual draw{'' if fit.prior == 1 else 's'}"
            reason = _prior_reason(results, fit)
            yield f"{reason}rated with a prior of {draws} for every bot (--prior)"
        if fit.clusters < FEW_DEALS:
            units = f"{fit.clusters} {unit}{'s' if fit.clusters != 1 else ''}"
            yield f"only {units}: the error bars are rough below {FEW_DEALS}"
        yield from _alike_note(results, fit, unit)


def _prior_reason(results: Results, fit: Fit) -> str:
    marks = np.array(fit.bot_marks())
    names = {
        mark: ", ".join(results.bots[member] for member in fit.members[marks == mark])
        for mark in "><~"
    }
    reasons = [
        f"the games do not limit the effect of the seats with {size} players; "
        for size in fit.open_seats
    ]
    if names[">"]:
        reasons.append(
            f"{names['>']} (>) gave nothing to the others, {names['<']} (<) got nothing from them; "
        )
    if names["~"]:
        reasons.append(f"only the prior links {names['~']} (~) to the bots above and below; ")
    return "".join(reasons)


def _alike_note(results: Results, fit: Fit, unit: str) -> list[str]:
    given = np.arange(len(fit.members)) == fit.anchor
    alike = [results.bots[member] for member in fit.members[(fit.half_widths() == 0) & ~given]]
    return (
        [f"every {unit} gave the same result for {', '.join(alike)}: an error of 0 means only that"]
        if alike
        else []
    )
