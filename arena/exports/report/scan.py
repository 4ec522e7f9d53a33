"""What the report needs from a journal besides the tables, in one pass that keeps about thirty
bytes per game; and what it may show of that.
"""

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.errors import ConfigError, RunError
from arena.ratings.history import History, history_of
from arena.ratings.notes import conditions_notes
from arena.ratings.tables import Tables, make_tables
from arena.ratings.tally import (
    Placing,
    PlayedBlocks,
    Row,
    Score,
    row_decoder,
    score_journal,
    scoring_of,
)
from arena.records.journal import (
    COMPRESSED,
    Ids,
    damaged_line,
    journal_of,
    open_journal,
    read_lines,
    read_rows,
)
from arena.records.record import MOST_SEATS, Fault, GameRecord, Milliseconds, decode_record
from arena.records.runfile import RunInfo, read_run
from arena.tournament.config import make_config
from arena.tournament.schedule import Schedule

MOST_LEFT = 127
Reasons = dict[int, list[str]]
"""Games by number, each with the reasons it was chosen."""
HELD = 1000
"""Records held in memory at a time."""


class Material(NamedTuple):
    """A run: its settings, its games, its tables, and what may be shown.

    ``history`` is that of a league, else None. ``is_open`` (G,) says whether a game's deal is still
    being played. ``tables`` count matches if the run is scored so.
    """

    folder: Path
    info: RunInfo
    tables: Tables
    scan: "Scan"
    secrecy: "Secrecy"
    is_open: NDArray[np.bool_]
    history: History | None = None

    @property
    def elo(self) -> Mapping[str, float]:
        """The rating of each bot."""
        return dict(zip(self.tables.standings["bot"], self.tables.standings["elo"], strict=True))

    @property
    def bots(self) -> list[str]:
        """The bots' names, best first."""
        return [str(name) for name in self.tables.standings["bot"]]


def gather(
    folder: Path, prior: float | None = None, match: Sequence[str] | None = None
) -> Material:
    """Reads a run, scored as in `matches.scoring_of`. Raises RunError, NoAnswerError, UserError."""
    return Follower(folder, match).material(prior)


class ReportRow(Row):
    """The fields of a record that a report needs."""

    slowest_ms: list[Milliseconds]
    sandbox: str
    ended: str


_decode = row_decoder(ReportRow)


class Forfeited(Struct, frozen=True):
    """A fault: the number of its game in the journal, the game's id, the bot, and the record's
    entry.
    """

    game: int
    id: str
    bot: str
    fault: Fault


class Scan(Struct):
    """The games of a journal, numbered from 0 in its order; the first record of each id counts.

    ``outcomes``  (O) the different outcomes; ``outcome`` (G,) each game's index there, ``deal``
                  (G,) the number of its deal
    ``offset``, ``turns``  (G,) where its line begins, and its number of placements; ``end`` (G,) an
                           index in ``ends``
    ``left``, ``think_ms``  (N,) by game and seat
    ``slowest_ms``  of each bot; ``faults`` all faults; ``sandboxes`` the number of games played in
                    each sandbox tier
    ``last``        when the last game ended, UTC
    """

    path: Path
    outcomes: list[Placing]
    outcome: NDArray[np.int32]
    deal: NDArray[np.int32]
    offset: NDArray[np.int64]
    turns: NDArray[np.int32]
    end: NDArray[np.int32]
    ends: list[str]
    left: NDArray[np.int8]
    think_ms: NDArray[np.float64]
    slowest_ms: dict[str, float]
    faults: list[Forfeited]
    sandboxes: dict[str, int]
    last: str

    def by_game(self, values: Iterable[int]) -> NDArray[np.int32]:
        """(G,) the value given for each game's outcome."""
        return np.array(list(values), dtype=np.int32)[self.outcome]

    def by_seat(self, values: Iterable[Sequence[float]], kind: type = np.int32) -> NDArray[Any]:
        """(N,) the value given for each game's outcome, by seat."""
        padded: NDArray[Any] = np.zeros((len(self.outcomes), MOST_SEATS), dtype=kind)
        for row, given in zip(padded, values, strict=True):
            row[: len(given)] = given
        return np.asarray(padded[self.outcome][np.arange(MOST_SEATS) < self.sizes()[:, None]])

    def sizes(self) -> NDArray[np.int32]:
        """(G,) the number of seats in each game."""
        return self.by_game(len(bots) for _, bots, _ in self.outcomes)

    def bot_numbers(self) -> dict[str, int]:
        """The bots in the order of their first outcomes, each with its number."""
        names = dict.fromkeys(bot for _, bots, _ in self.outcomes for bot in bots)
        return {name: at for at, name in enumerate(names)}

    def bots(self) -> NDArray[np.int32]:
        """(N,) the number of the bot."""
        number = self.bot_numbers()
        return self.by_seat([[number[bot] for bot in bots] for _, bots, _ in self.outcomes])

    def boards(self) -> list[str]:
        """The boards by name."""
        return sorted({board for board, _, _ in self.outcomes})

    def leads(self) -> NDArray[np.int64]:
        """(G,) how many pagodas fewer than the next one the winner had left; 0 if the win was
        shared.
        """
        if not len(self.outcome):
            return np.zeros(0, dtype=np.int64)
        sizes = self.sizes()
        starts = np.cumsum(sizes, dtype=np.int64) - sizes
        won = self.by_seat([[rank == 1 for rank in ranks] for _, _, ranks in self.outcomes]) == 1
        shared = self.by_game(ranks.count(1) > 1 for _, _, ranks in self.outcomes) == 1
        second = np.minimum.reduceat(np.where(won, MOST_LEFT, self.left), starts)
        return np.where(shared, 0, second - np.minimum.reduceat(self.left, starts))

    def games_of(self) -> Counter[str]:
        """The number of games of each bot, which count once for each of its seats."""
        return Counter(dict(zip(self.bot_numbers(), np.bincount(self.bots()), strict=True)))

    def records(self, games: Iterable[int]) -> dict[int, GameRecord]:
        """The records of games. Raises RunError."""
        found = {}
        # From front to back: each step back would decompress the journal anew.
        with open_journal(self.path) as file:
            for game in sorted(games):
                file.seek(int(self.offset[game]))
                line = file.readline()
                try:
                    found[game] = decode_record(line)
                except (msgspec.DecodeError, ValueError) as error:
                    raise damaged_line(self.path, game + 1, line, error) from None
        return found

    def numbers(self, ids: list[str]) -> list[int]:
        """The numbers of the games with these ids, in the same order. Raises RunError for an
        unknown id.
        """
        rows, wanted = islice(read_rows(self.path, row_decoder(Row)), len(self.offset)), set(ids)
        found = {row.id: number for number, (_, row) in enumerate(rows) if row.id in wanted}
        for name in ids:
            if name not in found:
                raise RunError(
                    f"expected the id of a game in {self.path.parent}, got {name!r}",
                    "ids are the first column of games.csv",
                )
        return [found[name] for name in ids]


class Follower:
    """The games of a run that have been read so far, scored as in `matches.scoring_of`. Raises
    RunError, and UserError for boards that do not fit.
    """

    def __init__(self, folder: Path, match: Sequence[str] | None = None) -> None:
        self._folder, self.info, self._path = folder, read_run(folder), journal_of(folder)
        self._match = scoring_of(self.info, match)
        self._score = Score(self._match, own_decks=self.info.has_own_decks)
        self._file, self._ids = _identity(self._path), Ids()
        self._offset = self._lines = 0
        self._starts, self._left, self._think_ms = array("q"), array("b"), array("d")
        self._turns, self._end = array("i"), array("i")
        self._ends: dict[str, int] = {}
        self._slowest_ms: dict[str, float] = {}
        self._sandboxes: Counter[str] = Counter()
        self._faults: list[Forfeited] = []
        self._last = ""

    @property
    def is_valid(self) -> bool:
        """Whether what was read is still the beginning of the journal."""
        # A journal only grows. Another file, or a shorter one, is another story.
        try:
            size = self._path.stat().st_size
        except OSError:
            size = 0
        is_same = _identity(journal_of(self._folder)) == self._file
        return is_same and (self._path.suffix == COMPRESSED or size >= self._offset)

    def material(self, prior: float | None = None) -> Material:
        """The run with all games that have ended. Raises RunError, NoAnswerError."""
        self.info = info = read_run(self._folder)
        self.read_on()
        counts, blocks = (
            self._score.counted.counts(bot.name for bot in info.bots),
            self._score.games.blocks(),
        )
        tables = make_tables(counts, prior, blocks, match=self._match)
        scan, secrecy = self.scan(), judge(info, blocks)
        is_open = np.empty(len(scan.deal), dtype=np.bool_)
        for board in scan.boards():
            here = np.flatnonzero(scan.by_game(name == board for name, _, _ in scan.outcomes))
            is_open[here] = secrecy.is_open(board, scan.deal[here])
        return Material(
            folder=self._folder,
            info=info,
            tables=tables._replace(
                notes=[*tables.notes, *conditions_notes(info, self._score.hosts)]
            ),
            scan=scan,
            secrecy=secrecy,
            is_open=is_open,
            history=history_of(self._folder, counts) if info.config.get("league") else None,
        )

    def read_on(self) -> None:
        """Reads what has come to the journal. Raises RunError."""
        if not os.path.lexists(self._path):
            return
        for line in read_lines(self._path, self._offset):
            self._lines += 1
            try:
                row = _decode(line)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise damaged_line(self._path, self._lines, line, error) from None
            if self._ids.add(row.id):
                self._score.add(row)
                self._add(row)
            self._offset += len(line)

    def _add(self, row: ReportRow) -> None:
        game = len(self._starts)
        self._faults += [Forfeited(game, row.id, row.bots[one.seat], one) for one in row.faults]
        self._starts.append(self._offset)
        self._turns.append(row.turns)
        self._end.append(self._ends.setdefault(row.end, len(self._ends)))
        self._left.extend(row.left)
        self._think_ms.extend(row.think_ms)
        for bot, slowest_ms in zip(row.bots, row.slowest_ms, strict=False):
            self._slowest_ms[bot] = max(slowest_ms, self._slowest_ms.get(bot, 0.0))
        # After the tier, a record says what single seats were allowed.
        self._sandboxes[row.sandbox.partition(" ")[0]] += 1
        self._last = max(self._last, row.ended)

    def scan(self) -> Scan:
        """The games so far. Its arrays are copies: one cannot grow while others look at it."""
        games = self._score.games
        return Scan(
            path=self._path,
            outcomes=list(games.outcomes),
            outcome=np.array(games.outcome),
            deal=np.array(games.deal),
            offset=np.array(self._starts),
            turns=np.array(self._turns),
            end=np.array(self._end),
            ends=list(self._ends),
            left=np.array(self._left),
            think_ms=np.array(self._think_ms),
            slowest_ms=dict(self._slowest_ms),
            faults=list(self._faults),
            sandboxes=dict(self._sandboxes),
            last=self._last,
        )


def _identity(path: Path) -> tuple[str, int]:
    """Which file is there, if any."""
    try:
        return path.name, path.stat().st_ino
    except OSError:
        return path.name, 0


def chosen_records(scan: Scan, chosen: Reasons) -> Iterator[tuple[GameRecord, list[str]]]:
    """The records of the chosen games."""
    rest = iter(chosen.items())
    while some := dict(islice(rest, HELD)):
        records = scan.records(some)
        yield from ((records[game], reasons) for game, reasons in some.items())


class Secrecy(NamedTuple):
    """What may be shown of a run: nothing that would tell a bot the tiles of a game that is still
    to be played.

    Line-ups play the same deals. So a deal stays secret until all its planned games are in the
    journal. The seed, which determines all deals, stays secret until the whole run is finished. A
    league never is: its next deals follow from it.

    What is finished: the number of ``planned`` games and of ``missing`` ones, None if this
    version cannot read the plan.

    ``over`` says, by board and deal number, whether all games of the deal are played; for later
    deals they are not. ``goes_on`` if more games will be planned, as in a league.
    """

    planned: int | None
    missing: int | None
    over: Mapping[str, NDArray[np.bool_]]
    goes_on: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether no planned game is missing, so that the seed gives nothing away."""
        return self.missing == 0 and not self.goes_on

    def is_open(self, board: str, deals: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """(n,) whether the deals with these numbers (n,) may still have games to play."""
        found = np.full(len(deals), not self.is_finished)
        over = self.over.get(board, np.zeros(0, dtype=np.bool_))
        known = np.flatnonzero(deals < len(over))
        found[known] &= ~over[deals[known]]
        return found

    def is_open_game(self, record: GameRecord) -> bool:
        """Whether other games of a game's deal may still be to be played."""
        return bool(self.is_open(record.board, np.array([record.deal]))[0])


def secrecy_of(run: Path, info: RunInfo) -> Secrecy:
    """What may be shown of a run; this reads the whole journal. Raises RunError."""
    score = score_journal(journal_of(run), [], own_decks=info.has_own_decks)
    return judge(info, score.games.blocks())


def judge(info: RunInfo, blocks: Iterable[PlayedBlocks]) -> Secrecy:
    """What may be shown of a run, given the games of each block; everything is secret if the plan
    cannot be read.
    """
    try:
        schedule = Schedule(make_config(info.config))
    except ConfigError:
        return Secrecy(None, None, {})
    blocks = list(blocks)
    size = max((max(deals, default=-1) for _, deals, _ in blocks), default=-1) + 1
    played = {board: np.zeros(size, dtype=np.int64) for board in schedule.config.boards}
    for place, deals, counts in blocks:
        here = played.get(place.partition("/")[0])
        for deal, games in zip(deals, counts, strict=True):
            if here is not None and schedule.needs_block(place, deal):
                here[deal] += games
    missing = schedule.planned - sum(int(games.sum()) for games in played.values())
    over = {board: _are_over(schedule, board, games) for board, games in played.items()}
    return Secrecy(schedule.planned, missing, over, schedule.config.league is not None)


def _are_over(schedule: Schedule, board: str, games: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) whether the n deals on a board are over, of which so many ``games`` were played."""
    # A bot's author may read the report while the run goes on: a deal that is over for some
    # line-ups is still to be played by others.
    config, line_ups = schedule.config, np.zeros(len(games), dtype=np.int64)
    for deals, count in schedule.spans.items():
        line_ups[deals.start : deals.stop : deals.step] += count
    needed = np.repeat(line_ups, config.rounds.count(board))[: len(games)] * schedule.block_size
    return np.asarray((games > 0) & (games >= needed), dtype=np.bool_)
