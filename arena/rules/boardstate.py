"""What is on the board, and what a tile does to it (R4 to R7): the half of the pure core that does
not know hands.
"""

from collections.abc import Iterable, Sequence

from arena.rules.boards import Board, squares_of
from arena.rules.joins import NOWHERE, absorber, barred_with, free_pairs
from arena.rules.terms import LAST_PAGODA, MAJOR, NOBODY, PAGODAS, Event, OwnedProvince

KINDS = tuple((kind // 6, kind // 2 % 3, kind & 1) for kind in range(18))
"""First colour, second colour, and vertical, for each kind of move."""


class BoardState:
    """Spaces, provinces, villages and pagodas.

    ``left``      pagodas that each seat still holds
    ``mover``     the seat to move
    ``end``       None, or why the game is over (R8.1)
    ``villages``  the owner of each village of ``board.villages``, or NOBODY

    Starts of one colour that touch each other belong to nobody, like a single space, until a tile
    joins them (R5.2 then founds).
    """

    __slots__ = (
        "_areas",
        "_barred",
        "_cells",
        "_free",
        "_open",
        "_spaces",
        "board",
        "end",
        "left",
        "mover",
        "players",
        "villages",
    )

    def __init__(self, board: Board, players: int) -> None:
        self.board = board
        self.players = players
        self.left = [PAGODAS[players]] * players
        self.mover = 0
        self.end: str | None = None
        self.villages = [NOBODY] * len(board.villages)
        self._cells = list(board.starts)
        self._areas: list[list[OwnedProvince]] = [[], [], []]
        self._spaces = board.starts[0] | board.starts[1] | board.starts[2]
        self._free = board.grass
        self._open: tuple[int, int] | None = None
        self._barred = [NOWHERE] * 3

    def _lay_out(
        self,
        spaces: Sequence[int],
        provinces: Iterable[tuple[int, int, int, int]],
        villages: Sequence[int],
    ) -> None:
        """Puts a position in the middle of a game on the empty board; the arguments are those of
        ``State.set_up``.
        """
        self._cells = list(spaces)
        self._spaces = spaces[0] | spaces[1] | spaces[2]
        self._free = self.board.grass & ~self._spaces
        for colour, mask, owner, pagodas in provinces:
            halo = self.board.around(mask)
            self._enter(colour, OwnedProvince(mask, halo, owner, mask.bit_count(), pagodas))
        self.villages = list(villages)
        self._open = None

    @property
    def free(self) -> int:
        """Mask of free grassland."""
        return self._free

    def spaces(self, colour: int) -> int:
        """Mask of the province spaces of one colour, including starts and single spaces. Raises
        IndexError.
        """
        if not 0 <= colour < len(self._cells):
            raise IndexError(f"expected a colour from 0 to {len(self._cells) - 1}, got {colour}")
        return self._cells[colour]

    def provinces(self) -> list[tuple[int, OwnedProvince]]:
        """All provinces as (colour, province), in the reading order of their first squares."""
        found = [
            (colour, province) for colour, areas in enumerate(self._areas) for province in areas
        ]
        return sorted(found, key=lambda entry: entry[1].mask & -entry[1].mask)

    def placed(self, seat: int) -> int:
        """The number of a seat's pagodas on the board. Raises IndexError."""
        self._check_seat(seat)
        on_provinces = sum(
            province.pagodas
            for areas in self._areas
            for province in areas
            if province.owner == seat
        )
        return on_provinces + self.villages.count(seat)

    def _check_seat(self, seat: int) -> None:
        if not 0 <= seat < self.players:
            raise IndexError(f"expected a seat from 0 to {self.players - 1}, got {seat}")

    def ranks(self) -> list[int]:
        """The rank of each seat by pagodas left, fewest first; equal is equal (R8.2)."""
        return [1 + sum(other < own for other in self.left) for own in self.left]

    # where tiles may lie (R4)

    def _places(self, kind: int) -> int:
        """Mask of the first squares on which a tile of this kind may be placed (R4.1 to R4.5)."""
        if self._open is None:
            self._open = free_pairs(self.board, self._free, self._spaces)
        first, second, vertical = KINDS[kind]
        if first == second:
            return self._open[vertical] & ~self._barred[first][1 + vertical]
        return self._open[vertical] & ~(
            self._barred[first][0]
            | self._barred[second][0] >> (self.board.stride if vertical else 1)
        )

    def _enter(self, colour: int, province: OwnedProvince) -> None:
        """Adds a province to its colour."""
        areas = self._areas[colour]
        areas.append(province)
        self._barred[colour] = barred_with(
            province, areas, self._barred[colour], self._free, self.board.stride
        )

    # what a tile does (R5 to R7)

    def _place(self, kind: int, square: int, events: list[Event] | None) -> None:
        """Places the tile and carries out every event in the order of R7."""
        first, second, vertical = KINDS[kind]
        one = 1 << square
        other = one << (self.board.stride if vertical else 1)
        self._free &= ~(one | other)
        self._spaces |= one | other
        self._open = None
        debts: list[tuple[int, int, int]] = []
        if first == second:
            changed = self._grow(first, one | other, debts, events)
        else:
            changed = self._grow(first, one, debts, events) | self._grow(
                second, other, debts, events
            )
        if debts and min(self.left) <= 0:
            self._settle_in_order(debts)
        elif changed & self.board.beside_any:
            self._judge_villages(changed, events)

    def _grow(
        self,
        colour: int,
        halves: int,
        debts: list[tuple[int, int, int]],
        events: list[Event] | None,
    ) -> int:
        """Adds spaces to a colour and settles its area (R5). Returns the area's mask, or 0 if it is
        no province.

        Pagodas go home at once, and the owner pays at once, even below zero. ``debts`` records
        payments as (seat, colour, count) for the last province in its colour's list.
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
        self._enter(colour, OwnedProvince(mask, self.board.around(mask), owner, size, target))
        if events is not None:
            first = (mask & -mask).bit_length() - 1
            events.append(
                Event(("found", "expand", "absorb")[min(len(joined), 2)], owner, first, size, home)
            )
            if size >= MAJOR and all(province.size < MAJOR for province in joined):
                events.append(Event("major", owner, first, size))
        return mask

    def _owner_of(
        self, joined: list[OwnedProvince]
    ) -> tuple[int, int, tuple[tuple[int, int], ...]]:
        """The owner of the area made of these provinces, the pagodas already on it, and those sent
        home (R5.2, R5.3, R5.5, R5.6).
        """
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
        """A player runs out of pagodas, so the order matters: undoes the payments, then pays mover
        first and clockwise (R7.1, R7.2).
        """
        areas = self._areas
        for seat, colour, owed in debts:
            self.left[seat] += owed
            areas[colour][-1] = areas[colour][-1]._replace(pagodas=areas[colour][-1].pagodas - owed)
        for seat, colour, owed in sorted(
            debts, key=lambda debt: (debt[0] - self.mover) % self.players
        ):
            paid = min(owed, self.left[seat])
            self.left[seat] -= paid
            areas[colour][-1] = areas[colour][-1]._replace(pagodas=areas[colour][-1].pagodas + paid)
            if self.left[seat] == 0:
                self.end = LAST_PAGODA
                return

    def _judge_villages(self, changed: int, events: list[Event] | None) -> None:
        """Connects and conquers villages next to the changed provinces (R6), then places their
        pagodas in the order of R7.1.
        """
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
        for heir, village, owner in sorted(
            won, key=lambda entry: (entry[0] - self.mover) % self.players
        ):
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
        """The owner of the village, given the provinces as they are now (R6.1 to R6.3)."""
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
