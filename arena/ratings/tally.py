"""Counts the games of a journal while it is read, or the matches that the games make up (R8.3).
Only a few bytes per game stay in memory, however long its line is.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from arena.errors import RunError, UserError
from arena.ratings.results import Counts, Ints, Outcomes, counts_of
from arena.records.blocks import PlayedBlocks
from arena.records.journal import Ids, read_rows
from arena.records.notes import Notes
from arena.records.record import (
    DEALS,
    MAX_SEATS,
    NS_PER_MS,
    AnswerTimes,
    Deal,
    Fault,
    GameRecord,
    Left,
    Milliseconds,
    Rank,
    Seating,
    Seats,
    TurnNumber,
    check_seats,
)
from arena.records.runfile import RunInfo
from arena.rules.terms import place_of, title_of, turns_of

SeatedBots = tuple[str, ...]
Placing = tuple[str, SeatedBots, tuple[int, ...]]
"""An outcome of a game: the board, and by seat the bots and their ranks."""
MAX_OTHERS = 100
"""How many bots may have played that run.json does not have. The time for a rating grows with the
third power of the number of bots: with 3,000 of them it took ten minutes.
"""


class Row(Struct, gc=False):
    """The fields of a game's record that the tables need."""

    id: str
    board: str
    deal: Deal
    bots: Annotated[tuple[str, ...], Seats]
    ranks: tuple[Rank, ...]
    left: tuple[Left, ...]
    think_ms: tuple[Milliseconds, ...]
    faults: list[Fault]
    seating: Seating
    end: str
    turns: TurnNumber
    host: str


class WholeRow(Row):
    """A row that also has the deck, the moves, the times of the answers and the bots' notes."""

    deck: str
    moves: list[str]
    slowest_ms: tuple[Milliseconds, ...]
    ms: AnswerTimes = None
    notes: Notes = None


class Lost(NamedTuple):
    """A seat of a match that forfeited in at least one of its rounds."""

    seat: int


class Match(Struct, frozen=True, gc=False):
    """A match in the form of a game: ``board`` names the boards of its rounds, ``deal`` is the
    number of the match's deal, and ``left`` and ``think_ms`` (in ms) are summed over its rounds.
    The ``bots``, and their ``ranks`` in the match, are by seat; ``faults`` has an entry for each
    seat that forfeited at least one round.
    """

    board: str
    deal: int
    bots: SeatedBots
    ranks: list[int]
    left: list[int]
    think_ms: list[float]
    faults: list[Lost]


Counted = Row | GameRecord | Match
"""A game or a match, the two things that can be scored."""
AnyRow = TypeVar("AnyRow", bound=Row)
Head = TypeVar("Head", str, SeatedBots)


def row_decoder(kind: type[AnyRow]) -> Callable[[bytes], AnyRow]:
    """Makes a function that decodes a line of a journal to a row of this ``kind``: `Row`, or a
    subclass with more fields. The function raises msgspec's DecodeError for a line that is no such
    row, and ValueError if the lists by seat do not have an entry for each seat.
    """
    decode = msgspec.json.Decoder(kind).decode

    def fitting(line: bytes) -> AnyRow:
        """Decodes ``line`` and checks that its lists have an entry for each seat."""
        row = decode(line)
        check_seats(len(row.bots), row.faults, row.ranks, row.left, row.think_ms)
        return row

    return fitting


class Tally:
    """Counts games. ``outcomes`` gives each different outcome (board, bots and ranks by seat) a
    number; ``outcome`` and ``deal`` have the number of each game's outcome and deal, in the order
    in which games are added. ``own_decks`` says that line-ups play different decks under the same
    deal numbers.

    Pagodas left, times and forfeits are summed as integers by outcome and seat, so that the order
    of the games does not matter.
    """

    def __init__(self, *, own_decks: bool = False) -> None:
        self._own_decks = own_decks
        self.outcomes: dict[Placing, int] = {}
        self.seated: dict[SeatedBots, SeatedBots] = {}
        self.outcome = array("i")
        self.deal = array("i")
        self._left = list[int]()
        self._think_ns = list[int]()
        self._forfeits = list[int]()

    def add(self, game: Counted) -> None:
        """Counts ``game``."""
        outcome = (game.board, tuple(game.bots), tuple(game.ranks))
        # A million games have a few thousand outcomes: each game keeps eight bytes, and the model
        # works on the outcomes.
        number = self.outcomes.get(outcome)
        if number is None:
            number = len(self.outcomes)
            board, bots, ranks = outcome
            # names are stored once for each seating
            self.outcomes[board, self.seated.setdefault(bots, bots), ranks] = number
            for sums in (self._left, self._think_ns, self._forfeits):
                sums.extend([0] * MAX_SEATS)
        self.outcome.append(number)
        self.deal.append(game.deal)
        first = MAX_SEATS * number
        # Whole nanoseconds: integers give the same sum in any order, floats do not.
        for place, left in enumerate(game.left, first):
            self._left[place] += left
        for place, think_ms in enumerate(game.think_ms, first):
            self._think_ns[place] += round(think_ms * NS_PER_MS)
        if game.faults:
            for seat in {fault.seat for fault in game.faults}:
                self._forfeits[first + seat] += 1

    @property
    def most_seats(self) -> int:
        """The largest number of players in a counted game, at least two."""
        return max(map(len, self.seated), default=2)

    def blocks(self) -> list[PlayedBlocks]:
        """The blocks of the counted games, sorted by board and line-up."""
        names = [f"{board}/{'+'.join(sorted(bots))}" for board, bots, _ in self.outcomes]
        heads, places = self._places(names)
        numbers, games = np.unique(places, return_counts=True)
        edges = np.searchsorted(numbers, np.arange(len(heads) + 1) * DEALS).tolist()
        deals = array("i", (numbers % DEALS).astype(np.int32).tobytes())
        counts = array("i", games.astype(np.int32).tobytes())
        blocks = []
        for name, (start, end) in zip(heads, pairwise(edges), strict=True):
            block = PlayedBlocks(name, deals[start:end], counts[start:end])
            blocks.append(block)
        return blocks

    def board_deals(self) -> Ints:
        """(G,) for each counted game, a number that stands for its board and deal; with own decks,
        for its board, line-up and deal. The numbers sort by the board's name, then by the line-up
        if it counts, then by the deal.
        """
        if self._own_decks:
            return self.block_deals()
        _, places = self._places([board for board, _, _ in self.outcomes])
        return places

    def block_deals(self) -> Ints:
        """(G,) for each counted game, a number that stands for its board, line-up and deal."""
        _, places = self._places([(board, *sorted(bots)) for board, bots, _ in self.outcomes])
        return places

    def _places(self, names: Sequence[Head]) -> tuple[list[Head], Ints]:
        """``names`` has a name for each outcome. Returns the different names, sorted, and (G,) for
        each game the index of its outcome's name among them, times DEALS, plus the game's deal.
        """
        heads = sorted(set(names))
        number = {head: place for place, head in enumerate(heads)}
        of_outcome = np.array([number[name] for name in names], dtype=np.int64) * DEALS
        places = of_outcome[np.array(self.outcome, dtype=np.int32)]
        places += np.array(self.deal, dtype=np.int32)
        return heads, places

    def counts(self, bots: Iterable[str] = (), without: Collection[str] = ()) -> Counts:
        """The counts of the games added so far, between ``bots`` and any other bots that played.
        The clusters of the result (games with shared luck) are the deals, in sorted order. Games in
        which a bot of ``without`` played are left out, and so are these bots. Raises RunError if
        there are more than `MAX_OTHERS` other bots.
        """
        away = set(without)
        width = self.most_seats
        known = set(bots)
        others = {*chain.from_iterable(self.seated)} - away - known
        if known and len(others) > MAX_OTHERS:
            raise RunError(
                f"expected games of the bots in run.json, got games of {len(others)} others, such"
                f" as {min(others)}",
                "restore games.jsonl, or delete the lines with such games",
            )
        names = sorted(known - away | others)
        number = {name: place for place, name in enumerate(names)}
        is_kept: list[bool] = []
        players: list[int] = []
        seats_played: list[int] = []
        ranks_played: list[int] = []
        for _, seated, ranks_of_seats in self.outcomes:
            is_kept.append(away.isdisjoint(seated))
            if is_kept[-1]:
                players.append(len(seated))
                seats_played += map(number.__getitem__, seated)
                ranks_played += ranks_of_seats
        kept = np.array(is_kept, dtype=np.bool_)
        inside = np.arange(width) < np.array(players, dtype=np.int64)[:, None]
        seats = np.full(inside.shape, len(names))
        ranks = np.ones(inside.shape, dtype=np.int64)
        seats[inside] = seats_played
        ranks[inside] = ranks_played
        outcome = np.array(self.outcome, dtype=np.int32)
        deals = self.board_deals()
        games = slice(None) if kept.all() else kept[outcome]
        clusters = np.unique(deals[games])
        cluster = np.searchsorted(clusters, deals[games])
        number_kept = (np.cumsum(kept) - 1).astype(np.int32)
        sums = {"forfeits": self._forfeits, "left": self._left, "think_ns": self._think_ns}
        by_seat = {}
        for name, values in sums.items():
            of_outcomes = np.array(values).reshape(-1, MAX_SEATS)
            by_seat[name] = of_outcomes[kept, :width]
        outcomes = Outcomes(seats, ranks, cluster, number_kept[outcome[games]], by_seat)
        return counts_of(names, clusters % DEALS, outcomes)


def scoring_of(info: RunInfo, asked: Sequence[str] | None = None) -> list[str]:
    """The boards of the matches by which a run is scored: ``asked``, or those of run.json if
    ``asked`` is None; empty if the run is scored by games.

    Raises UserError for a board that the run does not have.
    """
    match = list(info.counting.match if asked is None else asked)
    foreign = [board for board in match if board not in info.boards]
    if foreign:
        raise UserError(
            f"expected a match on boards of the run, {', '.join(info.boards)}, got {foreign[0]!r}",
            "'arena run --match' plays on other boards; '--match none' counts games singly",
        )
    return match


class Score:
    """Counts the games of a run, and what is scored: matches on the boards ``match``, see
    `Matches`, or the games themselves if ``match`` is empty. A match counts once the last of its
    games is added.

    ``games``    the tally of all games
    ``counted``  the tally of what is scored; the same as ``games`` without a match
    ``hosts``    the machines on which the games were played, as in records
    """

    def __init__(self, match: Sequence[str], *, own_decks: bool = False) -> None:
        self.counted = Tally(own_decks=own_decks)
        self.games = Tally(own_decks=own_decks) if match else self.counted
        self.hosts: set[str] = set()
        self._matches = Matches(match, self.counted.add) if match else None

    def add(self, game: Row | GameRecord) -> None:
        """Counts ``game``, and with it the match that it completes, if it does."""
        self.games.add(game)
        self.hosts.add(game.host)
        if self._matches:
            self._matches.add(game)


def score_journal(journal: Path, match: Sequence[str], *, own_decks: bool = False) -> Score:
    """Counts the games of a journal, and with ``match`` the matches on these boards; if an id
    occurs twice, only its first record counts. ``own_decks`` says that line-ups play different
    decks under the same deal numbers. Raises RunError for a damaged line.
    """
    score = Score(match, own_decks=own_decks)
    for _, row in read_rows(journal, row_decoder(Row)):
        score.add(row)
    return score


class Matches:
    """Collects games until there is one for each of a match's boards, and then passes the match to
    ``take``.

    A match has the same bots in the same seats on the same deal. Seats rank by total pagodas left,
    fewest first. Seats that forfeited rank below all others: by the number of forfeits, then by the
    sum of their ranks in the forfeited games (an earlier forfeit ranks below a later one), then by
    the total. Seats that are equal in all of this share a rank. A game that occurs twice under
    different ids counts once.
    """

    def __init__(self, match: Sequence[str], take: Callable[[Match], object]) -> None:
        self._turns = turns_of(match)
        self._rounds = len(match)
        self._title = title_of(match)
        self._take = take
        self._seated: dict[tuple[str, ...], int] = {}
        self._open: dict[str, dict[int, Counted]] = {}
        self._over = Ids()

    def add(self, game: Counted) -> None:
        """Adds ``game``, which may complete a match. Games on boards that are not in the match are
        ignored.
        """
        turns = self._turns.get(game.board)
        if turns is None:
            return
        deal, turn = place_of(turns, game.deal)
        bots = tuple(game.bots)
        name = f"{self._seated.setdefault(bots, len(self._seated))}/{deal}/"
        rounds = self._open.get(name)
        if rounds is None:
            rounds = self._open[name] = {}
        rounds.setdefault(turn, game)
        if len(rounds) == self._rounds:
            del self._open[name]
            if self._over.add(name):
                games = [rounds[turn] for turn in range(self._rounds)]
                self._take(_whole(self._title, deal, bots, games))


def _whole(title: str, deal: int, bots: tuple[str, ...], games: Sequence[Counted]) -> Match:
    """Makes the match that ``games``, in the order of the rounds, make up. ``title`` names the
    boards, ``deal`` is the match's deal, ``bots`` are the bots by seat.
    """
    left_by_game = [game.left for game in games]
    think_ms_by_game = [game.think_ms for game in games]
    left = list(map(sum, zip(*left_by_game, strict=True)))
    think_ms: list[float] = list(map(sum, zip(*think_ms_by_game, strict=True)))
    standing: Sequence[Any] = left
    faults: list[Lost] = []
    # A list is quicker than a generator, and there are millions of matches.
    if any([game.faults for game in games]):  # noqa: C419
        lost = _ranks_in_lost_games(games, len(bots))
        standing = [(len(each), sum(each), total) for each, total in zip(lost, left, strict=True)]
        faults = [Lost(seat) for seat, ranks in enumerate(lost) if ranks]
    return Match(title, deal, bots, _ranks(standing), left, think_ms, faults)


def _ranks_in_lost_games(games: Sequence[Counted], seats: int) -> list[list[int]]:
    """For each of the ``seats``, its ranks in those of the ``games`` that it forfeited."""
    lost: list[list[int]] = [[] for _ in range(seats)]
    for game in games:
        for seat in {fault.seat for fault in game.faults}:
            lost[seat].append(game.ranks[seat])
    return lost


def _ranks(standing: Sequence[Any]) -> list[int]:
    """The rank of each seat, given a figure or a tuple for each seat in ``standing``; lower is
    better, and equal ones share a rank.
    """
    order = sorted(standing)
    return [1 + order.index(own) for own in standing]
