"""Which games a page shows: close ones, upsets, extreme games, the best and the worst of each bot,
the latest, and those with faults. And what the page begins with: who leads, and a game that plays
itself.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from arena.errors import ArenaError, UserError, did_you_mean, printable
from arena.exports.grid import MISSING, counted, figure, with_error
from arena.exports.report.charts import element
from arena.exports.report.games import Album, animation_of
from arena.exports.report.scan import Material, Reasons, Scan, chosen_records
from arena.exports.text import seat_names
from arena.players.folder import nearest_label
from arena.ratings.columns import BOUNDS, half_width
from arena.records.record import DUEL, GameRecord
from arena.rules.terms import LAST_PAGODA

SURPRISING = 1.0
"""The least number of Elo points by which the winner must be rated lower."""
PLACES = 3
Chosen = Iterator[tuple[int, str]]
"""Games by number, each with the reason."""


def choose(material: Material, wanted: int | list[str]) -> Reasons:
    """The games to show: this many well-chosen ones, those with the given ids, or those of bots
    that are given as ``one+other``. Raises RunError for an unknown id, UserError for a bot.
    """
    if isinstance(wanted, int):
        return choose_games(Field(material.scan, material.elo, ~material.is_open), wanted)
    meetings = [text for text in wanted if "/" not in text]
    games = [game for text in meetings for game in _games_of(material, text)]
    games += material.scan.numbers([text for text in wanted if "/" in text])
    return {game: ["requested"] for game in games}


def _games_of(material: Material, meeting: str) -> Iterator[int]:
    """The games in which these bots met, the latest first."""
    bots = [nearest_label(name, material.bots) for name in meeting.split("+")]
    for bot in bots:
        if bot not in material.bots:
            known = f"{did_you_mean(bot, material.bots)}there are {', '.join(material.bots)}"
            raise UserError(f"expected a bot of the run, got {bot!r}", known)
    sought = Counter(bots)
    met = material.scan.by_game(
        sought <= Counter(seated) for _, seated, _ in material.scan.outcomes
    )
    yield from np.flatnonzero(met & ~material.is_open)[::-1].tolist()


class Field:
    """The games to choose from: those of a scan that ``may_show`` allows.

    ``order`` (n,) are the allowed games, latest first; ``clean`` are those without a fault.
    """

    def __init__(self, scan: Scan, elo: Mapping[str, float], may_show: NDArray[np.bool_]) -> None:
        self.scan, self.allowed = scan, may_show
        self.elo = {bot: value for bot, value in elo.items() if isfinite(value)}
        self.order = np.flatnonzero(may_show)[::-1]
        self.faulty = {forfeited.game for forfeited in scan.faults}
        self.clean = self.order[~np.isin(self.order, list(self.faulty))]

    def rating(self, bot: str) -> float:
        """A bot's rating, or 0."""
        return self.elo.get(bot, 0.0)


def choose_games(field: Field, count: int) -> Reasons:
    """At most ``count`` games."""
    chosen: Reasons = {}
    some = max(1, count // 8)
    sources: list[tuple[int, Chosen]] = [
        (some, _closest(field)),
        (some, _same_deals(field, chosen)),
        (some, _upsets(field)),
        (count // 3, _faults(field)),
        (max(1, some // 2), _by_length(field, longest=True)),
        (max(1, some // 2), _by_length(field, longest=False)),
        (count // 3, _feats(field)),
        (count, _latest_of_line_ups(field)),
        (count, ((int(game), "latest") for game in field.order)),
    ]
    for share, source in sources:
        for game, reason in islice(source, share):
            if game in chosen or len(chosen) < count:
                chosen.setdefault(game, []).append(reason)
    return {
        game: [reason for reason in reasons if reason != "latest" or len(reasons) == 1]
        for game, reasons in sorted(chosen.items(), key=lambda item: item[0] in field.faulty)
    }


def _closest(field: Field) -> Chosen:
    """The games with the smallest lead, longer ones first."""
    leads, turns = field.scan.leads()[field.clean], field.scan.turns[field.clean]
    for place in np.lexsort((-turns, leads)):
        lead = int(leads[place])
        told = f"won by {counted(lead, 'pagoda')}" if lead else "a shared win"
        yield int(field.clean[place]), f"close: {told}"


def _same_deals(field: Field, chosen: Reasons) -> Chosen:
    """The games of the deals chosen so far with other seats, so that a page can show both."""
    scan = field.scan
    line_ups = [(board, sorted(bots)) for board, bots, _ in scan.outcomes]
    for game in list(chosen):
        own = line_ups[scan.outcome[game]]
        is_own = scan.by_game(line_up == own for line_up in line_ups) == 1
        for other in np.flatnonzero(is_own & (scan.deal == scan.deal[game]) & field.allowed):
            if other != game:
                yield int(other), "same deal, other seats"


def _upsets(field: Field) -> Chosen:
    """For each difference of ratings that a winner overcame, the latest game; the widest first."""
    margins = [_margin(bots, ranks, field.elo) for _, bots, ranks in field.scan.outcomes]
    margin = np.array(margins or [0.0])[field.scan.outcome[field.clean]]
    games, margin = field.clean[margin > SURPRISING], margin[margin > SURPRISING]
    # the first of each difference is the latest game
    _, latest = np.unique(np.round(margin, 3), return_index=True)
    for place in latest[::-1]:
        yield int(games[place]), f"upset: by {margin[place]:.0f} Elo"


def _margin(bots: Sequence[str], ranks: Sequence[int], elo: Mapping[str, float]) -> float:
    """How far the best-rated loser is rated above the best-rated winner; 0 if unknown."""
    rated = [(rank == 1, elo[bot]) for bot, rank in zip(bots, ranks, strict=True) if bot in elo]
    best = {won: max(value for each, value in rated if each == won) for won, _ in rated}
    return best[False] - best[True] if len(best) > 1 else 0.0


def _faults(field: Field) -> Chosen:
    """The latest game with each kind of fault, then with each kind and bot."""
    found = [fault for fault in field.scan.faults if field.allowed[fault.game]]
    kinds = {one.fault.kind: one for one in found}
    bots = {(one.fault.kind, one.bot): one for one in found}
    for (kind, _), one in (
        {(one.fault.kind, one.bot): one for one in kinds.values()} | bots
    ).items():
        yield one.game, f"fault: {kind}"


def _by_length(field: Field, *, longest: bool) -> Chosen:
    """Games by their number of placements; the short ones only from games won by placing the last
    pagoda.
    """
    scan, games = field.scan, field.clean
    if not longest and LAST_PAGODA in scan.ends:
        games = games[scan.end[games] == scan.ends.index(LAST_PAGODA)]
    turns = scan.turns[games]
    for place in np.argsort(-turns if longest else turns, kind="stable"):
        yield int(games[place]), f"{'long' if longest else 'short'}: {turns[place]} turns"


def _feats(field: Field) -> Chosen:
    """The best win and the worst loss of each bot, highest ratings first."""
    told = feats(field, 1)
    for bot in sorted(told, key=lambda bot: (-field.rating(bot), bot)):
        for name, found in (("best win", told[bot].wins), ("worst loss", told[bot].losses)):
            yield from ((feat.game, f"{name} of {bot}") for feat in found)


def _latest_of_line_ups(field: Field) -> Chosen:
    """The latest game of each line-up, highest ratings first."""
    last = np.full(len(field.scan.outcomes), -1)
    np.maximum.at(last, field.scan.outcome[field.order], field.order)
    latest: dict[tuple[str, ...], int] = {}
    for (_, bots, _), game in zip(field.scan.outcomes, last.tolist(), strict=True):
        line_up = tuple(sorted(bots))
        latest[line_up] = max(game, latest.get(line_up, -1))
    for line_up in sorted(latest, key=lambda bots: (-sum(map(field.rating, bots)), bots)):
        if latest[line_up] >= 0:
            yield latest[line_up], f"latest of {' + '.join(line_up) or MISSING}"


class Feat(NamedTuple):
    """A game that a bot won or lost: the ``rivals`` it beat, or the one that won, what the best of
    them is rated, and by how many pagodas the winner was ahead of the next one.
    """

    game: int
    board: str
    rivals: tuple[str, ...]
    elo: float
    lead: int


class Feats(NamedTuple):
    """Best first, and worst first; only one against the same opponents."""

    wins: list[Feat]
    losses: list[Feat]


def feats(field: Field, most: int) -> dict[str, Feats]:
    """For each bot at most so many wins against the highest-rated opponents and losses to the
    lowest-rated ones, each by the widest lead, among the games without faults.
    """
    scan, leads = field.scan, field.scan.leads()
    widest = np.full(len(scan.outcomes), -1, dtype=np.int64)
    order = field.clean[np.argsort(leads[field.clean], kind="stable")]
    widest[scan.outcome[order]] = order  # the last one stays
    found = defaultdict[str, Feats](lambda: Feats([], []))
    for (board, bots, ranks), game in zip(scan.outcomes, widest.tolist(), strict=True):
        winner = bots[ranks.index(1)]
        beaten = tuple(sorted({*bots} - {winner}))
        if game < 0 or ranks.count(1) > 1 or not beaten:
            continue
        lead, best = int(leads[game]), max(map(field.rating, beaten))
        found[winner].wins.append(Feat(game, board, beaten, best, lead))
        for bot in beaten:
            found[bot].losses.append(Feat(game, board, (winner,), field.rating(winner), lead))
    return {
        bot: Feats(_best(told.wins, -1, most), _best(told.losses, 1, most))
        for bot, told in found.items()
    }


def _best(found: list[Feat], sign: int, most: int) -> list[Feat]:
    """The first ones by rating and lead, one of each against the same rivals."""
    first = dict[tuple[str, ...], Feat]()
    for feat in sorted(found, key=lambda feat: (sign * feat.elo, -feat.lead, feat.game)):
        first.setdefault(feat.rivals, feat)
    return list(first.values())[:most]


def lead_of(material: Material, chosen: Reasons, album: Album) -> dict[str, Any]:
    """The first sentence, the podium as (rank, bot, Elo), best first, and the game or None."""
    rows: list[dict[Any, Any]] = material.tables.standings.to_dict("records")
    return {
        "sentence": headline(material),
        "podium": [
            (row["rank"], row["bot"], rating_of(row))
            for row in rows
            if row["rank"] <= PLACES and isfinite(row["elo"])
        ],
        "game": _best_game(material, chosen, album),
    }


def rating_of(row: Any) -> str:
    """``1,203 ± 18 Elo``, or the bound that is known."""
    mark = f"{row['mark']} " if row["mark"] in BOUNDS else ""
    return f"{with_error(mark + figure(row['elo']), half_width(row))} Elo"


def headline(material: Material) -> str:
    """Who leads, and whether another one may really be the best; of two bots, and of a leader
    without a rating, what the table says.
    """
    table, sentences = material.tables.standings, material.tables.sentences
    if table.empty:
        return ""
    first = table.iloc[0]
    leader = printable(str(first["bot"]))
    if len(table) <= DUEL or first["mark"] or (table["rank"] == 1).sum() > 1:
        own = [said for said in sentences if printable(said).startswith(f"{leader} ")]
        return next(iter([*own, *sentences]), "")
    elo = rating_of(first)
    rivals = [printable(str(name)) for name in table["bot"][1:][table["rank_low"][1:] == 1]]
    if not rivals:
        return f"{leader} is clearly the best of {len(table)} bots, with {elo}."
    who = rivals[0] if len(rivals) == 1 else f"any of {len(rivals)} others"
    return f"{leader} leads {len(table)} bots with {elo}, but {who} may really be the best."


def _best_game(material: Material, chosen: Reasons, album: Album) -> dict[str, Any] | None:
    """The first game of the page, which plays itself, if nobody forfeited in it."""
    found = chosen_records(material.scan, dict(list(chosen.items())[:1]))
    record, reasons = next(iter(found), (None, []))
    if record is None or record.faults or record.board not in album.boards or not record.moves:
        return None
    try:
        width, height, content = animation_of(record, album.boards[record.board])
    except ArenaError:
        return None
    picture = element(
        "svg",
        # our own drawing, with the names in it escaped
        Markup(content),  # noqa: S704
        viewBox=f"0 0 {width} {height}",
        class_="film",
        role="img",
        aria_label=f"The game {record.id}, playing itself",
    )
    return {"id": record.id, "caption": _caption(record, reasons), "picture": picture}


def _caption(record: GameRecord, reasons: list[str]) -> str:
    """Such as "greedy beats careful, Lion, 41 tiles; upset: by 120 Elo"."""
    seated = list(zip(seat_names(record.bots), record.ranks, strict=True))
    won = [name for name, rank in seated if rank == 1]
    lost = [name for name, rank in seated if rank > 1]
    if len(won) > 1:
        verb = "share the win over" if lost else "share the win"
    else:
        verb = "upsets" if any(reason.startswith("upset") for reason in reasons) else "beats"
    who = f"{' and '.join(won)} {verb} {', '.join(lost)}".rstrip()
    told = f"{who}, {record.board.capitalize()}, {counted(record.turns, 'tile')}"
    return "; ".join([told, *reasons])
