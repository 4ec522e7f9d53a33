"""The rules of Qin in plain Python on int bitboards: the core that people read and maintain.

A province is ``(mask, halo, owner, size, pagodas)``; provinces are merged with OR, and AND of a
halo and a mask says whether they touch. Rule numbers such as R4.4 refer to protocol/RULES.md.
"""

from collections.abc import Callable, Iterable, Sequence

from arena.errors import IllegalMoveError
from arena.rules.board_state import BoardState
from arena.rules.boards import Board, nth_square, squares_of
from arena.rules.notation import (
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
    PlayoutPolicy,
    Random,
    Rollouts,
    choose,
    outlook,
    outlooks,
    play_out,
    roll_out,
)
from arena.rules.setup import NONE_PLACED, checked_setup, is_same_position, parts_of
from arena.rules.terms import HAND, NO_SPACE, NO_TILES, PAGODAS, Event


class State(BoardState):
    """A game of Qin. Tiles in the hands and the draw pile may be ``UNKNOWN``: the referee's state
    has none of these, a state that one seat sees has them in the other hands and the pile.

    Besides the attributes of a `BoardState`:

    ``hands``    the tiles of each seat, sorted
    ``turns``    the number of placements so far
    ``retired``  for each seat, whether it has left the game: such a seat passes in all its turns,
                 and cannot keep the game from ending

    Two states are equal if they have the same position, with the same tiles in hands and pile. A
    state can change, so it has no hash. ``copy.copy``, ``copy.deepcopy`` and ``pickle`` make an
    equal state.
    """

    __slots__ = ("_deck", "_drawn", "_menu", "_placed", "hands", "retired", "turns")

    def __init__(self, board: Board, players: int, deck: Sequence[int]) -> None:
        """Starts a game on ``board`` for ``players`` seats. ``deck`` has the tiles in draw order:
        each seat gets three tiles from its front (R2.1), the others are the draw pile. Raises
        ValueError unless ``players`` is 2, 3 or 4, and for a number in ``deck`` that is neither a
        tile nor `UNKNOWN`.
        """
        if players not in PAGODAS:
            raise ValueError(f"expected 2 to 4 players, got {players}")
        super().__init__(board, players)
        self._deck = checked_tiles(deck)
        self.hands = []
        for seat in range(players):
            first = HAND * seat
            self.hands.append(tuple(sorted(self._deck[first : first + HAND])))
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
        retired: Sequence[bool] = (),
        end: str | None = None,
    ) -> "State":
        """Makes a state in the middle of a game, or at its end if ``end`` is one of `terms.ENDS`.

        ``spaces`` has a mask of spaces for each colour; ``provinces`` are (colour, mask, owner,
        pagodas); ``pile`` is the draw pile in draw order; ``placed`` has for each tile the number
        of copies that have been placed. The other arguments have the meaning of the attributes with
        their names; an empty ``retired`` means that no seat has left. Raises ValueError for an
        impossible part, see `arena.rules.setup.checked_setup`.
        """
        setup = checked_setup(
            board, spaces, provinces, villages, left, hands, pile, mover, placed, retired, end
        )
        self = cls(board, len(setup.left), (UNKNOWN,) * HAND * len(setup.left) + setup.pile)
        self._lay_out(setup.spaces, setup.provinces, setup.villages)
        self.left = list(setup.left)
        self.hands = [tuple(sorted(hand)) for hand in setup.hands]
        self.mover = setup.mover
        self._placed = list(setup.placed)
        self.turns = sum(setup.placed)
        self.retired = list(setup.retired)
        self.end = setup.end
        if self.end is None:
            self._end_if_stuck()
        return self

    def __eq__(self, other: object) -> bool:
        return is_same_position(self, other) if isinstance(other, State) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[..., "State"], tuple[object, ...]]:
        return State.set_up, parts_of(self)

    def copy(self) -> "State":
        """Makes an independent state with the same position."""
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

    # The visible state.

    @property
    def pile(self) -> int:
        """The number of tiles in the draw pile."""
        return len(self._deck) - self._drawn

    def pile_tiles(self) -> tuple[int, ...]:
        """The tiles of the draw pile in the order in which they will be drawn."""
        return self._deck[self._drawn :]

    def tiles_placed(self) -> list[int]:
        """For each tile in the order of ``TILES``, how many copies have been placed."""
        return self._placed[:]

    # Legal moves (R4).

    def legal_moves(self) -> list[int]:
        """All legal placements of the mover, in ascending order; empty if no tile of its hand can
        be placed, or if the game is over. Unknown tiles are ignored.
        """
        return self._placements(self.hands[self.mover]) if self.end is None else []

    def placements(self, tiles: Iterable[int]) -> list[int]:
        """All legal placements of ``tiles`` on the present board, in ascending order, no matter
        whose hand the tiles are in. Unknown tiles have none. Raises ValueError for a number that is
        no tile.
        """
        return self._placements(checked_tiles(tiles))

    def _placements(self, tiles: Hand) -> list[int]:
        """All legal placements of ``tiles``, in ascending order."""
        kinds = kinds_of(tiles)
        return [
            kind << KIND_SHIFT | square
            for kind in kinds
            for square in squares_of(self._places(kind))
        ]

    def legal_count(self) -> int:
        """The number of legal placements of the mover, the length of `legal_moves`."""
        return sum([count for _, _, count in self._menu or self._make_menu()])

    def nth(self, index: int) -> int:
        """The move ``legal_moves()[index]``, computed without making the list. Raises IndexError if
        ``index`` is negative or not below `legal_count`.
        """
        if index >= 0:
            for kind, mask, count in self._menu or self._make_menu():
                if index < count:
                    return kind << KIND_SHIFT | nth_square(mask, index)
                index -= count
        raise IndexError("no legal move has that index")

    def can_move(self, seat: int) -> bool:
        """Whether ``seat`` could place a tile of its hand on the present board, even if it is not
        to move; an unknown tile counts as any tile, and fits everywhere. Raises IndexError if the
        game has no such seat.
        """
        self._check_seat(seat)
        return self._can_place(self.hands[seat])

    def _can_place(self, hand: Hand) -> bool:
        """Whether a tile of ``hand`` can be placed on the present board; True if the hand has an
        unknown tile.
        """
        if UNKNOWN in hand:
            return True
        # Not any(), which is slower: this runs at every turn.
        for kind in kinds_of(hand):  # noqa: SIM110
            if self._places(kind):
                return True
        return False

    def must_pass(self) -> bool:
        """Whether the mover has to pass, because no tile of its hand can be placed or because the
        seat has left the game (R3.2). A hand with an unknown tile counts as one that can be placed.
        """
        return self.retired[self.mover] or not self._can_place(self.hands[self.mover])

    def is_legal(self, move: int) -> bool:
        """Whether the mover may place ``move``. An unknown tile in the mover's hand counts as any
        tile. False for a pass, and if the game is over.
        """
        kind = move >> KIND_SHIFT
        if self.end is not None or not 0 <= kind < len(TILE_OF_KIND):
            return False
        hand = self.hands[self.mover]
        return (TILE_OF_KIND[kind] in hand or UNKNOWN in hand) and bool(
            self._places(kind) >> (move & SQUARE_MASK) & 1
        )

    def _make_menu(self) -> list[tuple[int, int, int]]:
        """Lists the mover's kinds of move that have at least one place, as (kind, mask of first
        squares, number of first squares). Caches the list until the next move.
        """
        kinds = kinds_of(self.hands[self.mover]) if self.end is None else ()
        masks = [self._places(kind) for kind in kinds]
        counts = [mask.bit_count() for mask in masks]
        self._menu = list(zip(kinds, masks, counts, strict=True))
        return self._menu

    def why_illegal(self, move: int) -> str:
        """Says why the mover may not play ``move``, a placement or PASS, with the rule's number; an
        empty text if the move is legal.
        """
        # Most processes never ask, and every start of a bot would wait for the module.
        from arena.rules.explain import illegal_text  # noqa: PLC0415

        return illegal_text(self, move)

    # Effects of a move (R5 to R8).

    def play(self, move: int, events: list[Event] | None = None) -> None:
        """Plays the mover's placement or PASS. After a placement that does not end the game, the
        mover draws a tile if any are left. The turn goes to the next seat, and the game ends if no
        seat in it can place a tile. Appends the events of the placement to ``events``, unless that
        is None.

        Raises IllegalMoveError, and then the state is as before.
        """
        if not self.is_legal(move):
            reason = self.why_illegal(move)
            if reason:
                raise IllegalMoveError(reason)
            self._end_if_stuck()  # if hands were set, perhaps no seat can place a tile now
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
        """How many pagodas the legal placement ``move`` brings the mover on the board, minus the
        number that it brings all other seats together; negative if the others gain more. The state
        does not change. Raises ValueError for an illegal move.
        """
        if not self.is_legal(move):
            raise ValueError("expected a legal move")
        twin = self.copy()
        twin._place(move >> KIND_SHIFT, move & SQUARE_MASK, None)
        gained = [before - after for before, after in zip(self.left, twin.left, strict=True)]
        return 2 * gained[self.mover] - sum(gained)

    def outlook(self, seat: int) -> int:
        """An estimate, without search, of how well ``seat`` stands: the sum, over all other seats,
        of how much more the position is worth to ``seat`` than to the other, in hundredths of a
        pagoda. Higher is better for ``seat``. What is counted says `arena.rules.playouts.outlook`.
        Raises IndexError if the game has no such seat.
        """
        self._check_seat(seat)
        return outlook(self, seat)

    def outlooks(self) -> list[int]:
        """For each move of `legal_moves`, in the same order: the mover's `outlook` when that tile
        has been placed and no new tile has been drawn. Higher is better for the mover. The state
        does not change.
        """
        return outlooks(self)

    def choice(self, seed: int, policy: str = "uniform", among: int = 0) -> int:
        """The move that a playout policy chooses for the mover, from the board and the mover's own
        hand; PASS if the mover has no legal placement or has left the game. ``seed`` decides
        between random choices. The state does not change.

        ``policy`` (uniform, greedy or careful) and ``among`` are the ``name`` and ``among`` of a
        `arena.rules.playouts.PlayoutPolicy`. Raises ValueError for values that it does not allow.
        """
        return choose(self, Random(seed), PlayoutPolicy(policy, among))

    def playout(self, seed: int, policy: str = "uniform", among: int = 0, turns: int = 0) -> int:
        """Plays on for all seats by a playout policy, to the end of the game or, if ``turns`` is
        not 0, for at most ``turns`` placements. Returns the number of placements. ``seed`` decides
        between random choices. The state changes.

        ``policy`` (uniform, greedy or careful), ``among`` and ``turns`` are those of
        `arena.rules.playouts.PlayoutPolicy`. Raises ValueError for values that it does not allow,
        and if a tile in a hand or the draw pile is unknown.
        """
        return play_out(self, Random(seed), PlayoutPolicy(policy, among, turns))

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
        """Tries each move on ``times`` random deals of the tiles that ``seat``, the mover, cannot
        see, and plays each game on by a playout policy (``policy``, ``among``, ``turns``; see
        `arena.rules.playouts.PlayoutPolicy`). ``moves`` are the moves to try; None means all legal
        moves. The random numbers follow from ``seed``. The state does not change.

        Returns the moves, and for each move three sums over the deals: the seat's shares of the win
        (0 in a game that ``turns`` stopped), its pagodas left, and its outlooks. Raises
        IllegalMoveError for a move that is not legal, and ValueError for arguments out of range, if
        ``seat`` is not to move, and if the tiles that it cannot see do not follow from those that
        it sees.
        """
        return roll_out(self, seat, times, seed, PlayoutPolicy(policy, among, turns), moves)

    def set_pile(self, tiles: Sequence[int]) -> None:
        """Replaces the draw pile by ``tiles``, in the order in which they will be drawn; they may
        be unknown tiles. Whether they fit the tiles elsewhere is not checked. Raises ValueError for
        a number that is neither a tile nor `UNKNOWN`.
        """
        self._deck = checked_tiles(tiles)
        self._drawn = 0

    def set_hand(self, seat: int, tiles: Iterable[int]) -> None:
        """Replaces the hand of ``seat`` by ``tiles``, which may be unknown tiles. Whether they fit
        the tiles elsewhere is not checked. Raises ValueError for a number that is neither a tile
        nor `UNKNOWN`, and IndexError if the game has no such seat.
        """
        self._check_seat(seat)
        self.hands[seat] = tuple(sorted(checked_tiles(tiles)))
        self._menu = None

    def retire(self, seat: int) -> None:
        """Takes ``seat`` out of the game: it passes in all its later turns, and the game ends as
        soon as no seat that is still in the game can place a tile (R3.2, R8.1), which may be at
        once. Raises IndexError if the game has no such seat.
        """
        self._check_seat(seat)
        self.retired = [own or other == seat for other, own in enumerate(self.retired)]
        if self.end is None:
            self._end_if_stuck()

    def _next_mover(self) -> None:
        """Makes the next seat the mover. `arena.rules.notation.seat_of_move` says the same of the
        moves of a record.
        """
        self._menu = None
        self.mover = (self.mover + 1) % self.players

    def _end_if_stuck(self) -> None:
        """Ends the game if no seat that is still in the game can place a tile (R8.1)."""
        for step in range(self.players):
            seat = (self.mover + step) % self.players
            if not self.retired[seat] and self._can_place(self.hands[seat]):
                return
        self.end = NO_SPACE if any(self.hands) else NO_TILES
