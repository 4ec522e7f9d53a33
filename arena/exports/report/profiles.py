"""Chooses the games in a report, and makes the page of each bot.

A report shows close games, upsets, the longest and shortest games, the best and the worst games of
each bot, the latest games, and games with faults. The page of a bot has its rating, its opponents,
boards and seats, its best wins and its worst losses.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import inf, isfinite
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.exports.grid import MISSING, counted, figure, signed, with_error
from arena.exports.report.charts import END, START, axis, interval, linear
from arena.exports.report.material import Material
from arena.exports.report.meetings import Meeting
from arena.exports.report.scan import Reasons, Scan
from arena.exports.report.sections import bots_of, version_rows
from arena.exports.review_text import regress_command
from arena.exports.text import ends_of
from arena.players.labels import label_among
from arena.ratings.column import half_width
from arena.ratings.columns import PAIRS, STANDINGS
from arena.records.record import name_of, shares
from arena.rules.terms import LAST_PAGODA

SURPRISING = 1.0
"""A win is an upset if the best loser is rated more than this many Elo above the winner."""
MAX_LISTED = 6
"""The most games of one pair of bots that a page lists."""
MAX_FEATS = 3
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
    for text in wanted:
        if "/" not in text:
            games += _games_of(material, text)
    games += material.scan.numbers([text for text in wanted if "/" in text])
    return {game: ["requested"] for game in games}


def _games_of(material: Material, meeting: str) -> Iterator[int]:
    """The numbers of the games in which all bots of ``meeting``, such as ``one+other``, met, the
    latest first, without games of deals that are still being played.
    """
    sought = Counter(label_among(material.bots, name) for name in meeting.split("+"))
    outcomes = material.scan.outcomes
    met = material.scan.by_game(sought <= Counter(seated) for _, seated, _ in outcomes)
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
        self.elo = {bot: value for bot, value in elo.items() if isfinite(value)}
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
        (count, ((int(game), "latest") for game in eligible.order)),
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
    number: dict[tuple[str, ...], int] = {}
    line_ups = [(board, *sorted(bots)) for board, bots, _ in scan.outcomes]
    line_up = scan.by_game(number.setdefault(each, len(number)) for each in line_ups)
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
    rated = {bot: value for bot, value in elo.items() if isfinite(value)}
    of_outcomes = [margin_of(bots, ranks, rated) for _, bots, ranks in scan.outcomes]
    return np.array(of_outcomes or [0.0])[scan.outcome]


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
    allowed = [fault for fault in eligible.scan.faults if eligible.allowed[fault.game]]
    by_kind = {fault.fault.kind: fault for fault in allowed}
    latest = {(fault.fault.kind, fault.bot): fault for fault in by_kind.values()}
    for fault in allowed:
        latest[fault.fault.kind, fault.bot] = fault
    for (kind, _), fault in latest.items():
        yield fault.game, f"fault: {kind}"


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
            yield from ((feat.game, f"{name} of {bot}") for feat in bot_feats)


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


class Profiles:
    """Makes the values for the pages of bots; iterating yields one dict, see `of`, for each bot
    with a page. ``opponents`` comes from `meetings.opponents_of` and says which bots have a page;
    ``meetings`` comes from `meetings.meetings_of`.
    """

    def __init__(
        self,
        material: Material,
        opponents: Mapping[str, Sequence[str]],
        meetings: Mapping[tuple[str, str], Sequence[Meeting]],
    ) -> None:
        self._material = material
        self._opponents = opponents
        self._meetings = meetings
        tables = material.tables
        history = material.history
        by_bot = feats(GamesToShow(material.scan, material.elo, ~material.is_open), MAX_FEATS)
        self._feats = {name: by_bot.get(name, Feats([], [])) for name in opponents}
        self._numbers = material.scan.bot_numbers
        self._boards = material.scan.boards()
        self._seats = _seats(material)
        # for all bots at once: a call of pandas for each takes a quarter of a report's time
        self._sums = self._seats.groupby("bot")[["moves", "think_ms"]].sum().to_dict("index")
        self._by_board = _means(self._seats, "board")
        self._by_seat = _means(self._seats, "size", "seat")
        self._rows = {row["bot"]: row for row in _records(tables.standings)}
        paged = tables.pairs[tables.pairs["bot"].isin([*opponents])]
        pairs = paged.rename(columns={"elo_diff": "elo"})
        self._pairs_of = dict.fromkeys(opponents, pairs.iloc[:0])
        self._pairs_of.update((str(bot), rows) for bot, rows in pairs.groupby("bot"))
        self._pairs = {(row["bot"], row["opponent"]): row for row in _records(paged)}
        self._about = {bot["name"]: bot for bot in bots_of(material)}
        # the records of all games that any page names are read at once
        wanted = set[int]()
        for own in self._feats.values():
            wanted.update(feat.game for feat in (*own.wins, *own.losses))
        records = material.scan.records(wanted)
        self._ids = {game: record.id for game, record in records.items()}
        self._members = {row["version"]: row for row in version_rows(history)} if history else {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self.of(name) for name in self._opponents)

    def of(self, name: str) -> dict[str, Any]:
        """The values for the page of the bot ``name``, by their names in the template bot.html.
        Raises KeyError if the bot has no page, as only bots in ``opponents`` do.
        """
        bot_feats = self._feats[name]
        row = self._rows[name]
        number = self._numbers.get(name, -1)
        own = self._sums.get(number, {"moves": 0.0, "think_ms": 0.0})
        by_board = self._by_board.get(number, [])
        by_seat = self._by_seat.get(number, [])
        has_sizes = len({seat["size"] for seat in by_seat}) > 1
        elo = next(column for column in STANDINGS if column.name == "elo")._replace(shown=0)
        return {
            **row,
            "name": name,
            "rated": with_error(elo.written(row, figure), half_width(row)),
            "bots": len(self._rows),
            "member": self._members.get(name),
            "move_ms": own["think_ms"] / own["moves"] if own["moves"] else float("nan"),
            "slowest_ms": self._material.scan.slowest_ms.get(name, float("nan")),
            "about": self._about.get(name),
            # the bots of the run that have the same name, with other versions or options
            "kin": [one for one in self._rows if one != name and name_of(one) == name_of(name)],
            "step": self._step(name),
            **self._opponents_table(name),
            "boards": [{**board, "what": self._boards[board["board"]]} for board in by_board],
            "seats": [_named_seat(seat, has_sizes=has_sizes) for seat in by_seat],
            "best": [feat._asdict() | {"id": self._ids[feat.game]} for feat in bot_feats.wins],
            "worst": [feat._asdict() | {"id": self._ids[feat.game]} for feat in bot_feats.losses],
            "faults": self._faults(name),
        }

    def _step(self, name: str) -> dict[str, Any] | None:
        """What the version ``name`` of a league gained over the one before, and the command that
        lists where the two play differently; None if there is no version before, if that is not in
        the standings, or if the run is no league.
        """
        history = self._material.history
        member = self._members.get(name)
        if not history or not member or (before := str(member["before"])) not in self._rows:
            return None
        return {
            "before": before,
            "gain": next(iter(history.of(name).sentences), ""),
            "command": regress_command(self._material.run.name, name, before),
        }

    def _opponents_table(self, name: str) -> dict[str, Any]:
        """The table of the opponents of the bot ``name``, with charts and the number of opponents
        left out.
        """
        own = self._pairs_of[name]
        scale = linear([0.0, *ends_of(own.to_dict("records"), is_anchored=False)], START, END)
        column = next(column for column in PAIRS if column.name == "elo_diff")._replace(shown=0)
        rows = []
        for row in (self._pairs[name, other] for other in self._opponents[name]):
            middle = row["elo_diff"]
            low = row["elo_low"]
            high = row["elo_high"]
            words = f"{signed(low)} to {signed(high)}" if np.isfinite(low + high) else "not known"
            picture = interval(scale, low, middle, high, words, is_plain=True)
            listed = self._meetings.get((name, row["opponent"]), ())[:MAX_LISTED]
            elo = column.written(row, figure)
            rows.append({**row, "elo": elo, "picture": picture, "listed": listed})
        left_out = len(own) - len(rows)
        return {"axis": axis(scale, "Elo ahead"), "opponents": rows, "left_out": left_out}

    def _faults(self, name: str) -> list[dict[str, Any]]:
        """A row for each kind of fault of the bot ``name``: how often it occurred, and its latest
        game. The detail is empty while that game's deal is still being played.
        """
        own_faults = [fault for fault in self._material.scan.faults if fault.bot == name]
        latest = {fault.fault.kind: fault for fault in own_faults}
        counts = Counter(fault.fault.kind for fault in own_faults)
        is_open = self._material.is_open
        rows = []
        for kind, count in counts.most_common():
            last = latest[kind]
            detail = "" if is_open[last.game] else last.fault.detail
            row = {"kind": kind, "count": count, "game": last.id, "turn": last.fault.turn}
            rows.append({**row, "detail": detail})
        return rows


def _means(seats: pd.DataFrame, *by: str) -> dict[int, list[dict[str, Any]]]:
    """By the number of a bot, for each group of its rows in ``seats``, a table of `_seats`, that
    have equal values in the columns ``by``: a dictionary with these values, the number of
    ``games``, and the means of ``share`` and of ``left``, the pagodas left. In ascending order of
    the values.
    """
    groups = seats.groupby(["bot", *by])
    means = groups.agg(games=("share", "size"), share=("share", "mean"), left=("left", "mean"))
    found = defaultdict[int, list[dict[str, Any]]](list)
    for row in _records(means.reset_index()):
        found[row.pop("bot")].append(row)
    return found


def _named_seat(row: dict[str, Any], *, has_sizes: bool) -> dict[str, Any]:
    """A row about a seat, with its name; ``has_sizes`` says that the table has rows of games with
    different numbers of players, which are then named, too.
    """
    size = f" of {row['size']}" if has_sizes else ""
    return {**row, "what": f"seat {row['seat']}{size}"}


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of ``table`` as dicts."""
    return cast("list[dict[str, Any]]", table.to_dict("records"))


def _seats(material: Material) -> pd.DataFrame:
    """A row for each seat of each game: ``seat``, the numbers of its ``board`` and ``bot``, the
    ``size`` of the table (number of players), the ``share`` of the win, the pagodas ``left``,
    ``think_ms``, and ``moves``, the game's placements divided by its players.
    """
    scan = material.scan
    sizes = scan.sizes
    boards = scan.boards()
    numbers = [[boards.index(board)] * len(bots) for board, bots, _ in scan.outcomes]
    won = [shares(list(ranks)) for _, _, ranks in scan.outcomes]
    return pd.DataFrame(
        {
            "seat": scan.by_seat(range(len(bots)) for _, bots, _ in scan.outcomes),
            "board": scan.by_seat(numbers),
            "bot": scan.bots,
            "size": np.repeat(sizes, sizes),
            "share": scan.by_seat(won, np.float64),
            "left": scan.left,
            "think_ms": scan.think_ms,
            "moves": np.repeat(scan.turns / sizes, sizes),
        }
    )
