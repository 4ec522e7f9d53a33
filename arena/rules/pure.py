"""The rules of Qin in plain Python on int bitboards: the version of the rules for people to
maintain.

A province is ``(mask, halo, owner, size, pagodas)``, merging is OR, touching is AND. Rule numbers
are those of the project's rules.
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import NamedTuple

from arena.errors import IllegalMoveError
from arena.rules.boards import COLOURS, Board, nth_square, squares_of
from arena.rules.explain import illegal_text
from arena.rules.notation import (
    COPIES,
    KIND_SHIFT,
    SQUARE_MASK,
    TILE_OF_KIND,
    TILES,
    UNKNOWN,
    Hand,
    checked_tiles,
    kinds_of,
    with_tile,
    without_tile,
)
from arena.rules.playouts import (
    Policy,
    Random,
    Rollouts,
    choose,
    outlook,
    outlooks,
    play_out,
    roll_out,
)
from arena.rules.state import BoardState
from arena.rules.terms import HAND, MAJOR, NO_SPACE, NO_TILES, NOBODY, PAGODAS, Event

NONE_PLACED = (0,) * len(TILES)
Entry = tuple[int, int, int, int]
"""Colour, mask, owner and pagodas of a province."""


class CheckedSetup(NamedTuple):
    """A checked position; the parts are those of ``State.set_up``, as tuples of plain ints."""

    board: Board
    spaces: tuple[int, ...]
    provinces: tuple[Entry, ...]
    villages: tuple[int, ...]
    left: tuple[int, ...]
    hands: tuple[Hand, ...]
    pile: Hand
    mover: int
    placed: tuple[int, ...]


# The parts of a position.
def checked_setup(  # noqa: PLR0913, PLR0917
    board: Board,
    spaces: Sequence[int],
    provinces: Iterable[tuple[int, int, int, int]],
    villages: Sequence[int],
    left: Sequence[int],
    hands: Sequence[Sequence[int]],
    pile: Sequence[int],
    mover: int = 0,
    placed: Sequence[int] = NONE_PLACED,
) -> CheckedSetup:
    """The position. Raises ValueError if a part by itself is impossible in any game: colours,
    owners, pagodas, and their numbers.
    """
    setup = CheckedSetup(
        board,
        tuple(map(index, spaces)),
        tuple(_entry(entry) for entry in provinces),
        tuple(map(index, villages)),
        tuple(map(index, left)),
        tuple(checked_tiles(hand) for hand in hands),
        checked_tiles(pile),
        index(mover),
        tuple(map(index, placed)),
    )
    _check_seats(setup)
    _check_spaces(setup)
    _check_provinces(setup)
    return setup


def _entry(entry: Iterable[int]) -> Entry:
    numbers = tuple(map(index, entry))
    if len(numbers) != 4:  # noqa: PLR2004 - the parts of an entry
        raise ValueError(f"expected provinces as (colour, mask, owner, pagodas), got {numbers}")
    return numbers


def _check_seats(setup: CheckedSetup) -> None:
    players = len(setup.left)
    if players not in PAGODAS:
        raise ValueError(f"expected 2 to 4 players, got {players}")
    if not all(1 <= own <= PAGODAS[players] for own in setup.left):
        wanted = f"1 to {PAGODAS[players]} pagodas left to each seat, got {list(setup.left)}"
        raise ValueError(f"expected {wanted}")
    if len(setup.hands) != players:
        raise ValueError(f"expected {players} hands, got {len(setup.hands)}")
    if not 0 <= setup.mover < players:
        raise ValueError(f"expected a mover from 0 to {players - 1}, got {setup.mover}")
    if len(setup.placed) != len(TILES) or not all(0 <= count <= COPIES for count in setup.placed):
        wanted = f"0 to {COPIES} placed for each of {len(TILES)} tiles, got {list(setup.placed)}"
        raise ValueError(f"expected {wanted}")
    owners, count = setup.villages, len(setup.board.villages)
    if len(owners) != count or not all(NOBODY <= owner < players for owner in owners):
        wanted = f"for each of {count} villages a seat or {NOBODY}, got {list(owners)}"
        raise ValueError(f"expected {wanted}")


def _check_spaces(setup: CheckedSetup) -> None:
    board, spaces = setup.board, setup.spaces
    if len(spaces) != len(COLOURS):
        wanted = f"a mask of spaces for each of {len(COLOURS)} colours, got {len(spaces)}"
        raise ValueError(f"expected {wanted}")
    for letter, own, start in zip(COLOURS, spaces, board.starts, strict=True):
        if own < 0 or own & ~(board.grass | start):
            raise ValueError(
                f"expected spaces of colour {letter} on grassland and starts of that colour only,"
                f" got the mask {own:#x}"
            )
    if spaces[0] & spaces[1] | spaces[0] & spaces[2] | spaces[1] & spaces[2]:
        raise ValueError("expected one colour a space, got two")


def _check_provinces(setup: CheckedSetup) -> None:
    rest = list(setup.spaces)
    for entry in setup.provinces:
        colour, mask, owner, pagodas = entry
        if not (0 <= colour < len(COLOURS) and 0 <= owner < len(setup.left) and mask > 0):
            raise ValueError(f"expected provinces as (colour, mask, owner, pagodas), got {entry}")
        if mask & (mask - 1) == 0 or mask & ~rest[colour] or setup.board.founding_at(mask) & ~mask:
            raise ValueError(
                "expected a province of two or more spaces of its colour, whole starts, none in"
                f" another, got {entry}"
            )
        if pagodas != (2 if mask.bit_count() >= MAJOR else 1):
            raise ValueError(
                f"expected 1 pagoda on a province, 2 on one of {MAJOR} spaces and more, got {entry}"
            )
        rest[colour] &= ~mask


class State(BoardState):
    """A game of Qin as the referee sees it or, with ``UNKNOWN`` tiles in hands and pile, as one
    seat sees it.

    Besides what a `BoardState` has:

    ``hands``    the tiles of each seat, sorted
    ``turns``    placements so far
    ``retired``  seats that never move again: they pass, and no game waits for them
    """

    __slots__ = ("_deck", "_drawn", "_menu", "_placed", "hands", "retired", "turns")

    def __init__(self, board: Board, players: int, deck: Sequence[int]) -> None:
        """Deals three tiles to each seat off the front of the deck (R2.1). Raises ValueError."""
        if players not in PAGODAS:
            raise ValueError(f"expected 2 to 4 players, got {players}")
        super().__init__(board, players)
        self._deck = checked_tiles(deck)
        self.hands = [
            tuple(sorted(self._deck[HAND * seat : HAND * seat + HAND])) for seat in range(players)
        ]
        self.turns = 0
        self.retired = [False] * players
        self._placed = [0] * len(TILES)
        self._drawn = min(len(self._deck), HAND * players)
        self._menu: list[tuple[int, int, int]] | None = None
        self._end_if_stuck()

    # The parts of a position.
    @classmethod
    def set_up(  # noqa: PLR0913, PLR0917
        cls,
        board: Board,
        spaces: Sequence[int],
        provinces: Iterable[tuple[int, int, int, int]],
        villages: Sequence[int],
        left: Sequence[int],
        hands: Sequence[Sequence[int]],
        pile: Sequence[int],
        mover: int = 0,
        placed: Sequence[int] = NONE_PLACED,
    ) -> "State":
        """A state in the middle of a game.

        ``spaces`` is a mask per colour; ``provinces`` are (colour, mask, owner, pagodas);
        ``placed`` says how many of each tile have been placed; the rest as the attributes are.
        Raises ValueError.
        """
        setup = checked_setup(board, spaces, provinces, villages, left, hands, pile, mover, placed)
        self = cls(board, len(setup.left), (UNKNOWN,) * HAND * len(setup.left) + setup.pile)
        self._lay_out(setup.spaces, setup.provinces, setup.villages)
        self.left = list(setup.left)
        self.hands = [tuple(sorted(hand)) for hand in setup.hands]
        self.mover = setup.mover
        self._placed = list(setup.placed)
        self.turns = sum(setup.placed)
        self._end_if_stuck()
        return self

    def copy(self) -> "State":
        """An independent state in the same position."""
        twin = State.__new__(State)
        twin.board = self.board
        twin.players = self.players
        twin.left = self.left[:]
        twin.hands = self.hands[:]
        twin.mover = self.mover
        twin.turns = self.turns
        twin.end = self.end
        twin.villages = self.villages[:]
        twin.retired = self.retired
        twin._placed = self._placed[:]
        twin._deck = self._deck
        twin._drawn = self._drawn
        twin._cells = self._cells[:]
        twin._areas = [areas[:] for areas in self._areas]
        twin._spaces = self._spaces
        twin._free = self._free
        twin._open = self._open
        twin._menu = self._menu
        twin._barred = self._barred[:]
        return twin

    # what can be seen

    @property
    def pile(self) -> int:
        """Tiles left in the draw pile."""
        return len(self._deck) - self._drawn

    def pile_tiles(self) -> tuple[int, ...]:
        """The tiles of the draw pile in the order in which they will be drawn."""
        return self._deck[self._drawn :]

    def tiles_placed(self) -> list[int]:
        """How many of each tile have been placed."""
        return self._placed[:]

    # which moves there are (R4)

    def legal_moves(self) -> list[int]:
        """Every legal placement of the mover, in ascending order; empty once the game has ended."""
        return self._placements(self.hands[self.mover]) if self.end is None else []

    def placements(self, tiles: Iterable[int]) -> list[int]:
        """Every legal placement of these tiles, whoever has them, sorted. Raises ValueError."""
        return self._placements(checked_tiles(tiles))

    def _placements(self, tiles: Hand) -> list[int]:
        kinds = kinds_of(tiles)
        return [
            kind << KIND_SHIFT | square
            for kind in kinds
            for square in squares_of(self._places(kind))
        ]

    def legal_count(self) -> int:
        """The number of legal placements the mover has."""
        return sum([count for _, _, count in self._menu or self._make_menu()])

    def nth(self, index: int) -> int:
        """``legal_moves()[index]``, without making the list. Raises IndexError."""
        if index >= 0:
            for kind, mask, count in self._menu or self._make_menu():
                if index < count:
                    return kind << KIND_SHIFT | nth_square(mask, index)
                index -= count
        raise IndexError("no legal move has that index")

    def can_move(self, seat: int) -> bool:
        """Whether the seat can place a tile, as an unknown one might be. Raises IndexError."""
        self._check_seat(seat)
        return self._can_place(self.hands[seat])

    def _can_place(self, hand: Hand) -> bool:
        if UNKNOWN in hand:
            return True
        # Any() is slower, and this is asked every turn.
        for kind in kinds_of(hand):  # noqa: SIM110
            if self._places(kind):
                return True
        return False

    def must_pass(self) -> bool:
        """Whether the referee passes for the mover (R3.2)."""
        return self.retired[self.mover] or not self._can_place(self.hands[self.mover])

    def is_legal(self, move: int) -> bool:
        """Whether the mover may place this; unknown tiles in the hand stand for any tile."""
        kind = move >> KIND_SHIFT
        if self.end is not None or not 0 <= kind < len(TILE_OF_KIND):
            return False
        hand = self.hands[self.mover]
        return (TILE_OF_KIND[kind] in hand or UNKNOWN in hand) and bool(
            self._places(kind) >> (move & SQUARE_MASK) & 1
        )

    def _make_menu(self) -> list[tuple[int, int, int]]:
        """The mover's kinds of move, the mask of first squares and its bits; kept until a move."""
        kinds = kinds_of(self.hands[self.mover]) if self.end is None else ()
        self._menu = [(kind, mask := self._places(kind), mask.bit_count()) for kind in kinds]
        return self._menu

    def why_illegal(self, move: int) -> str:
        """Why the mover may not play the move, with the rule's number; empty if it may."""
        return illegal_text(self, move)

    # what a move does (R5 to R8)

    def play(self, move: int, events: list[Event] | None = None) -> None:
        """Plays the mover's placement or PASS, draws, and passes on the turn; appends what happened
        to ``events``.

        Raises IllegalMoveError.
        """
        if not self.is_legal(move):
            reason = illegal_text(self, move)
            if reason:
                raise IllegalMoveError(reason)
            self._end_if_stuck()  # after hands were set, it may be that nobody can place a tile
            if self.end is None:
                self._next_mover()
            return
        kind = move >> KIND_SHIFT
        tile = TILE_OF_KIND[kind]
        self.hands[self.mover] = without_tile(self.hands[self.mover], tile)
        self._placed[tile] += 1
        self._menu = None
        self._place(kind, move & SQUARE_MASK, events)
        self.turns += 1
        if self.end is None:
            if self._drawn < len(self._deck):
                self.hands[self.mover] = with_tile(self.hands[self.mover], self._deck[self._drawn])
                self._drawn += 1
            self._next_mover()
            self._end_if_stuck()

    def net_gain(self, move: int) -> int:
        """Pagodas the mover would place by a legal move, less the others'. Raises ValueError."""
        if not self.is_legal(move):
            raise ValueError("expected a legal move")
        twin = self.copy()
        twin._place(move >> KIND_SHIFT, move & SQUARE_MASK, None)
        gained = [before - after for before, after in zip(self.left, twin.left, strict=True)]
        return 2 * gained[self.mover] - sum(gained)

    def outlook(self, seat: int) -> int:
        """How well a seat stands, in hundredths of a pagoda times the other seats; see
        `arena.rules.playouts`. Raises IndexError.
        """
        self._check_seat(seat)
        return outlook(self, seat)

    def outlooks(self) -> list[int]:
        """The mover's outlook after each of `legal_moves`, before it draws."""
        return outlooks(self)

    def choice(self, seed: int, policy: str = "uniform", among: int = 0) -> int:
        """The move that a policy makes for the mover, who knows the board and its own hand; PASS if
        it has none.

        See `arena.rules.playouts.Policy`. Raises ValueError.
        """
        return choose(self, Random(seed), Policy(policy, among))

    def playout(self, seed: int, policy: str = "uniform", among: int = 0, turns: int = 0) -> int:
        """Plays on by a policy, to the end unless ``turns`` says otherwise; returns how many tiles
        were placed.

        See `arena.rules.playouts.Policy`. Raises ValueError.
        """
        return play_out(self, Random(seed), Policy(policy, among, turns))

    def rollouts(
        self,
        seat: int,
        times: int,
        seed: int,
        policy: str = "uniform",
        moves: Sequence[int] | None = None,
        among: int = 0,
        turns: int = 0,
    ) -> Rollouts:
        """Plays each of the mover's moves on ``times`` deals that redeal everything the seat cannot
        see, then goes on by a policy.

        Returns the moves, and for each the seat's summed shares of the win, pagodas left and
        outlooks. Raises ValueError, IllegalMoveError.
        """
        return roll_out(self, seat, times, seed, Policy(policy, among, turns), moves)

    def set_pile(self, tiles: Sequence[int]) -> None:
        """Sets the draw pile, in the order in which it will be drawn."""
        self._deck, self._drawn = checked_tiles(tiles), 0

    def set_hand(self, seat: int, tiles: Iterable[int]) -> None:
        """Sets a seat's hand, for who sees only that. Raises ValueError, IndexError."""
        self._check_seat(seat)
        self.hands[seat] = tuple(sorted(checked_tiles(tiles)))
        self._menu = None

    def retire(self, seat: int) -> None:
        """The seat never moves again: it passes, and the game ends without asking whether it could
        (R3.2, R8.1). Raises IndexError.
        """
        self._check_seat(seat)
        self.retired = [own or other == seat for other, own in enumerate(self.retired)]
        if self.end is None:
            self._end_if_stuck()

    def _next_mover(self) -> None:
        self._menu = None
        self.mover = (self.mover + 1) % self.players

    def _end_if_stuck(self) -> None:
        """R8.1: the game is over when no player still in the game can place a tile."""
        for step in range(self.players):
            seat = (self.mover + step) % self.players
            if not self.retired[seat] and self._can_place(self.hands[seat]):
                return
        self.end = NO_SPACE if any(self.hands) else NO_TILES
