"""Counted results: what tables and the model need from the games, as arrays that do not depend on
the order of the games; and results of games played elsewhere, from a CSV file with one row per
game.

Columns of a file: ``bot_0`` ... and ``share_0`` ... by seat, for 2 to 4 players. ``block`` is
optional: rows with the same block share their luck. The other columns of games.csv (``rank_``,
``left_`` and ``think_ms_`` by seat, and ``faults``) are used if present.
"""

import csv
import io
from collections.abc import Collection, Mapping
from itertools import islice, permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.errors import UserError
from arena.ratings.columns import text_of
from arena.records.record import MOST_SEATS

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Column = NDArray[np.int32]
WHOLE = 12
"""A win in integer parts, which 1, 2, 3 or 4 winners can share evenly, so that sums are exact."""
RANKS = 4
FEWEST_SEATS = 2
NS_PER_MS = 1_000_000


class Results(NamedTuple):
    """Counted games of ``clusters`` deals between ``bots`` (n): O different outcomes, sorted, and
    the G games that had them. Tables of all sizes have as many columns as the largest has seats, K.

    ``seats`` (O, K) bots' numbers; n where nobody sits, or one who is left out, see `restrict`
    ``players`` (O,) at the table; ``ranks`` (O, K) by seat; ``share`` (O, K) of the win, 0 where
    nobody sits; ``times`` (O,) how many games had the outcome
    ``cluster``, ``outcome``  (G,) each game's deal and its row in the arrays above, sorted
    """

    bots: list[str]
    clusters: int
    seats: Ints
    players: Ints
    ranks: Ints
    share: Floats
    times: Floats
    cluster: Column
    outcome: Column

    @property
    def games(self) -> int:
        """How many games were counted."""
        return len(self.cluster)

    def played(self) -> Floats:
        """(n,) in how many games each bot sat; in how many seats, if it sat twice."""
        count, width = len(self.bots), self.seats.shape[1]
        games = np.bincount(self.seats.ravel(), np.repeat(self.times, width), count + 1)
        return np.asarray(games[:count], dtype=np.float64)

    def meetings(self) -> Ints:
        """(3, n, n) in how many games each two different bots met, in how many of them the row's
        bot ranked better, and in how many they ranked equal.
        """
        count, width = len(self.bots), len(self.bots) + 1
        counted = np.zeros((3, width * width))
        for one, other in permutations(range(self.seats.shape[1]), 2):
            pair = self.seats[:, one] * width + self.seats[:, other]
            ranks, others = self.ranks[:, one], self.ranks[:, other]
            for row, which in enumerate((True, ranks < others, ranks == others)):
                counted[row] += np.bincount(pair, self.times * which, width * width)
        met = counted.reshape(3, width, width)[:, :count, :count].astype(np.int64)
        return np.where(np.eye(count, dtype=np.bool_), 0, met)

    def deals(self) -> Ints:
        """(n,) on how many deals each bot played."""
        deals, step = np.zeros(len(self.bots) + 1, dtype=np.int64), 1 << 16
        for first in range(0, self.clusters, step):
            played = np.zeros((step, len(deals)), dtype=np.bool_)
            games = slice(*np.searchsorted(self.cluster, (first, first + step)))
            deal, bots = self.cluster[games] - first, self.seats[self.outcome[games]]
            for seat in range(self.seats.shape[1]):
                played[deal, bots[:, seat]] = True
            deals += played.sum(axis=0)
        return deals[:-1]

    def only(self, kept: Flags) -> "Results":
        """The games with some of the outcomes (O,), and their deals."""
        games = kept[self.outcome]
        used = np.zeros(self.clusters, dtype=np.bool_)
        used[self.cluster[games]] = True
        deal, row = ((np.cumsum(which) - 1).astype(np.int32) for which in (used, kept))
        return Results(
            bots=self.bots,
            clusters=int(used.sum()),
            seats=self.seats[kept],
            players=self.players[kept],
            ranks=self.ranks[kept],
            share=self.share[kept],
            times=self.times[kept],
            cluster=deal[self.cluster[games]],
            outcome=row[self.outcome[games]],
        )


def restrict(results: Results, members: Ints) -> Results:
    """The results as the given bots see them, with these bots renumbered in order: the games at a
    table with two of them or more that one of them won, without the seats of all others.

    In the model the odds of two bots do not depend on who else sits there. So a seat that is left
    out takes nothing from what the game says about those who stay.
    """
    if len(members) == len(results.bots):
        return results
    number = np.full(len(results.bots) + 1, len(members), dtype=np.int64)
    number[members] = np.arange(len(members))
    seats = number[results.seats]
    inside = seats < len(members)
    won = (results.share * inside).sum(axis=1, keepdims=True)
    share = np.divide(results.share * inside, won, where=won > 0, out=np.zeros(seats.shape))
    names = [results.bots[member] for member in members]
    kept = (inside.sum(axis=1) >= FEWEST_SEATS) & (won[:, 0] > 0)
    return results._replace(bots=names, seats=seats, share=share).only(kept)


class Outcomes(NamedTuple):
    """Games as they were read: O outcomes in any order, and for each game (G,) its deal and its
    outcome.

    ``seats`` (O, K) bots' numbers, their number where nobody sits; ``ranks`` (O, K), 1 is best
    ``sums``  (O, K) each: ``forfeits``, ``left``, ``think_ns`` over the games with this outcome,
              and of how many games the latter two are (``left_games``, ``think_games``), where that
              is not all
    """

    seats: Ints
    ranks: Ints
    cluster: Ints
    outcome: Ints | Column
    sums: Mapping[str, NDArray[Any]]


class Counts(NamedTuple):
    """Counted games, and what else the tables need.

    ``deals`` (C,) is the number of each cluster's deal on its board. ``totals`` has a row for each
    table size, seat and bot with games there, sorted. All columns are float64 except the first
    four, which are int64. The sums leave out what a foreign file does not have:

    ``seats``, ``seat``, ``bot`` (its number), ``games``
    ``wins``, ``shared``, ``parts`` (of `WHOLE`), ``ranks``, ``forfeits``  sums
    ``left``, ``think_ns``  sums over the ``left_games`` and ``think_games`` that have them
    """

    results: Results
    deals: Ints
    totals: pd.DataFrame


def counts_of(bots: list[str], deals: Ints, played: Outcomes) -> Counts:
    """Counts the games between these bots."""
    results = count_games(bots, len(deals), *played[:4])
    return Counts(results, deals, _totals(played, len(bots)))


def count_games(
    bots: list[str],
    clusters: int,
    seats: Ints,
    ranks: Ints,
    cluster: Ints,
    outcome: Ints | Column | None = None,
) -> Results:
    """Counts games given as in `Outcomes`. Without ``outcome``, every game has its own row."""
    places, inside = np.arange(seats.shape[1]), seats < len(bots)
    codes = (seats @ (len(bots) + 1) ** places) * RANKS ** len(places)
    codes += np.where(inside, ranks - 1, 0) @ RANKS**places
    found, first, number = np.unique(codes, return_index=True, return_inverse=True)
    # Sorted by deal and outcome, whatever the journal's order: sums of floats depend on their order
    # in the last digits, and a table must not depend on which worker was faster.
    order = cluster * max(len(found), 1)
    order += number if outcome is None else number[outcome]
    order.sort()
    of_game = (order % max(len(found), 1)).astype(np.int32)
    won = (inside & (ranks == 1))[first]
    return Results(
        bots=bots,
        clusters=clusters,
        seats=seats[first],
        players=inside[first].sum(axis=1),
        ranks=ranks[first],
        share=won / np.maximum(won.sum(axis=1, keepdims=True), 1),
        times=np.bincount(of_game, minlength=len(found)).astype(np.float64),
        cluster=(order // max(len(found), 1)).astype(np.int32),
        outcome=of_game,
    )


def _totals(played: Outcomes, bots: int) -> pd.DataFrame:
    """The rows of `Counts.totals`. All sums are of whole numbers, so that they do not depend on the
    order of the games.
    """
    inside, width = played.seats < bots, played.seats.shape[1]
    won = inside & (played.ranks == 1)
    players, winners = (which.sum(axis=1, keepdims=True) for which in (inside, won))
    games = np.bincount(played.outcome, minlength=len(won))[:, None]
    columns: dict[str, NDArray[Any]] = {
        "games": games,
        "wins": games * (won & (winners == 1)),
        "shared": games * (won & (winners > 1)),
        "parts": games * won * (WHOLE // np.maximum(winners, 1)),
        "ranks": games * played.ranks,
        **dict.fromkeys(("forfeits", "left", "think_ns"), games * 0),
        **dict.fromkeys(("left_games", "think_games"), games),
        **played.sums,
    }
    place = ((players * width + np.arange(width)) * bots + played.seats)[inside]
    held = np.flatnonzero(np.bincount(place))
    sums = {
        name: np.bincount(place, np.broadcast_to(values, won.shape)[inside])[held]
        for name, values in columns.items()
    }
    seat, bot = held // max(bots, 1), held % max(bots, 1)
    table = pd.DataFrame({"seats": seat // width, "seat": seat % width, "bot": bot, **sums})
    return table.astype({"games": "int64"})


HINT = (
    "the first line names the columns, for example block,bot_0,bot_1,share_0,share_1; block is"
    " optional"
)
NEEDED = [f"{what}_{seat}" for what in ("bot", "share") for seat in range(FEWEST_SEATS)]
BY_SEAT = ("bot", "share", "rank", "left", "think_ms")
KNOWN = {"block", "faults", *(f"{what}_{at}" for what in BY_SEAT for at in range(MOST_SEATS))}
CLOSE = 0.005
"""Wide enough that 0.33 and 0.3333 both count as a third."""
PARTS = (0, *(WHOLE // count for count in range(1, MOST_SEATS + 1)))
TOLD = ("bot_", "share_", "rank_", "faults")
"""The columns of which few different cells are expected."""
SHARES = "shares of 1/m for each of m winners and 0 for the others, for example 1,0 or 0.5,0.5"


class Sheet(NamedTuple):
    """A file's games (G) by seat (S), and what the reader should know.

    ``bots`` (G, S) numbers in ``names``, their number where nobody sits; ``ranks`` (G, S), without
    ``has_ranks`` 2 for all bots that did not win; ``left``, ``think_ms`` (G, S), NaN where the file
    does not have them; ``forfeits`` (G, S) whether the bot did; ``cluster`` (G,) the number of the
    block, or of the game without blocks. ``unused`` are columns that we do not use.
    """

    names: list[str]
    bots: Ints
    ranks: Ints
    left: Floats
    think_ms: Floats
    forfeits: Flags
    cluster: Ints
    has_blocks: bool
    has_ranks: bool
    unused: list[str]
    notes: list[str]

    def counts(self, without: Collection[str] = ()) -> Counts:
        """The games counted, but for those in which one of these bots sat."""
        stays = np.array([name not in without for name in [*self.names, ""]])
        names = [name for name in self.names if name not in without]
        games = stays[self.bots].all(axis=1)
        left, think_ms = self.left[games], self.think_ms[games]
        clusters, cluster = np.unique(self.cluster[games], return_inverse=True)
        sums = {
            "forfeits": self.forfeits[games],
            "left": np.nan_to_num(left),
            "left_games": ~np.isnan(left),
            "think_ns": np.nan_to_num(np.rint(think_ms * NS_PER_MS)),
            "think_games": ~np.isnan(think_ms),
        }
        seats = (stays.cumsum() - 1)[self.bots[games]]
        played = Outcomes(seats, self.ranks[games], cluster, np.arange(len(seats)), sums)
        return counts_of(names, np.arange(len(clusters)), played)


def read_sheet(data: bytes, name: str) -> Sheet:
    """The games in a CSV file. Raises UserError with the line, what was expected, and what came."""
    text = _text(data, name)
    columns: list[str] = next(_rows(text), [])
    _check_shape(text, columns, name)
    known = [column for column in columns if column in KNOWN]
    kinds = {column: "category" if column.startswith(TOLD) else "str" for column in known}
    cells = pd.read_csv(io.StringIO(text), usecols=known, dtype=kinds, na_filter=False)
    size = sum(column.startswith("bot_") for column in known)
    has_blocks, has_ranks = "block" in known, "rank_0" in known
    told = cells[[column for column in known if column.startswith(TOLD)]]
    blocks = cells["block"].str.strip() if has_blocks else cells.index
    if has_blocks:
        told = told.assign(block=np.where(blocks == "", "", "x"))
    # A million rows have a few thousand different ones.
    number = told.groupby(list(told), observed=True).ngroup().to_numpy()
    games, first = list[ListedGame](), told.drop_duplicates()
    for row, texts in first.to_dict("index").items():
        try:
            games.append(game_of({str(key): str(cell) for key, cell in texts.items()}, size))
        except ValueError as error:
            lines = (rows.line_num for rows in [_rows(text)] for row in rows if row)
            line = next(islice(lines, int(str(row)) + 1, None))  # blank lines are no rows
            raise UserError(f"{name}, line {line}: {error}", "fix the line, or delete it") from None
    names = sorted({bot for game in games for bot in game.bots} - {""})
    place = {bot: at for at, bot in enumerate([*names, ""])}
    bots, ranks, forfeits = (
        np.array(found, dtype=np.int64).reshape(-1, size)[np.argsort(number[first.index])[number]]
        for found in (
            [[place[bot] for bot in game.bots] for game in games],
            [game.ranks for game in games],
            [game.forfeits for game in games],
        )
    )
    cluster = np.asarray(pd.factorize(blocks, sort=True)[0], dtype=np.int64)
    notes = _uneven(cluster) if has_blocks else []
    if not has_ranks and ((bots < len(names)).sum(axis=1) > FEWEST_SEATS).any():
        equal = "between two bots that did not win, the result counts as equal"
        notes.append(f"the file has no ranks: {equal}")
    return Sheet(
        names=names,
        bots=bots,
        ranks=ranks,
        left=_numbers(cells, "left", size),
        think_ms=_numbers(cells, "think_ms", size),
        forfeits=forfeits.astype(np.bool_),
        cluster=cluster,
        has_blocks=has_blocks,
        has_ranks=has_ranks,
        unused=sorted(set(columns) - set(known)),
        notes=notes,
    )


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wrong = repr(error.object[error.start : error.end])
        raise UserError(
            f"{name}, line {line}: expected UTF-8, got {wrong}", "save it as UTF-8"
        ) from None


def _rows(text: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""))


def _check_shape(text: str, columns: list[str], name: str) -> None:
    """Raises UserError for a header that lacks columns, and for a line with more cells than these,
    because pandas would silently drop some.
    """
    told = ",".join(columns)
    missing = [column for column in NEEDED if column not in columns]
    twice = [column for column in columns if columns.count(column) > 1]
    held = [len({f"bot_{seat}", f"share_{seat}"} & {*columns}) for seat in range(MOST_SEATS + 1)]
    wrong = ""
    if missing:
        wrong = f"the column {missing[0]}, got {told or 'nothing'}"
    elif twice:
        wrong = f"each column once, got {twice[0]} twice"
    elif held[MOST_SEATS] or 1 in held or held != sorted(held, reverse=True):
        wrong = f"bot_ and share_ for up to {MOST_SEATS} seats, from 0, got {told}"
    if wrong:
        raise UserError(f"{name}, line 1: expected {wrong}", HINT)
    rows = _rows(text)
    if wide := next((rows.line_num for row in rows if len(row) > len(columns)), None):
        raise UserError(
            f"{name}, line {wide}: expected {len(columns)} cells, got more",
            'put "quotes" around a cell that contains a comma',
        )


class ListedGame(NamedTuple):
    """A game by seat; nobody is called nothing."""

    bots: list[str]
    ranks: list[int]
    forfeits: list[bool]


def game_of(cells: Mapping[str, str], seats: int) -> ListedGame:
    """The game in a row of a file with so many seats. Raises ValueError: what was expected, and
    what came.
    """
    bots = [cells[f"bot_{seat}"].strip() for seat in range(seats)]
    texts = [cells[f"share_{seat}"] for seat in range(seats)]
    size = bots.index("") if "" in bots else seats
    if size < FEWEST_SEATS or any(bots[size:]):
        names = ",".join(bots)
        raise ValueError(f"expected the names of two or more bots, without gaps, got {names}")
    parts = [_parts(text) if text.strip() or at < size else 0 for at, text in enumerate(texts)]
    for seat, (part, text) in enumerate(zip(parts, texts, strict=True)):
        if part is None:
            raise ValueError(f"expected {SHARES}, got {text!r} in share_{seat}")
        if part and seat >= size:
            raise ValueError(f"expected no share where no bot sits, got {text!r} in share_{seat}")
    winners = [seat for seat, part in enumerate(parts) if part]
    if not winners or any(parts[seat] != WHOLE / len(winners) for seat in winners):
        raise ValueError(f"expected {SHARES}, got {','.join(texts[:size])}")
    if not cells.get("block", "1"):
        raise ValueError("expected a block, got an empty cell")
    told = [cells.get(f"rank_{at}", "1" if at in winners else "2") for at in range(seats)]
    ranks = [_rank(text) for text in told]
    for seat in range(size):
        if not ranks[seat] or (ranks[seat] == 1) != (seat in winners):
            expected = f"expected a rank from 1 to {MOST_SEATS}, 1 for the winners"
            raise ValueError(f"{expected}, got {told[seat]!r} in rank_{seat}")
    faults = f";{cells.get('faults', '')}"  # "seat:kind", joined by ";"
    forfeits = [f";{seat}:" in faults for seat in range(seats)]
    return ListedGame([text_of(bot) for bot in bots], ranks, forfeits)


def _parts(text: str) -> int | None:
    """A share, such as 1, 0.5, .333 or 1/3, in parts of `WHOLE`; None if it is none."""
    above, slash, below = text.partition("/")
    try:
        value = float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError):
        return None
    return next((part for part in PARTS if abs(value - part / WHOLE) < CLOSE), None)


def _rank(text: str) -> int:
    """A rank, or 0 if it is none."""
    try:
        return int(value) if (value := float(text)) in range(1, MOST_SEATS + 1) else 0
    except ValueError:
        return 0


def _numbers(cells: pd.DataFrame, what: str, size: int) -> Floats:
    """(G, S) the numbers in ``what_0`` and so on, NaN if there is none."""
    names = [f"{what}_{seat}" for seat in range(size)]
    numbers = cells.reindex(columns=names).apply(pd.to_numeric, errors="coerce")
    return np.asarray(numbers, dtype=np.float64)


def _uneven(cluster: Ints) -> list[str]:
    """A note if some blocks have fewer games than most."""
    games = np.bincount(cluster)
    usual = int(np.flatnonzero(np.bincount(games) == np.bincount(games).max(initial=0))[-1:].sum())
    fewer = int((games < usual).sum())
    told = f"{fewer} of the {len(games)} blocks have fewer games than the usual {usual}"
    return [f"{told}; they count all the same"] if fewer else []
