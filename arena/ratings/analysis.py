"""The figures behind the standings of a run that `arena analyse` shows: how games end, how long
bots think and on which machines, whether a bot did better on deals that it had met before, and why
games were void. Also the tables of `arena review`.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from msgspec import Struct, field
from msgspec.structs import asdict
from numpy.typing import NDArray

from arena.players.labels import label_among, nearest_label
from arena.ratings.column_values import pairs_table, seats_table
from arena.ratings.company import Company, company
from arena.ratings.intervals import holm, quantile
from arena.ratings.model import rate
from arena.ratings.notes import without_note
from arena.ratings.results import Floats, Ints
from arena.ratings.scipy_parts import stdtr, stdtrit
from arena.ratings.tally import Tally, WholeRow, row_decoder
from arena.records.grades import Grade
from arena.records.journal import journal_of, read_rows
from arena.records.record import GameRecord, shares, split_host
from arena.records.runfile import RunInfo
from arena.records.voids import VoidGame, read_voids
from arena.rules.notation import PASSED, moves_of_seat, seat_of_move
from arena.rules.terms import LAST_PAGODA

MIN_CLUSTERS = 10
"""With fewer deals than this, the gain from meeting a deal again is too uncertain to accuse a bot,
and is not computed.
"""
SMALL = 1e-9
MAX_TURNS = 200
MIN_ORDER_VARIANCE = 0.01
"""The smallest variance that the order of games must have after the effects of seats are removed.
Below it, order and seats cannot be told apart.
"""

ENDS = ("last pagoda", "no tiles", "no space", "forfeit")


class Analysis(NamedTuple):
    """The result of `analyse_run`.

    ``games``      the number of games
    ``deals``      the number of deals
    ``notes``      sentences that say which games are left out
    ``company``    the clearest case of a third bot that changes the difference of two others; None
                   if there is no clear case
    ``seats``      the table of `column_values.seats_table`
    ``met_again``  the table of `reunions_table`
    ``times``      the table of `Spent.times`
    ``endings``    the table of `Spent.endings`
    ``machines``   the table of `Spent.machines`
    ``opponents``  the rows of `column_values.pairs_table` for the requested bot; None if no bot was
                   requested
    ``voids``      the table of `voids_table`
    """

    games: int
    deals: int
    notes: list[str]
    company: Company | None
    seats: pd.DataFrame
    met_again: pd.DataFrame
    times: pd.DataFrame
    endings: pd.DataFrame
    machines: pd.DataFrame
    opponents: pd.DataFrame | None
    voids: pd.DataFrame


def analyse_run(
    folder: Path,
    info: RunInfo,
    prior: float | None = None,
    bot: str | None = None,
    without: Sequence[str] = (),
) -> Analysis:
    """Analyses the run in a folder, whose run.json is ``info``. ``prior`` is the weight of a prior
    that gives every bot a rating (None: no prior). Games in which a bot of ``without`` played are
    left out. ``bot`` names the bot whose opponents are listed in `Analysis.opponents`; None lists
    none.

    Raises RunError if the run cannot be read, NoAnswerError if the results have no finite ratings,
    and UserError for a bot that is not in the run.
    """
    names = info.bot_names
    without = [nearest_label(name, names) for name in without]
    games = Tally(own_decks=info.has_own_decks)
    spent = Spent()
    played = 0
    away = set(without)
    voids = [void for void in read_voids(folder) if away.isdisjoint(void.bots)]
    void_ids = {void.id for void in voids}
    played_later = set[str]()
    for _, row in read_rows(journal_of(folder), row_decoder(WholeRow)):
        played += 1
        if row.id in void_ids:
            played_later.add(row.id)
        if away.isdisjoint(row.bots):
            games.add(row)
            spent.add(row)
    counts = games.counts([name for name in names if name not in away])
    results = counts.results
    notes = without_note(without, names, results.games, played)
    bot = bot and label_among(results.bots, bot)
    ratings = rate(results, prior)
    fits = ratings.fits
    pairs = pairs_table(results, ratings).frame
    return Analysis(
        games=results.games,
        deals=results.clusters,
        notes=notes,
        company=company(results, fits),
        seats=seats_table(counts, fits).frame,
        met_again=reunions_table(games, results.bots),
        times=spent.times(results.bots),
        endings=spent.endings(),
        machines=spent.machines(),
        opponents=None if bot is None else pairs[pairs["bot"] == bot].reset_index(drop=True),
        voids=voids_table(voids, played_later),
    )


class _Sums(Struct):
    """What a bot did, or what all bots did on one machine: the number of ``games``, of ``moves``
    (tiles placed) and of ``faults``, and ``think_ms``, the time of all answers in ms. ``slowest``
    is the time of the slowest answer in ms and the id of its game; before the first game, -1 and an
    empty id. Sums of a bot do not count faults, sums of a machine have no slowest answer.
    """

    games: int = 0
    moves: int = 0
    think_ms: float = 0.0
    faults: int = 0
    slowest: tuple[float, str] = (-1.0, "")

    def per(self, count: int) -> float:
        """``think_ms`` divided by ``count``, a number of games or moves; NaN if ``count`` is 0."""
        return self.think_ms / count if count else float("nan")


class _Ends(Struct):
    """How the games of one board and number of players ended: ``turns`` counts games by their
    number of placements, ``ends`` by the reason for their end, and ``by_other`` counts the games in
    which the last pagoda of a seat was placed by the tile of another seat.
    """

    turns: Counter[int] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    by_other: int = 0


class Spent:
    """Counts, game by game as a journal is read, how games end and how much time bots take."""

    def __init__(self) -> None:
        self._bots = defaultdict[str, _Sums](_Sums)
        self._hosts = defaultdict[str, _Sums](_Sums)
        self._ends = defaultdict[tuple[str, int], _Ends](_Ends)

    def add(self, game: WholeRow) -> None:
        """Counts ``game``."""
        size = len(game.bots)
        for seat, bot in enumerate(game.bots):
            mine = self._bots[bot]
            moves = moves_of_seat(game.moves, seat, size)
            mine.games += 1
            mine.moves += len(moves) - moves.count(PASSED)
            mine.think_ms += game.think_ms[seat]
            slowest_ms, slowest_game = mine.slowest
            if (game.slowest_ms[seat], slowest_game) > (slowest_ms, game.id):
                mine.slowest = game.slowest_ms[seat], game.id
        host = self._hosts[game.host]
        ends = self._ends[game.board, size]
        host.games += 1
        host.moves += game.turns
        host.think_ms += sum(game.think_ms)
        host.faults += len(game.faults)
        ends.turns[game.turns] += 1
        ends.ends[game.end] += 1
        if game.end == LAST_PAGODA:
            last_mover = seat_of_move(len(game.moves) - 1, size)
            ends.by_other += bool(game.left[last_mover])

    def times(self, bots: Iterable[str]) -> pd.DataFrame:
        """One row per bot, sorted by name, for ``bots`` and any others in the counted games. Times
        are in ms.

        ``bot``           str
        ``games``         int64: games played
        ``moves``         int64: tiles placed
        ``move_ms``       float64: the mean time of a move, NaN without moves
        ``game_ms``       float64: the mean time of a game, NaN without games
        ``slowest_ms``    float64: the time of the slowest answer, NaN without games
        ``slowest_game``  str: the id of the game with the slowest answer
        """
        rows = []
        for bot in sorted({*bots, *self._bots}):
            mine = self._bots[bot]
            slowest_ms, game = mine.slowest
            means = mine.per(mine.moves), mine.per(mine.games)
            slowest_ms = slowest_ms if game else float("nan")
            rows.append((bot, mine.games, mine.moves, *means, slowest_ms, game))
        names = ["bot", "games", "moves", "move_ms", "game_ms", "slowest_ms", "slowest_game"]
        return pd.DataFrame(rows, columns=names)

    def machines(self) -> pd.DataFrame:
        """One row per machine and speed, sorted by the machine's name.

        ``host``     str
        ``speed``    Int64: games of a fixed kind that the machine plays in a second; missing if it
                     was not measured
        ``games``    int64: games played on the machine
        ``faults``   int64: faults of bots in these games
        ``move_ms``  float64: the mean time of the answers of all bots in ms, NaN without moves
        """
        rows = []
        for host, spent in sorted(self._hosts.items()):
            name, speed = split_host(host)
            rows.append((name, speed, spent.games, spent.faults, spent.per(spent.moves)))
        table = pd.DataFrame(rows, columns=["host", "speed", "games", "faults", "move_ms"])
        return table.astype({"speed": "Int64"})

    def endings(self) -> pd.DataFrame:
        """One row per board and number of players, sorted by these two. All shares are from 0 to 1.

        ``board``        str
        ``players``      int64
        ``games``        int64
        ``turns``        float64: tiles placed in a game, the median
        ``turns_low``    float64: the 5 % quantile of tiles placed
        ``turns_high``   float64: the 95 % quantile of tiles placed
        ``last_pagoda``  float64: the share of games that ended because a seat had no pagoda left to
                         place
        ``no_tiles``     float64: the share that ended because there were no tiles
        ``no_space``     float64: the share that ended because no tile could be placed
        ``forfeit``      float64: the share that ended by forfeits
        ``by_other``     float64: among the games that ended with a last pagoda, the share in which
                         the tile of another seat placed that pagoda; NaN if no game ended so
        """
        rows = []
        for (board, players), ended in sorted(self._ends.items()):
            turns = sorted(ended.turns.elements())
            games = ended.turns.total()
            low, median, high = np.quantile(turns, [0.05, 0.5, 0.95]).tolist()
            ends = [ended.ends[end] / games for end in ENDS]
            last = ended.ends[LAST_PAGODA]
            by_other = ended.by_other / last if last else np.nan
            rows.append((board, players, games, median, low, high, *ends, by_other))
        names = ["board", "players", "games", "turns", "turns_low", "turns_high"]
        names += [end.replace(" ", "_") for end in ENDS]
        return pd.DataFrame(rows, columns=[*names, "by_other"])


def voids_table(voids: Iterable[VoidGame], played_later: Container[str]) -> pd.DataFrame:
    """One row for each reason for which games were void, the most frequent reason first.

    ``reason``    str
    ``attempts``  int64: how many attempts to play a game failed for this reason
    ``games``     int64: how many different games these attempts were at
    ``unplayed``  int64: how many of these games have no result: they are not in ``played_later``,
                  the ids of games in the journal
    ``game``      str: the id of the first of these games in the order of ``voids``
    """
    games_of = defaultdict[str, list[str]](list)
    for void in voids:
        games_of[void.reason].append(void.id)
    rows = []
    for reason, games in sorted(games_of.items(), key=lambda item: -len(item[1])):
        different = set(games)
        unplayed = sum(game not in played_later for game in different)
        rows.append((reason, len(games), len(different), unplayed, games[0]))
    return pd.DataFrame(rows, columns=["reason", "attempts", "games", "unplayed", "game"])


def reunions_table(games: Tally, bots: list[str]) -> pd.DataFrame:
    """One row per bot of ``bots``: how many more wins a game it got in the later games of its
    blocks than in the first ones. A block is the games of one line-up on one deal; its first game
    is the one that comes first in the journal. A bot that remembers deals would gain.

    ``bot``    str
    ``games``  int64: the bot's games in blocks in which it has several games
    ``deals``  int64: the number of deals of these blocks
    ``gain``   float64: in wins per game (a shared win is a part of one), with the effect of seats
               removed; NaN with fewer than `MIN_CLUSTERS` deals, or if seat and order cannot be
               told apart
    ``error``  float64: half the width of the 95 % interval of ``gain``, clustered by deal; NaN if
               unknown or 0
    ``p``      float64: the probability that chance alone gives a gain at least this far from 0; NaN
               if ``error`` is
    ``p_all``  float64: ``p`` corrected for testing all bots at once (Holm)
    """
    outcome = np.array(games.outcome, dtype=np.int64)
    clusters = games.board_deals()
    blocks = games.block_deals()
    later = pd.Series(blocks).duplicated().to_numpy()
    rows = [_reunion(games, bot, outcome, blocks, later, clusters) for bot in bots]
    table = pd.DataFrame(rows, columns=["games", "deals", "gain", "error", "p"])
    table.insert(0, "bot", bots)
    return table.assign(p_all=holm(table["p"].to_numpy(dtype=np.float64)))


def _reunion(
    games: Tally, bot: str, outcome: Ints, blocks: Ints, later: NDArray[np.bool_], clusters: Ints
) -> tuple[int, int, float, float, float]:
    """The row of ``bot`` in `reunions_table`, without its name and ``p_all``: a least-squares fit
    of wins on order, within blocks and within the seats of each line-up. The arrays have one entry
    per game, in the order of the journal: ``outcome`` is the number of the game's outcome in
    ``games``, ``blocks`` its block, ``later`` whether it is not the first game of its block,
    ``clusters`` its deal.
    """
    score = np.full(len(games.outcomes), np.nan)
    seat = np.zeros(len(games.outcomes), dtype=np.int64)
    seats: dict[tuple[str, tuple[str, ...], int], int] = {}
    for number, (board, bots, ranks) in enumerate(games.outcomes):
        if bot in bots:
            place = bots.index(bot)
            score[number] = shares(ranks)[place]
            # Seats have effects for each line-up by itself, because the worth of a seat depends on
            # the opponents. With one effect for all line-ups, runs whose first seating was always
            # the same accused honest bots.
            key = board, tuple(sorted(bots)), place
            seat[number] = seats.setdefault(key, len(seats))
    mine = np.flatnonzero(~np.isnan(score[outcome]))
    _, block, sizes = np.unique(blocks[mine], return_inverse=True, return_counts=True)
    mine = mine[sizes[block] > 1]
    _, block = np.unique(blocks[mine], return_inverse=True)
    _, cluster = np.unique(clusters[mine], return_inverse=True)
    count = int(cluster.max(initial=-1)) + 1
    columns = np.column_stack([score[outcome[mine]], later[mine].astype(np.float64)])
    gain, error = _slope(_within(columns, block, seat[outcome[mine]]), cluster, count)
    freedom = max(1, count - 1)
    p = float(2 * stdtr(freedom, -abs(gain / error))) if error > 0 else np.nan
    half = error * float(stdtrit(freedom, 0.975)) if error > 0 else np.nan
    return len(mine), count, gain, half, p


def _within(columns: Floats, *groupings: Ints) -> Floats:
    """The ``columns`` minus their group means, for all ``groupings`` (the number of each row's
    group) at once, by alternating projections.
    """
    for _ in range(MAX_TURNS if len(columns) else 0):
        before = columns
        for group in groupings:
            sizes = np.maximum(np.bincount(group), 1)
            sums = [np.bincount(group, column, len(sizes)) for column in columns.T]
            columns = columns - (np.stack(sums, axis=1) / sizes[:, None])[group]
        if np.abs(columns - before).max() < SMALL:
            break
    return columns


def _slope(columns: Floats, cluster: Ints, count: int) -> tuple[float, float]:
    """The slope of the first of two ``columns`` on the second, and its standard error clustered by
    ``cluster``, of which there are ``count``. NaN with fewer than `MIN_CLUSTERS` clusters, or if
    the second column hardly varies.
    """
    if count < MIN_CLUSTERS:
        return np.nan, np.nan
    score, later = columns.T
    weight = float(later @ later)
    if weight < MIN_ORDER_VARIANCE * len(later):
        return np.nan, np.nan
    gain = float(later @ score) / weight
    sums = np.bincount(cluster, later * (score - gain * later), count)
    return gain, float(np.sqrt(count / (count - 1) * (sums @ sums))) / weight


BLUNDER = 0.1
"""A decision is a blunder if its cost is at least this share of the win, and larger than the error
of the cost.
"""
MIN_DEALS = 2
COLUMNS = ["game", "board", "deal", "turn", "seat", "bot", "choices", "played", "better"]
COLUMNS += ["cost", "error", "sure", "win"]

Graded = tuple[GameRecord, Mapping[int, Grade]]
"""The record of a game, and the grades of its decisions by turn."""


def decisions_table(games: Iterable[Graded]) -> pd.DataFrame:
    """One row per graded decision with at least two legal moves, in the order of ``games`` and
    their turns.

    ``game``, ``board``, ``bot``, ``played``, ``better``  str
    ``deal``, ``turn``, ``seat``, ``choices``             int64
    ``cost``, ``error``, ``sure``, ``win``                float64, as in `records.grades.Grade`;
                                                          ``sure`` is NaN if ``error`` is 0, as it
                                                          is if the better move is the played one
    """
    rows = []
    for record, grades in games:
        game = {"game": record.id, "board": record.board, "deal": record.deal}
        for _, grade in sorted(grades.items()):
            if grade.choices > 1:
                row = {**game, "bot": record.bots[grade.seat], **asdict(grade)}
                row["sure"] = float("nan") if grade.sure is None else grade.sure
                rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def worst_decisions(decisions: pd.DataFrame, most: int) -> pd.DataFrame:
    """At most ``most`` rows of ``decisions``, a table of `decisions_table`: those that surely cost
    most. They are sorted by the cost minus its error, the highest first; rows in which that is 0 or
    less are left out.
    """
    # Among many uncertain costs, the largest ones are mostly those that luck made large.
    least = decisions["cost"] - decisions["error"]
    order = least[least > 0].sort_values(ascending=False, kind="stable").index
    return decisions.loc[order[:most]].reset_index(drop=True)


def bots_table(decisions: pd.DataFrame, *, own_decks: bool = False) -> pd.DataFrame:
    """One row per bot in ``decisions``, a table of `decisions_table`, sorted by the mean cost of a
    decision, the lowest first. ``own_decks`` says that line-ups play different decks under the same
    deal numbers.

    ``bot``        str
    ``games``      int64: games with a graded decision
    ``deals``      int64: deals of these games
    ``decisions``  int64
    ``cost``       float64: the mean cost of a decision, as a share of a win
    ``error``      float64: half the width of its 95 % interval, clustered by deal; NaN with one
                   deal
    ``blunders``   int64: decisions that are blunders, see `BLUNDER`
    ``agreed``     float64: the share of the decisions, from 0 to 1, in which the judge would have
                   played the same move
    """
    rows = []
    for bot, own in decisions.groupby("bot"):
        summary = _summary(own, own_decks=own_decks)
        rows.append({"bot": bot, **summary})
    columns = ["bot", "games", "deals", "decisions", "cost", "error", "blunders", "agreed"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["cost", "bot"], kind="stable").reset_index(drop=True)


def _summary(rows: pd.DataFrame, *, own_decks: bool) -> dict[str, float]:
    """The columns of `bots_table` for one bot, from ``rows``, its rows of `decisions_table`."""
    line_up = rows["game"].str.split("/").str[1] if own_decks else ""
    deals = rows["cost"].groupby([rows["board"] + "/" + line_up, rows["deal"]])
    is_blunder = (rows["cost"] >= BLUNDER) & (rows["cost"] > rows["error"])
    cost, error = mean_by_cluster(
        deals.sum().to_numpy(), deals.size().to_numpy().astype(np.float64)
    )
    return {
        "games": rows["game"].nunique(),
        "deals": deals.ngroups,
        "decisions": len(rows),
        "cost": cost,
        "error": error,
        "blunders": int(is_blunder.sum()),
        "agreed": float((rows["played"] == rows["better"]).mean()),
    }


def mean_by_cluster(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """The mean of clustered values and half the width of its 95 % interval, given the sum
    (``sums``) and the number (``sizes``) of values in each of several independent clusters. The
    half-width is the sandwich estimate for a ratio; NaN with one cluster.
    """
    clusters = len(sums)
    total = sizes.sum()
    mean = float(sums.sum() / total)
    if clusters < MIN_DEALS:
        return mean, float("nan")
    residuals = sums - mean * sizes
    variance = clusters / (clusters - 1) * np.square(residuals).sum() / total**2
    return mean, float(quantile(clusters - 1) * np.sqrt(variance))
