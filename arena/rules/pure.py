"""The rules of Qin in plain Python on int bitboards: the text of the rules that people maintain.

A province is ``(mask, halo, owner, size, pagodas)``, merging is OR, touching is AND. Rule numbers are those of the project's rules.
"""

from collections.abc import Iterable, Sequence

from arena.errors import IllegalMoveError
from arena.rules.boards import Board, nth_square, squares_of
from arena.rules.explain import illegal_text
from arena.rules.hands import kinds_of, with_tile, without_tile
from arena.rules.joins import NOWHERE, absorber, barred_with, free_pairs
from arena.rules.notation import KIND_SHIFT, SQUARE_MASK, TILE_OF_KIND, UNKNOWN
from arena.rules.terms import HAND, LAST_PAGODA, MAJOR, NO_SPACE, NO_TILES, NOBODY, PAGODAS, Event, Province

_KINDS = tuple((kind // 6, kind // 2 % 3, kind & 1) for kind in range(18))
"""First colour, second colour, vertical of each kind of move."""


class State:
    """A game of Qin as the referee sees it, or, with ``UNKNOWN`` tiles in hands and pile, as one seat sees it.

    ``left``      pagodas that each seat still holds
    ``hands``     the tiles of each seat, sorted
    ``mover``     the seat to move
    ``turns``     placements so far
    ``end``       None, or why the game is over (R8.1)
    ``villages``  the owner of each village of ``board.villages``, or NOBODY
    ``retired``   seats that never move again; they pass and no game waits for them

    Starts of one colour that touch each other belong to nobody, like a single space, until a tile joins them (R5.2 then founds).
    """

    __slots__ = (
        "_areas",
        "_barred",
        "_cells",
        "_deck",
        "_drawn",
        "_free",
        "_menu",
        "_open",
        "_spaces",
        "board",
        "end",
        "hands",
        "left",
        "mover",
        "players",
        "retired",
        "turns",
        "villages",
    )

    def __init__(self, board: Board, players: int, deck: Sequence[int]) -> None:
        """Deals three tiles to each seat off the front of the deck (R2.1); ``deck`` holds tiles or UNKNOWN."""
        self.board = board
        self.players = players
        self.left = [PAGODAS[players]] * players
        self.hands = [tuple(sorted(deck[HAND * seat : HAND * seat + HAND])) for seat in range(players)]
        self.mover = 0
        self.turns = 0
        self.end: str | None = None
        self.villages = [NOBODY] * len(board.villages)
        self.retired = [False] * players
        self._deck = tuple(deck)
        self._drawn = min(len(self._deck), HAND * players)
        self._cells = list(board.starts)
        self._areas: list[list[Province]] = [[], [], []]
        self._spaces = board.starts[0] | board.starts[1] | board.starts[2]
        self._free = board.grass
        self._open: tuple[int, int] | None = None
        self._menu: list[tuple[int, int, int]] | None = None
        self._barred = [NOWHERE] * 3
        self._end_if_stuck()

    @classmethod
    def set_up(
        cls,
        board: Board,
        spaces: Sequence[int],
        provinces: Iterable[tuple[int, int, int, int]],
        villages: Sequence[int],
        left: Sequence[int],
        hands: Sequence[Sequence[int]],
        pile: Sequence[int],
        mover: int = 0,
    ) -> "State":
        """A state in the middle of a game.

        ``spaces`` is a mask per colour; ``provinces`` are (colour, mask, owner, pagodas); the rest as the attributes are.
        """
        self = cls(board, len(left), (UNKNOWN,) * HAND * len(left) + tuple(pile))
        self._cells = list(spaces)
        self._spaces = spaces[0] | spaces[1] | spaces[2]
        self._free = board.grass & ~self._spaces
        for colour, mask, owner, pagodas in provinces:
            self._enter(colour, Province(mask, board.around(mask), owner, mask.bit_count(), pagodas))
        self.villages = list(villages)
        self.left = list(left)
        self.hands = [tuple(sorted(hand)) for hand in hands]
        self.mover = mover
        self._open = None
        self._menu = None
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

    @property
    def free(self) -> int:
        """Mask of free grassland."""
        return self._free

    def spaces(self, colour: int) -> int:
        """Mask of the province spaces of one colour, starts and single spaces included."""
        return self._cells[colour]

    def provinces(self) -> list[tuple[int, Province]]:
        """All provinces as (colour, province), in the reading order of their first squares."""
        found = [(colour, province) for colour, areas in enumerate(self._areas) for province in areas]
        return sorted(found, key=lambda entry: entry[1].mask & -entry[1].mask)

    def placed(self, seat: int) -> int:
        """Pagodas of a seat that stand on the board."""
        on_provinces = sum(province.pagodas for areas in self._areas for province in areas if province.owner == seat)
        return on_provinces + self.villages.count(seat)

    def ranks(self) -> list[int]:
        """The rank of each seat by pagodas left, fewest first; equal is equal (R8.2)."""
        return [1 + sum(other < own for other in self.left) for own in self.left]

    # which moves there are (R4)

    def legal_moves(self) -> list[int]:
        """Every legal placement of the mover, in ascending order; none once the game has ended."""
        return self.placements(self.hands[self.mover]) if self.end is None else []

    def placements(self, tiles: Iterable[int]) -> list[int]:
        """Every legal placement of the given tiles on this board, whoever holds them, in ascending order."""
        kinds = kinds_of(tuple(tiles))
        return [kind << KIND_SHIFT | square for kind in kinds for square in squares_of(self._places(kind))]

    def legal_count(self) -> int:
        """How many legal placements the mover has."""
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
        """Whether the seat can place a tile of its hand; True for an unknown tile, which might fit."""
        hand = self.hands[seat]
        if UNKNOWN in hand:
            return True
        for kind in kinds_of(hand):  # noqa: SIM110 - any() is slower, and this is asked every turn
            if self._places(kind):
                return True
        return False

    def must_pass(self) -> bool:
        """Whether the referee passes for the mover (R3.2)."""
        return self.retired[self.mover] or not self.can_move(self.mover)

    def is_legal(self, move: int) -> bool:
        """Whether the mover may place so; unknown tiles in the hand stand for any tile."""
        kind = move >> KIND_SHIFT
        if self.end is not None or not 0 <= kind < len(TILE_OF_KIND):
            return False
        hand = self.hands[self.mover]
        return (TILE_OF_KIND[kind] in hand or UNKNOWN in hand) and bool(self._places(kind) >> (move & SQUARE_MASK) & 1)

    def _make_menu(self) -> list[tuple[int, int, int]]:
        """The mover's kinds of move with the mask of their first squares and its count; kept until the next move."""
        kinds = kinds_of(self.hands[self.mover]) if self.end is None else ()
        self._menu = [(kind, mask := self._places(kind), mask.bit_count()) for kind in kinds]
        return self._menu

    def why_illegal(self, move: int) -> str:
        """Why the mover may not play the move, with the rule's number; empty when it may."""
        return illegal_text(self, move)

    def _places(self, kind: int) -> int:
        """Mask of the first squares on which a tile of this kind may be laid (R4.1 to R4.5)."""
        if self._open is None:
            self._open = free_pairs(self.board, self._free, self._spaces)
        first, second, vertical = _KINDS[kind]
        if first == second:
            return self._open[vertical] & ~self._barred[first][1 + vertical]
        return self._open[vertical] & ~(self._barred[first][0] | self._barred[second][0] >> (self.board.stride if vertical else 1))

    def _enter(self, colour: int, province: Province) -> None:
        """Adds a province to its colour."""
        areas = self._areas[colour]
        areas.append(province)
        self._barred[colour] = barred_with(province, areas, self._barred[colour], self._free, self.board.stride)

    # what a move does (R5 to R8)

    def play(self, move: int, events: list[Event] | None = None) -> None:
        """Plays the mover's placement or PASS, draws, and hands the turn on; appends what happened to ``events``.

        Raises IllegalMoveError.
        """
        if not self.is_legal(move):
            reason = illegal_text(self, move)
            if reason:
                raise IllegalMoveError(reason)
            self._next_mover()
            return
        kind = move >> KIND_SHIFT
        self.hands[self.mover] = without_tile(self.hands[self.mover], TILE_OF_KIND[kind])
        self._place(kind, move & SQUARE_MASK, events)
        self.turns += 1
        if self.end is None:
            if self._drawn < len(self._deck):
                self.hands[self.mover] = with_tile(self.hands[self.mover], self._deck[self._drawn])
                self._drawn += 1
            self._next_mover()
            self._end_if_stuck()

    def set_hand(self, seat: int, tiles: Iterable[int]) -> None:
        """Says what a seat holds, for who sees only that hand."""
        self.hands[seat] = tuple(sorted(tiles))
        self._menu = None

    def retire(self, seat: int) -> None:
        """The seat never moves again: it passes, and the game ends without asking whether it could (R3.2, R8.1)."""
        self.retired = [own or other == seat for other, own in enumerate(self.retired)]
        if self.end is None:
            self._end_if_stuck()

    def _next_mover(self) -> None:
        self._menu = None
        self.mover = (self.mover + 1) % self.players

    def _end_if_stuck(self) -> None:
        """R8.1: the game is over when nobody who still plays can place a tile."""
        for step in range(self.players):
            seat = (self.mover + step) % self.players
            if not self.retired[seat] and self.can_move(seat):
                return
        self.end = NO_SPACE if any(self.hands) else NO_TILES

    def _place(self, kind: int, square: int, events: list[Event] | None) -> None:
        """Lays the tile and carries out every event in the order of R7."""
        first, second, vertical = _KINDS[kind]
        one = 1 << square
        other = one << (self.board.stride if vertical else 1)
        self._free &= ~(one | other)
        self._spaces |= one | other
        self._open = self._menu = None
        debts: list[tuple[int, int, int]] = []
        if first == second:
            changed = self._grow(first, one | other, debts, events)
        else:
            changed = self._grow(first, one, debts, events) | self._grow(second, other, debts, events)
        if debts and min(self.left) <= 0:
            self._settle_in_order(debts)
        elif changed & self.board.beside_any:
            self._judge_villages(changed, events)

    def _grow(self, colour: int, halves: int, debts: list[tuple[int, int, int]], events: list[Event] | None) -> int:
        """Adds spaces to a colour and settles its area (R5). Returns the area's mask, or 0 if it is no province.

        Pagodas go home at once, and the owner pays at once, even below zero; ``debts`` notes what was paid as (seat, colour, count),
        for the province that is last in its colour's list.
        """
        touched = self.board.around(halves) & self._cells[colour]
        self._cells[colour] |= halves
        mask = halves | touched
        if mask & (mask - 1) == 0:
            return 0
        if self.board.founding:
            mask |= self.board.founding_at(mask)
        areas = self._areas[colour]
        joined = [province for province in areas if province.mask & touched] if touched else []
        for province in joined:
            mask |= province.mask
            areas.remove(province)
        owner, pagodas, home = self._owner_of(joined) if joined else (self.mover, 0, ())
        size = mask.bit_count()
        target = 2 if size >= MAJOR else 1
        if pagodas < target:
            debts.append((owner, colour, target - pagodas))
            self.left[owner] -= target - pagodas
        self._enter(colour, Province(mask, self.board.around(mask), owner, size, target))
        if events is not None:
            first = (mask & -mask).bit_length() - 1
            events.append(Event(("found", "expand", "absorb")[min(len(joined), 2)], owner, first, size, home))
            if size >= MAJOR and all(province.size < MAJOR for province in joined):
                events.append(Event("major", owner, first, size))
        return mask

    def _owner_of(self, joined: list[Province]) -> tuple[int, int, tuple[tuple[int, int], ...]]:
        """Who owns the area made of these provinces, the pagodas already on it, and those sent home (R5.2, R5.3, R5.5, R5.6)."""
        if len(joined) == 1:
            return joined[0].owner, joined[0].pagodas, ()
        owner = absorber(joined)
        standing = [0] * self.players
        for province in joined:
            standing[province.owner] += province.pagodas
        kept = min(standing[owner], 2)
        standing[owner] -= kept
        home = tuple((seat, count) for seat, count in enumerate(standing) if count)
        for seat, count in home:
            self.left[seat] += count
        return owner, kept, home

    def _settle_in_order(self, debts: list[tuple[int, int, int]]) -> None:
        """Somebody runs out, so the order counts: takes the payments back and makes them mover first, then clockwise (R7.1, R7.2)."""
        areas = self._areas
        for seat, colour, owed in debts:
            self.left[seat] += owed
            areas[colour][-1] = areas[colour][-1]._replace(pagodas=areas[colour][-1].pagodas - owed)
        for seat, colour, owed in sorted(debts, key=lambda debt: (debt[0] - self.mover) % self.players):
            paid = min(owed, self.left[seat])
            self.left[seat] -= paid
            areas[colour][-1] = areas[colour][-1]._replace(pagodas=areas[colour][-1].pagodas + paid)
            if self.left[seat] == 0:
                self.end = LAST_PAGODA
                return

    def _judge_villages(self, changed: int, events: list[Event] | None) -> None:
        """Connects and conquers the villages beside the changed provinces (R6), then places their pagodas in the order of R7.1."""
        won: list[tuple[int, int, int]] = []
        for village, beside in enumerate(self.board.beside):
            if beside & changed:
                owner, heir = self.villages[village], self._heir(village, beside)
                if heir != owner:
                    won.append((heir, village, owner))
        if not won:
            return
        for _, village, owner in won:
            if owner != NOBODY:
                self.villages[village] = NOBODY
                self.left[owner] += 1
        for heir, village, owner in sorted(won, key=lambda entry: (entry[0] - self.mover) % self.players):
            self.villages[village] = heir
            self.left[heir] -= 1
            if events is not None:
                home = ((owner, 1),) if owner != NOBODY else ()
                square = next(squares_of(self.board.villages[village]))
                events.append(Event("conquer" if home else "connect", heir, square, 0, home))
            if self.left[heir] == 0:
                self.end = LAST_PAGODA
                return

    def _heir(self, village: int, beside: int) -> int:
        """Whose the village is as the provinces now stand (R6.1 to R6.3)."""
        counts = [0] * self.players
        for areas in self._areas:
            for province in areas:
                if province.mask & beside:
                    counts[province.owner] += province.pagodas
        owner = self.villages[village]
        highest = max(counts)
        if counts.count(highest) > 1 or highest == (counts[owner] if owner != NOBODY else 0):
            return owner
        return counts.index(highest)
