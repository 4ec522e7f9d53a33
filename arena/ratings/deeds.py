"""What the seats did in the games of a run: counted while these are played again by the rules."""

from array import array
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec import Struct, field

from arena.match.replay import replay
from arena.ratings.components import Floats, Ints
from arena.ratings.expectation import expected_wins
from arena.ratings.model import Ratings
from arena.records.record import GameRecord, shares
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import DECK_SIZE
from arena.rules.symmetry import least_alike
from arena.rules.terms import HAND, MAJOR, Event

Key = TypeVar("Key")
EVENTS = ("found", "major", "absorb", "connect", "conquer")
HOLDINGS = ("small", "major", "village")
"""What a seat holds: provinces with one pagoda, provinces with two, and villages."""
ROUNDS = (4, 8, 12)
"""Holdings are counted when every seat has placed so many tiles."""
Opening = tuple[int, tuple[int, ...], int]
"""The first placement of a game: the move, the sizes of the provinces it founded, and the villages
it connected. If the board is symmetric, the move is the least of those that are alike.
"""


class GameGroup(NamedTuple):
    """The games (G) of one board and number of players (k); those with a fault, and those of bots
    without a rating, are left out.

    ``deal`` (G,) and ``deck`` (G,) numbers; ``share`` (G, k) of the win by seat, and ``expected``
    (G, k) by ratings and seats
    ``opening`` (G,) a row of ``openings``
    ``events`` (G, k, 5) how often each seat did what `EVENTS` names
    ``doubles`` (G, k) tiles of one colour among the first three
    ``standing``  by number of rounds, the games that lasted longer (n,), and what their seats held
                  (n, k, 3), see `HOLDINGS`
    """

    board: Board
    players: int
    deal: Ints
    deck: Ints
    share: Floats
    expected: Floats
    opening: Ints
    openings: list[Opening]
    events: Ints
    doubles: Ints
    standing: dict[int, tuple[Ints, Ints]]


class _Held(Struct):
    """Holdings after a round: the games that lasted longer, and three figures for each seat."""

    games: "array[int]" = field(default_factory=lambda: array("i"))
    figures: "array[int]" = field(default_factory=lambda: array("b"))


class _Games(Struct):
    """The games of a group as they are read, in flat arrays."""

    board: Board
    deals: dict[tuple[str, int], int] = field(default_factory=dict)
    decks: dict[str, int] = field(default_factory=dict)
    seated: dict[tuple[str, ...], int] = field(default_factory=dict)
    openings: dict[Opening, int] = field(default_factory=dict)
    columns: "array[int]" = field(default_factory=lambda: array("i"))
    """Deal, deck, seating and opening of each game."""
    won: "array[float]" = field(default_factory=lambda: array("d"))
    events: "array[int]" = field(default_factory=lambda: array("b"))
    doubles: "array[int]" = field(default_factory=lambda: array("b"))
    held: dict[int, _Held] = field(default_factory=lambda: {after: _Held() for after in ROUNDS})


class Deeds:
    """Collects what seats did. ``own_decks`` means that line-ups do not play the same deals, though
    these have the same numbers.
    """

    def __init__(self, *, own_decks: bool = False) -> None:
        self._own_decks = own_decks
        self._groups: dict[tuple[str, int], _Games] = {}

    def add(self, record: GameRecord, board: Board) -> None:
        """Plays a game again, unless it was forfeited by a seat. Raises RunError."""
        if record.faults:
            return
        players = len(record.bots)
        games = self._groups.setdefault((board.name, players), _Games(board))
        number = len(games.won) // players
        done = [[0] * len(EVENTS) for _ in range(players)]
        opening: Opening = (0, (), 0)
        for at, step in enumerate(replay(record, board), 1):
            if at == 1:
                opening = _opened(board, step.move, step.events)
            for event in step.events:
                if event.name in EVENTS:
                    done[event.seat][EVENTS.index(event.name)] += 1
            rounds, rest = divmod(at, players)
            if not rest and rounds in games.held and step.state.end is None:
                held = games.held[rounds]
                held.games.append(number)
                held.figures.extend(_holdings(step.state))
        line_up = "+".join(sorted(record.bots)) if self._own_decks else ""
        games.columns.append(_numbered(games.deals, (line_up, record.deal)))
        games.columns.append(_numbered(games.decks, record.deck))
        games.columns.append(_numbered(games.seated, tuple(record.bots)))
        games.columns.append(_numbered(games.openings, opening))
        games.won.extend(shares(record.ranks))
        games.events.extend(count for seat in done for count in seat)
        games.doubles.extend(_doubles(record.deck, players))

    def groups(self, bots: list[str], ratings: Ratings) -> Iterator[GameGroup]:
        """What was counted, by board and number of players; ``bots`` are those of the ratings."""
        number = {bot: place for place, bot in enumerate(bots)}
        for (_, players), games in sorted(self._groups.items()):
            seats = np.array([[number[bot] for bot in seated] for seated in games.seated])
            expected = expected_wins(ratings, len(bots), seats, bounds=False)
            group = _group(games, players, expected)
            if len(group.deal):
                yield group


def _group(games: _Games, players: int, expected: Floats) -> GameGroup:
    """The games of which a result was ``expected`` with these bots in the seats."""
    columns = np.array(games.columns, dtype=np.int64).reshape(-1, 4)
    every = expected[columns[:, 2]]
    kept = np.asarray(~np.isnan(every).any(axis=1), dtype=np.bool_)
    place = np.cumsum(kept) - 1
    standing = {}
    for after, held in games.held.items():
        rows, figures = (
            np.array(held.games, dtype=np.int64),
            _by_seat(held.figures, players, len(HOLDINGS)),
        )
        standing[after] = place[rows[kept[rows]]], figures[kept[rows]]
    return GameGroup(
        board=games.board,
        players=players,
        deal=columns[kept, 0],
        deck=columns[kept, 1],
        share=np.array(games.won).reshape(-1, players)[kept],
        expected=every[kept],
        opening=columns[kept, 3],
        openings=list(games.openings),
        events=_by_seat(games.events, players, len(EVENTS))[kept],
        doubles=_by_seat(games.doubles, players, 1)[kept, :, 0],
        standing=standing,
    )


def _numbered(known: dict[Key, int], key: Key) -> int:
    return known.setdefault(key, len(known))


def _by_seat(flat: "array[int]", players: int, figures: int) -> Ints:
    return np.array(flat, dtype=np.int64).reshape(-1, players, figures)


def _opened(board: Board, move: int, events: list[Event]) -> Opening:
    founded = sorted(event.size for event in events if event.name == "found")
    villages = sum(event.name == "connect" for event in events)
    return least_alike(board, move), tuple(founded), villages


def _holdings(state: State) -> list[int]:
    """For each seat its small provinces, its majors and its villages."""
    held = [[0, 0, 0] for _ in range(state.players)]
    for _, province in state.provinces():
        if province.owner >= 0:
            held[province.owner][province.size >= MAJOR] += 1
    for owner in state.villages:
        if owner >= 0:
            held[owner][2] += 1
    return [count for seat in held for count in seat]


def _doubles(deck: str, players: int) -> list[int]:
    """How many of each seat's first tiles show one colour twice."""
    assert len(deck) == 2 * DECK_SIZE, "a replayed deck is whole"
    first = [deck[at] == deck[at + 1] for at in range(0, 2 * HAND * players, 2)]
    return [sum(first[HAND * seat : HAND * seat + HAND]) for seat in range(players)]
