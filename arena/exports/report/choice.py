"""Chooses the games that a report shows: close games, upsets, the longest and shortest games, the
best and the worst games of each bot, the latest games, and games with faults.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import inf, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.exports.grid import MISSING, counted
from arena.exports.report.material import Material
from arena.exports.report.scan import Forfeited, Reasons, Scan
from arena.players.labels import label_among
from arena.rules.terms import LAST_PAGODA

SURPRISING = 1.0
"""A win is an upset if the best loser is rated more than this many Elo above the winner."""
ChosenGames = Iterator[tuple[int, str]]
"""Pairs of the number of a game and the reason why it was chosen."""


def choose(material: Material, wanted: int | list[str]) -> Reasons:
    """Chooses the games of a run, whose data are ``material``, that a report shows; returns, by the
    number of each game, the reasons why it was chosen.

    ``wanted`` is the largest number of games, or a list. Each entry of a list is the id of a game,
    or ``one+other`` for all games in which these bots met, except games of deals that are still
    being played. Raises RunError for an id that the run does not have, and UserError for such a
    bot.
    """
    if isinstance(wanted, int):
        return choose_games(GamesToShow(material.scan, material.elo, ~material.is_open), wanted)
    games: list[int] = []
    ids: list[str] = []
    for text in wanted:
        if "/" in text:
            ids.append(text)
        else:
            games += _games_of(material, text)
    games += material.scan.numbers(ids)
    return {game: ["requested"] for game in games}


def _games_of(material: Material, meeting: str) -> Iterator[int]:
    """The numbers of the games in which all bots of ``meeting``, such as ``one+other``, met, the
    latest first, without games of deals that are still being played.
    """
    sought = Counter(label_among(material.bots, name) for name in meeting.split("+"))
    met = material.scan.has_bots(sought)
    yield from np.flatnonzero(met & ~material.is_open)[::-1].tolist()


class GamesToShow:
    """The games of ``scan`` that may be chosen: those for which ``may_show`` (G,) is True. ``elo``
    has the ratings by bot; NaN stands for no rating.

    ``order`` (n,) has the numbers of these games, the latest in the journal first; ``clean`` has
    those of them without a fault.
    """

    def __init__(self, scan: Scan, elo: Mapping[str, float], may_show: NDArray[np.bool_]) -> None:
        self.scan = scan
        self.allowed = may_show
        self.elo = without_nan(elo)
        self.order = np.flatnonzero(may_show)[::-1]
        self.faulty = {forfeited.game for forfeited in scan.faults}
        self.clean = self.order[~np.isin(self.order, list(self.faulty))]

    def rating(self, bot: str) -> float:
        """The rating of ``bot`` in Elo, 0 if it has none."""
        return self.elo.get(bot, 0.0)


def choose_games(eligible: GamesToShow, count: int) -> Reasons:
    """Chooses at most ``count`` of the ``eligible`` games; returns, by the number of each game, the
    reasons why it was chosen. Games with a fault come last.
    """
    chosen: Reasons = {}
    some = max(1, count // 8)
    sources: list[tuple[int, ChosenGames]] = [
        (some, closest(eligible)),
        (some, _same_deals(eligible, chosen)),
        (some, upsets(eligible)),
        (count // 3, _faults(eligible)),
        (max(1, some // 2), _by_length(eligible, longest=True)),
        (max(1, some // 2), _by_length(eligible, longest=False)),
        (count // 3, _feats(eligible)),
        (count, _latest_of_line_ups(eligible)),
        (count, _latest(eligible)),
    ]
    for share, source in sources:
        for game, reason in islice(source, share):
            if game in chosen or len(chosen) < count:
                chosen.setdefault(game, []).append(reason)
    for reasons in chosen.values():
        if len(reasons) > 1 and "latest" in reasons:
            reasons.remove("latest")
    # Games with a fault come last.
    return dict(sorted(chosen.items(), key=lambda item: item[0] in eligible.faulty))


def closest(eligible: GamesToShow) -> ChosenGames:
    """The ``eligible`` games without a fault, those with the smallest lead first; of equal ones the
    longer game first.
    """
    leads = eligible.scan.leads[eligible.clean]
    turns = eligible.scan.turns[eligible.clean]
    for place in np.lexsort((-turns, leads)):
        lead = int(leads[place])
        margin = f"won by {counted(lead, 'pagoda')}" if lead else "a shared win"
        yield int(eligible.clean[place]), f"close: {margin}"


def _same_deals(eligible: GamesToShow, chosen: Reasons) -> ChosenGames:
    """The ``eligible`` games on the deals of the games that ``chosen`` has when the first one is
    asked for, by the same bots in other seats, so that a page can show both.
    """
    scan = eligible.scan
    numbers: dict[tuple[str, ...], int] = {}
    by_outcome: list[int] = []
    for board, bots, _ in scan.outcomes:
        by_outcome.append(numbers.setdefault((board, *sorted(bots)), len(numbers)))
    line_up = scan.by_game(by_outcome)
    for game in list(chosen):
        is_own = line_up == line_up[game]
        for other in np.flatnonzero(is_own & (scan.deal == scan.deal[game]) & eligible.allowed):
            if other != game:
                yield int(other), "same deal, other seats"


def upsets(eligible: GamesToShow) -> ChosenGames:
    """For each rating difference that a winner overcame, the latest such game among the
    ``eligible`` ones without a fault, the largest difference first.
    """
    margin = margins(eligible.scan, eligible.elo)[eligible.clean]
    games = eligible.clean[margin > SURPRISING]
    margin = margin[margin > SURPRISING]
    # np.unique returns the first game of each difference, which is the latest one
    _, latest = np.unique(np.round(margin, 3), return_index=True)
    for place in latest[::-1]:
        yield int(games[place]), f"upset: by {margin[place]:.0f} Elo"


def margins(scan: Scan, elo: Mapping[str, float]) -> NDArray[np.float64]:
    """(G,) for each game of ``scan``, by how many Elo the best loser is rated above the best
    winner: negative if it is rated below, 0 if only one side has ratings. ``elo`` has the ratings
    by bot.
    """
    rated = without_nan(elo)
    of_outcomes = [margin_of(bots, ranks, rated) for _, bots, ranks in scan.outcomes]
    return np.array(of_outcomes or [0.0])[scan.outcome]


def without_nan(elo: Mapping[str, float]) -> dict[str, float]:
    """The ratings ``elo``, by bot, of those bots that have one: without NaN."""
    return {bot: rating for bot, rating in elo.items() if isfinite(rating)}


def margin_of(bots: Sequence[str], ranks: Sequence[int], elo: Mapping[str, float]) -> float:
    """By how many Elo the best loser is rated above the best winner: negative if it is rated below,
    0 if only one side has ratings. ``bots`` and ``ranks`` are by seat; ``elo`` has the ratings of
    the bots that have one.
    """
    best_winner = best_loser = -inf
    for bot, rank in zip(bots, ranks, strict=True):
        if bot not in elo:
            continue
        if rank == 1:
            best_winner = max(best_winner, elo[bot])
        else:
            best_loser = max(best_loser, elo[bot])
    return best_loser - best_winner if isfinite(best_loser - best_winner) else 0.0


def _faults(eligible: GamesToShow) -> ChosenGames:
    """The latest of the ``eligible`` games with each kind of fault, then with each kind and bot."""
    by_kind: dict[str, Forfeited] = {}
    by_kind_and_bot: dict[tuple[str, str], Forfeited] = {}
    for forfeited in eligible.scan.faults:
        if eligible.allowed[forfeited.game]:
            kind = forfeited.fault.kind
            by_kind[kind] = forfeited
            by_kind_and_bot[kind, forfeited.bot] = forfeited
    latest: dict[tuple[str, str], Forfeited] = {}
    for kind, forfeited in by_kind.items():
        latest[kind, forfeited.bot] = forfeited
    latest |= by_kind_and_bot
    for (kind, _), forfeited in latest.items():
        yield forfeited.game, f"fault: {kind}"


def _by_length(eligible: GamesToShow, *, longest: bool) -> ChosenGames:
    """The ``eligible`` games without a fault by their number of placements, the ``longest`` or the
    shortest first. Short games are only taken from those that ended with the last pagoda.
    """
    scan = eligible.scan
    games = eligible.clean
    if not longest and LAST_PAGODA in scan.ends:
        games = games[scan.end[games] == scan.ends.index(LAST_PAGODA)]
    turns = scan.turns[games]
    for place in np.argsort(-turns if longest else turns, kind="stable"):
        yield int(games[place]), f"{'long' if longest else 'short'}: {turns[place]} turns"


def _feats(eligible: GamesToShow) -> ChosenGames:
    """The best win and the worst loss of each bot in the ``eligible`` games, the highest rated bots
    first.
    """
    by_bot = feats(eligible, 1)
    for bot in sorted(by_bot, key=lambda bot: (-eligible.rating(bot), bot)):
        for name, bot_feats in (("best win", by_bot[bot].wins), ("worst loss", by_bot[bot].losses)):
            for feat in bot_feats:
                yield feat.game, f"{name} of {bot}"


def _latest(eligible: GamesToShow) -> ChosenGames:
    """The ``eligible`` games, the latest first."""
    for game in eligible.order:
        yield int(game), "latest"


def _latest_of_line_ups(eligible: GamesToShow) -> ChosenGames:
    """The latest of the ``eligible`` games of each line-up, the highest rated bots first."""
    last = np.full(len(eligible.scan.outcomes), -1)
    np.maximum.at(last, eligible.scan.outcome[eligible.order], eligible.order)
    latest: dict[tuple[str, ...], int] = {}
    for (_, bots, _), game in zip(eligible.scan.outcomes, last.tolist(), strict=True):
        line_up = tuple(sorted(bots))
        latest[line_up] = max(game, latest.get(line_up, -1))
    for line_up in sorted(latest, key=lambda bots: (-sum(map(eligible.rating, bots)), bots)):
        if latest[line_up] >= 0:
            yield latest[line_up], f"latest of {' + '.join(line_up) or MISSING}"


class Feat(NamedTuple):
    """A game that a bot won or lost.

    ``game``    the number of the game
    ``board``   the board's name
    ``rivals``  the bots that it beat, or, for a loss, the one bot that won
    ``elo``     the best rating of these bots, where 0 stands for no rating
    ``lead``    the winner's lead in pagodas
    """

    game: int
    board: str
    rivals: tuple[str, ...]
    elo: float
    lead: int


class Feats(NamedTuple):
    """A bot's best wins, the best first, and its worst losses, the worst first.

    A list has at most one game against the same opponents.
    """

    wins: list[Feat]
    losses: list[Feat]


def feats(eligible: GamesToShow, most: int) -> dict[str, Feats]:
    """For each bot at most ``most`` wins, those against the highest rated opponents first, and at
    most ``most`` losses, those to the lowest rated winners first; of equal ones the one with the
    largest lead first. They are taken from the ``eligible`` games without a fault and with a single
    winner. A bot without such games is missing.
    """
    scan = eligible.scan
    leads = eligible.scan.leads
    widest = np.full(len(scan.outcomes), -1, dtype=np.int64)
    order = eligible.clean[np.argsort(leads[eligible.clean], kind="stable")]
    widest[scan.outcome[order]] = order  # the last one stays
    found = defaultdict[str, Feats](lambda: Feats([], []))
    for (board, bots, ranks), game in zip(scan.outcomes, widest.tolist(), strict=True):
        winner = bots[ranks.index(1)]
        beaten = tuple(sorted({*bots} - {winner}))
        if game < 0 or ranks.count(1) > 1 or not beaten:
            continue
        lead = int(leads[game])
        best = max(map(eligible.rating, beaten))
        found[winner].wins.append(Feat(game, board, beaten, best, lead))
        for bot in beaten:
            found[bot].losses.append(Feat(game, board, (winner,), eligible.rating(winner), lead))
    best_feats = {}
    for bot, feats_of_bot in found.items():
        wins = _best(feats_of_bot.wins, -1, most)
        best_feats[bot] = Feats(wins, _best(feats_of_bot.losses, 1, most))
    return best_feats


def _best(candidates: list[Feat], sign: int, most: int) -> list[Feat]:
    """At most ``most`` of the ``candidates``, sorted by rating (the highest first if ``sign`` is
    -1, the lowest first if it is 1), then by lead, the largest first; at most one against the same
    rivals.
    """
    first = dict[tuple[str, ...], Feat]()
    for feat in sorted(candidates, key=lambda feat: (sign * feat.elo, -feat.lead, feat.game)):
        first.setdefault(feat.rivals, feat)
    return list(first.values())[:most]
