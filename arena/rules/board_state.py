"""The board of a game, where tiles may be placed (R4), and what a tile does to provinces and
villages (R5 to R7). Hands, drawing and passing are in `arena.rules.pure`.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from arena.rules.boards import Board, squares_of
from arena.rules.terms import LAST_PAGODA, MAJOR, NOBODY, PAGODAS, Event, OwnedProvince

Barred = tuple[int, int, int]
"""Three masks that say where a forbidden join rules out a colour: squares where one space of the
colour is forbidden, and first squares where a horizontal pair, or a vertical pair, of the colour
is.
"""

NOWHERE: Barred = (0, 0, 0)
KINDS = tuple((kind // 6, kind // 2 % 3, kind & 1) for kind in range(18))
"""By kind of move, 0 to 17: its first colour, its second colour, and whether it is vertical."""


def is_forbidden_join(joined: Sequence[OwnedProvince]) -> bool:
    """Whether the rules forbid a tile to join the provinces ``joined``, which have one colour
    (R4.3, R4.4, R5.6). False for fewer than two provinces.
    """
    # A single province is expanded, not joined.
    if len(joined) < 2:  # noqa: PLR2004
        return False
    if len(joined) == 2:  # noqa: PLR2004 - by far the most frequent join
        one, other = joined
        if one.size >= MAJOR or other.size >= MAJOR:
            return one.size >= MAJOR and other.size >= MAJOR
        return one.size == other.size and one.owner != other.owner
    majors = sum(province.size >= MAJOR for province in joined)
    if majors:
        return majors > 1
    totals = _totals(joined)
    return totals.count(max(totals)) > 1


def absorber(joined: Sequence[OwnedProvince]) -> int:
    """The owner of the area after the provinces ``joined`` are joined (R5.5, R5.6): the owner of
    the major province, if one is among them, else the owner whose provinces have most spaces in
    total. The join must not be forbidden.
    """
    for province in joined:
        if province.size >= MAJOR:
            return province.owner
    totals = _totals(joined)
    return totals.index(max(totals))


def _totals(joined: Sequence[OwnedProvince]) -> list[int]:
    """For each seat, the number of spaces of its provinces among ``joined``; the list ends with the
    highest seat that owns one.
    """
    totals = [0] * (1 + max(province.owner for province in joined))
    for province in joined:
        totals[province.owner] += province.size
    return totals


def free_pairs(board: Board, free: int, spaces: int) -> tuple[int, int]:
    """Two masks of first squares of ``board`` at which two free squares lie side by side (R4.1) and
    at least one of them touches a space in ``spaces`` (R4.2): the first mask for horizontal pairs,
    the second for vertical pairs.
    """
    near = board.around(spaces) & free
    return free & free >> 1 & (near | near >> 1), free & free >> board.stride & (
        near | near >> board.stride
    )


def barred_with(
    province: OwnedProvince, areas: Sequence[OwnedProvince], barred: Barred, free: int, stride: int
) -> Barred:
    """The new masks where a colour is ruled out, after ``province``, the last entry of ``areas``,
    was added or changed. ``areas`` are the provinces of the colour, ``barred`` are the old masks,
    ``free`` is the mask of free squares, and ``stride`` is the board's, the distance of two squares
    below each other. The result differs from ``barred`` only around ``province``.

    The two spaces of a double tile may touch different provinces, so they are judged together:
    "each half is legal alone" is neither necessary nor sufficient. Squares that a tile covers later
    stay in the masks, which does no harm because a tile needs free squares anyway.
    """
    halo = province.halo
    others = 0
    for other in areas[:-1]:
        others |= other.halo
    right = halo | halo >> 1
    below = halo | halo >> stride
    return (
        barred[0] & ~halo | _forbidden(areas, halo & others & free, 0),
        barred[1] & ~right
        | _forbidden(areas, right & (others | others >> 1) & free & free >> 1, 1),
        barred[2] & ~below
        | _forbidden(areas, below & (others | others >> stride) & free & free >> stride, stride),
    )


def _forbidden(areas: Sequence[OwnedProvince], candidates: int, step: int) -> int:
    """The squares of the mask ``candidates`` at which a space on that square and a second one
    ``step`` squares further on would make a forbidden join of provinces in ``areas``. With ``step``
    0 there is only the one space.
    """
    forbidden = 0
    while candidates:
        low = candidates & -candidates
        candidates ^= low
        halves = low | low << step
        if is_forbidden_join([province for province in areas if province.halo & halves]):
            forbidden |= low
    return forbidden


class BoardState:
    """The board of a game: spaces, provinces, villages and pagodas.

    ``board``     the empty board, a `Board`
    ``players``   the number of seats
    ``left``      for each seat, the number of pagodas that it has not placed
    ``mover``     the seat to move
    ``end``       why the game is over, one of `terms.ENDS` (R8.1); None if the game is not over
    ``villages``  the owner of each village of ``board.villages``, or NOBODY

    Starting spaces of one colour that touch each other belong to nobody, like a single space, until
    a tile joins them (R5.2 then founds a province).
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
        """Puts spaces, provinces and owners of villages on the empty board. The arguments are those
        of ``State.set_up``, already checked.
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
        """The mask of grassland squares on which no tile lies."""
        return self._free

    def spaces(self, colour: int) -> int:
        """The mask of all spaces of a colour (0, 1 or 2), including starting spaces and single
        spaces, which are no provinces. Raises IndexError for any other number.
        """
        if not 0 <= colour < len(self._cells):
            raise IndexError(f"expected a colour from 0 to {len(self._cells) - 1}, got {colour}")
        return self._cells[colour]

    def provinces(self) -> list[tuple[int, OwnedProvince]]:
        """All provinces as (colour, province) pairs, in the reading order of their first
        squares.
        """
        areas = enumerate(self._areas)
        found = [(colour, province) for colour, provinces in areas for province in provinces]
        return sorted(found, key=lambda entry: entry[1].mask & -entry[1].mask)

    def placed(self, seat: int) -> int:
        """The number of pagodas that ``seat`` has on the board, on provinces and villages. Raises
        IndexError if the game has no such seat.
        """
        self._check_seat(seat)
        provinces = chain(*self._areas)
        on_provinces = [province.pagodas for province in provinces if province.owner == seat]
        return self.villages.count(seat) + sum(on_provinces)

    def _check_seat(self, seat: int) -> None:
        """Raises IndexError if ``seat`` is not the number of a seat of this game."""
        if not 0 <= seat < self.players:
            raise IndexError(f"expected a seat from 0 to {self.players - 1}, got {seat}")

    def ranks(self) -> list[int]:
        """The rank of each seat by pagodas left (R8.2): 1 for the fewest; seats with equally many
        share a rank.
        """
        order = sorted(self.left)
        return [1 + order.index(own) for own in self.left]

    # Where tiles may be placed (R4).

    def _places(self, kind: int) -> int:
        """The mask of the first squares on which a tile of this kind, a number from 0 to 17, may be
        placed (R4.1 to R4.5).
        """
        if self._open is None:
            self._open = free_pairs(self.board, self._free, self._spaces)
        first, second, vertical = KINDS[kind]
        if first == second:
            return self._open[vertical] & ~self._barred[first][1 + vertical]
        step = self.board.stride if vertical else 1
        return self._open[vertical] & ~(self._barred[first][0] | self._barred[second][0] >> step)

    def _enter(self, colour: int, province: OwnedProvince) -> None:
        """Adds ``province`` to the provinces of its colour and updates the masks where the colour
        is ruled out.
        """
        areas = self._areas[colour]
        areas.append(province)
        self._barred[colour] = barred_with(
            province, areas, self._barred[colour], self._free, self.board.stride
        )

    # Effects of a tile (R5 to R7).

    def _place(self, kind: int, square: int, events: list[Event] | None) -> None:
        """Places a tile for the mover, without a check that the placement is legal, and carries out
        its events in the order of R7. Appends the events to ``events`` unless that is None.
        """
        first, second, vertical = KINDS[kind]
        one = 1 << square
        other = one << (self.board.stride if vertical else 1)
        self._free &= ~(one | other)
        self._spaces |= one | other
        self._open = None
        debts: list[tuple[int, int, int]] = []
        changed = self._grow(first, one | other if first == second else one, debts, events)
        if first != second:
            changed |= self._grow(second, other, debts, events)
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
        """Adds the spaces in the mask ``halves`` to a colour and makes one province of them and of
        what they touch (R5). Returns the province's mask, or 0 if the spaces stay single.

        Pagodas that do not stay on the province return to their owners at once, and the owner of
        the province pays at once, even below zero. A payment is appended to ``debts`` as (seat,
        colour, count); the pagodas stand on the last province in the colour's list.
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
            name = ("found", "expand", "absorb")[min(len(joined), 2)]
            events.append(Event(name, owner, first, size, home))
            if size >= MAJOR and all(province.size < MAJOR for province in joined):
                events.append(Event("major", owner, first, size))
        return mask

    def _owner_of(
        self, joined: list[OwnedProvince]
    ) -> tuple[int, int, tuple[tuple[int, int], ...]]:
        """Says who owns the area, and what becomes of the pagodas, when a tile joins the provinces
        ``joined`` (R5.2 to R5.6): the owner of the joined area, the number of pagodas that stay on
        it, and the (seat, count) pairs of pagodas that returned to their owners. Adds the returned
        pagodas to ``left``.
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
        """Undoes the payments in ``debts``, after which a player has no pagodas left or fewer than
        none, and pays again in the order of R7.1 and R7.2, until a player runs out and the game
        ends.
        """
        areas = self._areas
        for seat, colour, owed in debts:
            self.left[seat] += owed
            areas[colour][-1] = areas[colour][-1]._replace(pagodas=areas[colour][-1].pagodas - owed)
        for seat, colour, owed in sorted(debts, key=self._distance):
            paid = min(owed, self.left[seat])
            self.left[seat] -= paid
            areas[colour][-1] = areas[colour][-1]._replace(pagodas=areas[colour][-1].pagodas + paid)
            if self.left[seat] == 0:
                self.end = LAST_PAGODA
                return

    def _judge_villages(self, changed: int, events: list[Event] | None) -> None:
        """Finds the new owners of the villages beside the provinces in the mask ``changed`` (R6),
        and pays their pagodas in the order of R7.1. Appends an event for each village that gets a
        new owner.
        """
        won: list[tuple[int, int, int]] = []
        for village, beside in enumerate(self.board.beside):
            if beside & changed:
                owner = self.villages[village]
                heir = self._heir(village, beside)
                if heir != owner:
                    won.append((heir, village, owner))
        if not won:
            return
        for _, village, owner in won:
            if owner != NOBODY:
                self.villages[village] = NOBODY
                self.left[owner] += 1
        for heir, village, owner in sorted(won, key=self._distance):
            self.villages[village] = heir
            self.left[heir] -= 1
            if events is not None:
                home = ((owner, 1),) if owner != NOBODY else ()
                square = next(squares_of(self.board.villages[village]))
                events.append(Event("conquer" if home else "connect", heir, square, 0, home))
            if self.left[heir] == 0:
                self.end = LAST_PAGODA
                return

    def _distance(self, entry: tuple[int, int, int]) -> int:
        """How many turns after the mover the seat ``entry[0]`` moves; 0 for the mover (R7.1)."""
        return (entry[0] - self.mover) % self.players

    def _heir(self, village: int, beside: int) -> int:
        """The seat that should own this village, given the present provinces (R6.1 to R6.3), or
        NOBODY. ``beside`` is the mask of squares around the village.
        """
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
