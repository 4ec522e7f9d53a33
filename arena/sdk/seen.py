"""A position as one seat sees it: the board, what the seats hold, and the legal moves."""

from collections.abc import Iterable

from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, LAKE, VILLAGE, Board
from arena.rules.notation import (
    PASS,
    TILES,
    UNKNOWN,
    move_text,
    parse_move,
    parse_square,
    parse_tile,
    split_move,
)
from arena.rules.positions import draw, position_text
from arena.rules.terms import NOBODY
from arena.sdk.areas import Province, Square, Village, names_of, unseen


class SeenPosition:
    """What one seat sees of a position. Bots get a `Position`, which can also look ahead."""

    def __init__(self, state: State, seat: int) -> None:
        self.state = state
        self.seat = seat

    @property
    def board(self) -> Board:
        """The board without tiles: its ``rows`` as text, its ``width`` and ``height``, and bit
        masks for fast bots.
        """
        return self.state.board

    def at(self, square: str) -> Square:
        """Look at one square of the board.

        Args:
            square: The name of the square, such as ``c4``.

        Returns:
            The `Square`, with its colour, owner, province and village.

        Raises:
            NotationError: The board has no such square.

        Examples:
            >>> position.at("f3").seat
            0
        """
        number = parse_square(self.board, square)
        row, column = divmod(number, self.board.stride)
        here = self.board.rows[row][column]
        sign = here if here in (VILLAGE, LAKE) else GRASS
        for colour, letter in enumerate(COLOURS):
            if self.state.spaces(colour) >> number & 1:
                sign = letter
        province = next((area for area in self.provinces if square in area.squares), None)
        village = next((area for area in self.villages if square in area.squares), None)
        return Square(square, sign, province, village)

    def neighbours(self, square: str) -> tuple[str, ...]:
        """The squares, at most four, that share an edge with a square.

        Args:
            square: The name of the square, such as ``c4``.

        Returns:
            The names of its neighbours, in reading order.

        Raises:
            NotationError: The board has no such square.

        Examples:
            >>> position.neighbours("f3")
            ('f2', 'e3', 'g3', 'f4')
        """
        return names_of(self.board, self.board.around(1 << parse_square(self.board, square)))

    @property
    def free(self) -> tuple[str, ...]:
        """The names of the squares of free grassland, on which tiles may be placed, in reading
        order.
        """
        return names_of(self.board, self.state.free)

    @property
    def provinces(self) -> list[Province]:
        """All provinces, in the reading order of their first squares. Each access makes a
        new list.
        """
        board = self.board
        provinces = []
        for colour, (mask, halo, owner, _, pagodas) in self.state.provinces():
            squares = names_of(board, mask)
            beside = names_of(board, halo & ~mask)
            provinces.append(Province(COLOURS[colour], owner, pagodas, squares, beside))
        return provinces

    @property
    def villages(self) -> list[Village]:
        """All villages, in the reading order of their first squares. Each access makes a
        new list.
        """
        board = self.board
        villages = []
        for seat, mask, beside in zip(
            self.state.villages, board.villages, board.beside, strict=True
        ):
            owner = None if seat == NOBODY else seat
            villages.append(Village(owner, names_of(board, mask), names_of(board, beside)))
        return villages

    # What the seats hold.

    @property
    def players(self) -> int:
        """The number of seats in this game."""
        return self.state.players

    @property
    def mover(self) -> int:
        """The seat to move: yours when the arena asks for a move, another one in a position after
        `play`.
        """
        return self.state.mover

    @property
    def hand(self) -> list[str]:
        """The tiles in your hand, such as ``["RR", "RY", "YB"]``."""
        return [TILES[tile] for tile in self.state.hands[self.seat] if tile != UNKNOWN]

    @property
    def left(self) -> list[int]:
        """The number of pagodas that each seat still has to place, by seat. A seat that has none
        left has won.
        """
        return self.state.left

    @property
    def pile(self) -> int:
        """The number of tiles left in the draw pile."""
        return self.state.pile

    @property
    def turns(self) -> int:
        """The number of tiles placed in this game so far."""
        return self.state.turns

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, as far as your seat can see."""
        return self.state.end is not None

    def unseen(self) -> dict[str, int]:
        """How many of each tile are in other hands or in the draw pile.

        Returns:
            The number of unseen copies by the tile's name, such as ``{"RR": 9, ...}``.

        Examples:
            >>> position.unseen()["RR"]
            7
        """
        return dict(zip(TILES, unseen(self.state, self.seat), strict=True))

    @property
    def line(self) -> str:
        """The position in one line of text, as your seat sees it; `position_of` reads such lines.
        Print the line if your bot did something odd, and use it in a test.
        """
        return position_text(self.state, self.seat)

    # Moves.

    def legal_moves(self) -> list[int]:
        """Every legal move of the seat to move.

        Returns:
            The moves in ascending order, at least one when you are asked. After `play` the list is
            empty, because the next seat's hand is unknown: use `moves_of` or `sample` there.

        Examples:
            >>> position.text(position.legal_moves()[0])
            'Re2Yf2'
        """
        return self.state.legal_moves()

    def moves_of(self, tiles: Iterable[str]) -> list[int]:
        """Every legal placement of the given tiles in this position, whichever seat holds them.

        Args:
            tiles: Names of tiles, such as ``["RR", "YB"]``.

        Returns:
            The placements in ascending order.

        Raises:
            NotationError: A name is not a tile.

        Examples:
            >>> position.text(position.moves_of(["RB"])[0])
            'Re2Bf2'
        """
        return self.state.placements([parse_tile(tile) for tile in tiles])

    def text(self, move: int) -> str:
        """A move as text that says which colour lies on which square.

        Args:
            move: The move as an int.

        Returns:
            Text such as ``Rc4Yd4``, or ``pass``.
        """
        return move_text(self.board, move)

    def move(self, text: int | str) -> int:
        """The move that a text stands for, legal or not. The opposite of `text`.

        Args:
            text: Text such as ``Rc4Yd4``, with the halves in either order, or ``pass``. An int is
                returned as it is.

        Returns:
            The move as an int.

        Raises:
            InvalidMoveError: The text is no move on this board.

        Examples:
            >>> position.text(position.move("Yf2Re2"))
            'Re2Yf2'
        """
        return parse_move(self.board, text) if isinstance(text, str) else text

    def halves(self, move: int) -> tuple[tuple[str, str], ...]:
        """The two spaces that a move covers.

        Args:
            move: The move as an int.

        Returns:
            Colour and square of both halves, such as ``(("R", "c4"), ("Y", "d4"))``; empty for
            `PASS`.
        """
        if move == PASS:
            return ()
        first, first_square, second, second_square = split_move(self.board, move)
        name_of = self.board.name_of
        return (COLOURS[first], name_of(first_square)), (COLOURS[second], name_of(second_square))

    def why_illegal(self, move: int | str) -> str:
        """Why the seat to move may not play a move.

        Args:
            move: The move, as an int or as text.

        Returns:
            A sentence with the rule's number and the command that explains the rule; empty if the
            move is legal.

        Raises:
            InvalidMoveError: The text is no move on this board.

        Examples:
            >>> position.why_illegal("Re2Yf2")
            ''
        """
        # The rulebook is read only if a bot asks: bots must start quickly.
        from arena.rules.explain import explained  # noqa: PLC0415

        return explained(self.state.why_illegal(self.move(move)))

    def __str__(self) -> str:
        held = ", ".join(f"seat {seat}: {left} left" for seat, left in enumerate(self.left))
        letters = [chr(ord("a") + column) for column in range(self.board.width)]
        lines = []
        for number, row in enumerate([letters, *draw(self.state)]):
            cells = "".join(f"{cell:<3}" for cell in row)
            lines.append(f"{number or '':>2}  {cells}".rstrip())
        lines += [f"{held}; {self.pile} tiles in the pile", self._summary()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Position: {self._summary()}>"

    def _summary(self) -> str:
        """One line about the turn, the seat to move, and this seat's hand."""
        whose = "the game is over" if self.is_over else f"seat {self.mover} to move"
        hand = " ".join(self.hand) or "no tiles"
        return f"turn {self.turns}, {whose}, you are seat {self.seat} and hold {hand}"
