"""What the reader of the tables should know, in sentences: components, priors, few deals, unequal
machines.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from arena.errors import UserError, counted, did_you_mean
from arena.ratings.company import Company
from arena.ratings.results import Results
from arena.ratings.tally import PlayedBlocks, games_in
from arena.records.league import is_league
from arena.records.record import split_host, unlike
from arena.records.runfile import RunInfo
from arena.rules.rounds import title_of

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
    """A note if the run is that of a comparison, whose Elo is another one, or of a search."""
    if info.config.get("tune"):
        return [
            (
                "these are the two sides of a search by 'arena tune': one bot with settings that"
                " differ from deal to deal, so the table does not rate it"
            )
        ]
    if not info.config.get("compare"):
        return []
    return [
        (
            "a comparison stops as soon as it knows enough, which makes these ratings biased;"
            " 'arena compare' shows the corrected Elo, counted over all seats together, which makes"
            " a difference a little smaller than here"
        )
    ]


def grants_note(info: RunInfo) -> list[str]:
    """A note on the bots that the user let use more than the others may."""
    named = [f"{bot.name} was allowed {', '.join(bot.grants)}" for bot in info.bots if bot.grants]
    return [f"beyond the sandbox, {'; '.join(named)}"] if named else []


def league_note(run: Path, anchors: Mapping[str, float] | None) -> list[str]:
    """A note on the level of the ratings, which in a league differs from that of its history."""
    if anchors or not is_league(run):
        return []
    level = "here the mean of all rated bots is 0; the ratings on the league's own scale are in"
    return [f"{level} 'arena league history --league {run.name}'"]


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
    more = [f"{counted(rest, 'more bot')} forfeited some"] if rest > 0 else []
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


def company_note(found: Company) -> list[str]:
    """A note on the two bots whose difference depends most on who else is at the table, if any
    does.
    """
    if found.table.empty:
        return []
    row = found.largest.iloc[0]
    p = "p < 0.001" if row["p_all"] < 0.001 else f"p = {row['p_all']:.3f}"  # noqa: PLR2004
    one, other, third = row["bot"], row["opponent"], row["third"]
    if np.isfinite([row["elo_with"], row["elo_without"]]).all():
        figures = [_lead(row[column]) for column in ("elo_with", "elo_without")]
        told = f"where {third} sits too, {one} is {figures[0]} {other}, elsewhere {figures[1]} it"
    else:
        told = f"{one} does better against {other} where {third} sits too than elsewhere"
    decides = "decides who is better" if row["elo_with"] > 0 > row["elo_without"] else "matters"
    more = f"'arena analyse' has more, and '--without {third}' rates the other games"
    return [f"who sits at the table {decides}: {told} ({p}); {more}"]


def _lead(elo: float) -> str:
    return f"{abs(elo):.0f} Elo {'behind' if elo < 0 else 'ahead of'}"


def without_note(without: Sequence[str], bots: Sequence[str], games: int, of: int) -> list[str]:
    """A note on the games left out for bots that sat in them. Raises UserError for a bot that is
    not there, or if nothing is left.
    """
    for name in without:
        if name not in bots:
            known = f"{did_you_mean(name, bots)}there are {', '.join(bots)}"
            raise UserError(f"expected a bot of these games to leave out, got {name!r}", known)
    if not without:
        return []
    names = " and ".join(without)
    if not games:
        raise UserError(
            f"expected games without {names}, got {of} games with {_one_of(without)} in each",
            "leave out fewer bots",
        )
    away = "it did not sit" if len(without) == 1 else "none of them sat"
    return [f"without {names}: only the {games} of {of} games count in which {away}"]


def _one_of(bots: Sequence[str]) -> str:
    return bots[0] if len(bots) == 1 else "one of them"
