"""The notes under tables: sentences about groups of bots that never met, priors, few deals,
forfeits, machines of different speed, and a third bot on which the difference of two other bots
depends.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from arena.errors import UserError, counted, did_you_mean
from arena.ratings.column import BOUNDS
from arena.ratings.company import Company
from arena.ratings.fit import Fit
from arena.ratings.model import FEW_DEALS, Component, Ratings
from arena.ratings.results import Results
from arena.ratings.table_data import TableData
from arena.records.blocks import PlayedBlocks, games_in
from arena.records.journal import unplayed_text
from arena.records.league import is_league
from arena.records.record import split_host
from arena.records.runfile import RunInfo
from arena.rules.terms import title_of

FAULTY = 3
"""The most bots with forfeits that are named; the table with all columns has the others."""
MAX_NAMED = 10
"""The most names in the note on bots that are the same program."""
MANY = 3
"""A note says that the first bot is probably rated too high if at least this many may be the best.
"""
DIFFERENT = 1.25
"""If one machine is more than this many times as fast as another, a note says that conditions were
unequal.
"""


def conditions_notes(info: RunInfo, hosts: Collection[str]) -> Iterator[str]:
    """Notes on unequal conditions in a run, whose run.json is ``info``: machines that differ too
    much in speed, bots that are one program under several names, and what bots were allowed beyond
    the sandbox. ``hosts`` are the machines as in records; their speeds do not matter in a run that
    has only built-in bots.
    """
    differ = None if info.counting.in_process else _unlike(map(split_host, hosts))
    if differ is not None:
        slow, fast, ratio = differ
        comparison = f"{fast} is {ratio:.1f} times as fast as {slow}"
        yield f"{comparison}, so bots did not play under equal conditions; see 'arena analyse'"
    yield from _twins_notes(info)
    named = [f"{bot.name} was allowed {', '.join(bot.grants)}" for bot in info.bots if bot.grants]
    if named:
        yield f"beyond the sandbox, {'; '.join(named)}"


def _twins_notes(info: RunInfo) -> Iterator[str]:
    """A note for each set of bots in a run, whose run.json is ``info``, that have the same files
    and the same options. No notes for a search or a comparison, in which a bot plays against copies
    of itself.
    """
    if info.is_search or info.is_comparison:
        return
    names = defaultdict[tuple[object, ...], list[str]](list)
    for bot in info.bots:
        names[bot.sha256, *sorted(bot.options.items())].append(bot.name)
    for same in names.values():
        if len(same) > 1:
            *first, last = same
            if len(same) > MAX_NAMED:
                first = same[: MAX_NAMED - 1]
                last = f"{len(same) - len(first)} more bots"
            listed = f"{', '.join(first)} and {last}"
            yield (
                f"{listed} are the same program with the same options: any difference"
                " between them is luck"
            )


def purpose_notes(run: Path, info: RunInfo, *, anchored: bool) -> Iterator[str]:
    """Notes on a run, whose run.json is ``info``, that was not played for its ratings: a search by
    `arena tune`, a comparison, or a league, whose history has a scale of its own. ``anchored``
    means that the user held bots at given ratings, and leaves out the note on a league.
    """
    if info.is_search:
        yield (
            "these are the two sides of a search by 'arena tune': one bot with settings that"
            " differ from deal to deal, so the table does not rate it"
        )
    elif info.is_comparison:
        yield (
            "a comparison stops as soon as it knows enough, which makes these ratings biased;"
            " 'arena compare' shows the corrected Elo, counted over all seats together, which makes"
            " a difference a little smaller than here"
        )
    if not anchored and is_league(run):
        level = "here the mean of all rated bots is 0; the ratings on the league's own scale are in"
        yield f"{level} 'arena league history --league {run.name}'"


def leader_note(
    standings: TableData, groups: Sequence[Sequence[str]], anchors: Collection[str]
) -> list[str]:
    """A list with a note that the first bot of the table ``standings`` is probably rated too high,
    if at least `MANY` bots, itself included, may really be the best; else an empty list. ``groups``
    are the names of the bots of each component, ``anchors`` the bots whose rating is given.
    """
    rows = standings.rows()
    if not rows or rows[0]["mark"] or rows[0]["bot"] in anchors:
        return []
    [comparable] = [group for group in groups if rows[0]["bot"] in group]
    rated = [row for row in rows if row["bot"] in comparable and not row["mark"]]
    rivals = [row for row in rated if row["rank_low"] == 1]
    if len(rivals) < MANY:
        return []
    sentence = (
        f"{rows[0]['bot']} is probably rated too high: of {len(rivals)} bots that may all be the"
        " best, the luckiest comes first"
    )
    return [sentence]


def forfeits_note(standings: TableData, noun: str) -> list[str]:
    """A list with one note on the bots of the table ``standings`` that forfeited games, the worst
    first; an empty list if there are none. ``noun`` is the word for what is counted, games or
    matches.
    """
    faulty = standings.where(standings["forfeits"] > 0).rows()
    faulty.sort(key=lambda row: (-row["forfeits"], row["rank"]))
    sentences = []
    for row in faulty:
        share = f"{row['forfeits']:,} of {row['games']:,} {noun}"
        sentences.append(f"{row['bot']} forfeited {share}")
    if len(sentences) > FAULTY:
        sentences[FAULTY:] = [f"{counted(len(sentences) - FAULTY, 'more bot')} forfeited some"]
    return ["; ".join(sentences)] if sentences else []


def unplayed_note(run: Path) -> list[str]:
    """A list with a note if all games of the run in the folder ``run`` ended by forfeit; else an
    empty list.
    """
    reason = unplayed_text(run)
    return [f"this table tells nothing about how well the bots play: {reason}"] if reason else []


def uncounted_note(
    results: Results, blocks: Sequence[PlayedBlocks], match: Sequence[str]
) -> list[str]:
    """A list with a note on the games among ``blocks`` that belong to no complete match on the
    boards ``match``, and so are not counted in ``results``; an empty list if there are none, or if
    ``match`` is empty because games count singly.
    """
    played = games_in(blocks)
    uncounted = played - results.games * len(match) if match else 0
    if not uncounted:
        return []
    games = f"{uncounted} of {played} games do not belong to a complete match of {title_of(match)}"
    return [f"{games}, so they do not count"]


def without_note(without: Sequence[str], bots: Sequence[str], games: int, of: int) -> list[str]:
    """A list with a note that games are left out because one of the bots ``without`` played in
    them: ``games`` is the number of games that remain, ``of`` the number of all games. An empty
    list if ``without`` is empty. Raises UserError for a name that is not among ``bots``, or if no
    game remains.
    """
    for name in without:
        if name not in bots:
            known = f"{did_you_mean(name, bots)}there are {', '.join(bots)}"
            raise UserError(f"{name!r}, which is to be left out, played none of these games", known)
    if not without:
        return []
    names = " and ".join(without)
    whose = without[0] if len(without) == 1 else "one of them"
    if not games:
        raise UserError(
            f"no game is left without {names}: all {of} games have {whose} in them",
            "leave out fewer bots",
        )
    away = "it did not sit" if len(without) == 1 else "none of them sat"
    return [f"without {names}: only the {games} of {of} games count in which {away}"]


def rating_notes(results: Results, ratings: Ratings, unit: str) -> Iterator[str]:
    """Notes on what keeps ratings from being compared, and on what makes them imprecise. ``unit``
    is the word for a group of games with shared luck.
    """
    parts = ratings.components
    if len(parts) > 1:
        groups = [_names(results, part.members) for part in parts]
        yield f"these groups never met, so each has its own mean of 0: {'; '.join(groups)}"
    met = set[int]()
    for part in parts:
        met.update(part.members.tolist())
    idle = [member for member in range(len(results.bots)) if member not in met]
    if idle and results.games:
        yield f"no games against another bot: {_names(results, idle)}"
    yield from figure_notes(results, ratings, unit)


def figure_notes(results: Results, ratings: Ratings, unit: str) -> Iterator[str]:
    """Notes that explain figures and marks of the standings. ``unit`` is the word for a group of
    games with shared luck.
    """
    for part in ratings.components:
        yield from _outside_notes(results, part)
        if part.fit is not None and part.is_rated:
            yield from _fit_notes(results, part.fit, unit)


def detail_notes(results: Results, ratings: Ratings, unit: str) -> Iterator[str]:
    """The notes of `figure_notes` that a short table leaves out: they explain no mark, or one that
    is also shown in the drawing of a short table. ``unit`` is the word for a group of games with
    shared luck.
    """
    marked = set[str]()
    for part in ratings.components:
        marked.update(_held_notes(results, part))
        marked.update(_unknown_notes(results, part))
        if part.fit is not None and part.is_rated:
            marked.update(_prior_notes(results, part.fit))
            marked.update(_few_notes(results, part.fit, unit))
            marked.update(_alike_notes(results, part.fit, unit))
    return (note for note in figure_notes(results, ratings, unit) if note not in marked)


def _fit_notes(results: Results, fit: Fit, unit: str) -> Iterator[str]:
    """Notes on the ratings of one component, those of ``fit``. ``unit`` is the word for a group of
    games with shared luck.
    """
    for size in fit.open_seats:
        reason = f"with {size} players one of the seats won everything or nothing"
        yield reason if fit.prior else f"{reason}, so all seats count as equally good"
    if fit.prior:
        yield f"rated with a prior of {_count(fit.prior, 'virtual draw')} for every bot (--prior)"
    yield from _prior_notes(results, fit)
    yield from _few_notes(results, fit, unit)
    yield from _alike_notes(results, fit, unit)


def _alike_notes(results: Results, fit: Fit, unit: str) -> Iterator[str]:
    """A note on the bots whose error bar in ``fit`` is 0; none without such bots."""
    given = np.arange(len(fit.members)) == fit.anchor
    alike = _names(results, fit.members[(fit.half_widths() == 0) & ~given])
    if alike:
        yield f"every {unit} gave the same result for {alike}: an error of 0 means only that"


def _prior_notes(results: Results, fit: Fit) -> Iterator[str]:
    """A note on the mark ``~`` of the bots that only the prior of ``fit`` rates; none without such
    bots.
    """
    if fit.by_prior:
        names = _names(results, fit.members[list(fit.by_prior)])
        yield f"without the prior the games do not rate {names} (~)"


def _few_notes(results: Results, fit: Fit, unit: str) -> Iterator[str]:
    """A note on the mark ``?`` of bots with few deals, or on a ``fit`` with few deals as a whole;
    none if there are enough.
    """
    if fit.clusters < FEW_DEALS:
        yield f"only {_count(fit.clusters, unit)}: the error bars are rough below {FEW_DEALS}"
    elif fit.is_few.any():
        names = _names(results, fit.members[fit.is_few])
        yield f"fewer than {FEW_DEALS} {unit}s tell of {names} (?): the error bars are rough"


def _held_notes(results: Results, part: Component) -> Iterator[str]:
    """A note on the bot of the component ``part`` that is held at 0, or at the rating that the user
    gave it, if all other bots have bounds at most; else none.
    """
    if part.fit is not None and not part.is_rated:
        held = f"{results.bots[part.fit.members[0]]} is held at {part.fit.elo[0]:.0f}"
        yield (
            f"no two bots won from each other, directly or in a circle, so {held}; --prior 1 gives"
            " everybody a number"
        )


def _outside_notes(results: Results, part: Component) -> Iterator[str]:
    """Notes on the bots of the component ``part`` that have no rating, one sentence per case."""
    if part.fit is None:
        yield _unrated_note(results, part)
        return
    rated = "the rated bots"
    if not part.is_rated:
        rated = results.bots[part.fit.members[0]]
    yield from _held_notes(results, part)
    for side, did, where in (("<", "won nothing from", "below"), (">", "lost nothing to", "above")):
        bounds = part.bounds_on(side)
        names = _names(results, [bound.member for bound in bounds])
        if names:
            figure = f"{bounds[0].elo:.0f}" if len(bounds) == 1 else f"the figure after {side}"
            sure = f"with 95 % confidence the rating is {where} {figure}"
            yield f"{names} {did} {rated}: {sure}"
    yield from _unknown_notes(results, part)


def _unknown_notes(results: Results, part: Component) -> Iterator[str]:
    """Notes on the mark ``~`` of bots of the component ``part`` that have neither a rating nor a
    bound.
    """
    if part.fit is None:
        if all(bound.side not in BOUNDS for bound in part.bounds):
            yield _unrated_note(results, part)
        return
    rated = "the rated bots" if part.is_rated else results.bots[part.fit.members[0]]
    without_games = []
    with_games = []
    for bound in part.bounds_on("~"):
        if bound.deals:
            with_games.append(bound.member)
        else:
            without_games.append(bound.member)
    if without_games:
        why = f"no game against {rated} that one of the two won"
        yield f"no rating for {_names(results, without_games)}: {why}"
    if with_games:
        why = f"without error bars of {rated} there is no bound either"
        yield f"no rating for {_names(results, with_games)}: {why}"


def _unrated_note(results: Results, part: Component) -> str:
    """A note on the component ``part``, in which no bot has a rating: that none has, or, for two
    bots of which one lost nothing to the other, the bound on their difference.
    """
    above = part.bounds_on(">")
    below = part.bounds_on("<")
    if not above and not below:
        return (
            f"no rating for {_names(results, part.members)}: no two of them won from each other,"
            " directly or in a circle; --prior 1 gives everybody a number"
        )
    best = above[-1]
    worst = below[-1]
    lost = f"{results.bots[best.member]} lost nothing to {results.bots[worst.member]}"
    sure = f"with 95 % confidence the difference is above {best.differences[0]:.0f} Elo"
    return f"{lost}: {sure}"


def _names(results: Results, members: Iterable[int]) -> str:
    """The names of the bots with the numbers ``members``, joined by commas."""
    return ", ".join(results.names_of(members))


def _count(count: float, noun: str) -> str:
    return f"{count:g} {noun}{'' if count == 1 else 's'}"


def company_note(case: Company | None) -> list[str]:
    """A list with a note on ``case``, two bots whose difference depends on a third bot; an empty
    list if ``case`` is None.
    """
    if case is None:
        return []
    p = "p < 0.001" if case.p < 0.001 else f"p = {case.p:.3f}"  # noqa: PLR2004
    bot = case.bot
    opponent = case.opponent
    third = case.third
    if np.isfinite([case.elo_with, case.elo_without]).all():
        ahead = _lead(case.elo_with)
        elsewhere = _lead(case.elo_without)
        sentence = f"where {third} sits too, {bot} is {ahead} {opponent}, elsewhere {elsewhere} it"
    else:
        sentence = f"{bot} does better against {opponent} where {third} sits too than elsewhere"
    decides = "decides who is better" if case.decides else "matters"
    more = f"'--without {third}' rates the other games"
    return [f"who sits at the table {decides}: {sentence} ({p}); {more}"]


def _lead(elo: float) -> str:
    return f"{abs(elo):.0f} Elo {'behind' if elo < 0 else 'ahead of'}"


def _unlike(machines: Iterable[tuple[str, int | None]]) -> tuple[str, str, float] | None:
    """The names of the slowest and of the fastest of the ``machines``, (name, speed) pairs, and the
    ratio of their speeds; None if the ratio is at most `DIFFERENT`. Machines without a measured
    speed are ignored.

    A machine that was measured more than once counts with its median speed.
    """
    measured = defaultdict[str, list[int]](list)
    for name, speed in machines:
        if speed is not None:
            measured[name].append(speed)
    known = sorted((median(speeds), name) for name, speeds in measured.items())
    if not known or known[-1][0] <= DIFFERENT * known[0][0]:
        return None
    return known[0][1], known[-1][1], known[-1][0] / known[0][0]
