"""For authors of bots in Python: a position to look at and to try moves in, and the loop that talks to the arena.

    from arena.sdk import Position, run

    def choose(position: Position) -> int:
        return position.rng.choice(position.legal_moves())

    run(choose)

Moves are ints in the order of protocol/NOTATION.md; ``position.text(move)`` writes one. While ``run`` is at work, ``print`` goes to
stderr, because stdout belongs to the protocol.
"""

import random
import sys
from collections.abc import Callable, Iterable

from arena.players.messages import Hello, Move, Played, Quit, Ready, Start, Turn, decode_from_arena, encode
from arena.rules import State
from arena.rules.boards import Board, parse_board
from arena.rules.notation import COPIES, DECK_SIZE, KIND_SHIFT, PASS, TILE_OF_KIND, TILES, UNKNOWN, move_text, parse_move, parse_tile

__all__ = ["Choose", "Position", "run", "serve"]


class Position:
    """What a seat sees, as the moment before a move.

    ``seat``     whose eyes these are; ``state`` the rules' state, in which tiles that the seat cannot see are unknown
    ``time_ms``  how long the answer may take
    ``rng``      a random generator of the game's own, so that the same game can be played again
    """

    def __init__(self, state: State, seat: int, rng: random.Random, time_ms: int, seen: list[int]) -> None:
        self.state = state
        self.seat = seat
        self.rng = rng
        self.time_ms = time_ms
        self._seen = seen

    @property
    def board(self) -> Board:
        """The board."""
        return self.state.board

    @property
    def players(self) -> int:
        """How many seats there are."""
        return self.state.players

    @property
    def mover(self) -> int:
        """The seat to move: this one, or another in a position after `play`."""
        return self.state.mover

    @property
    def hand(self) -> list[str]:
        """The tiles in this seat's hand."""
        return [TILES[tile] for tile in self.state.hands[self.seat] if tile != UNKNOWN]

    @property
    def left(self) -> list[int]:
        """Pagodas left, by seat."""
        return self.state.left

    @property
    def pile(self) -> int:
        """Tiles left in the draw pile."""
        return self.state.pile

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, as far as this seat can tell."""
        return self.state.end is not None

    def legal_moves(self) -> list[int]:
        """Every legal move of the hand, in ascending order."""
        return self.state.legal_moves()

    def moves_of(self, tiles: Iterable[str]) -> list[int]:
        """Every legal placement of the given tiles, whoever may hold them."""
        return self.state.placements([parse_tile(tile) for tile in tiles])

    def play(self, move: int) -> "Position":
        """The position after the move of whoever is to move; this one stays as it is. Raises IllegalMoveError."""
        state = self.state.copy()
        state.play(move)
        return Position(state, self.seat, self.rng, self.time_ms, self._seen)

    def unseen(self) -> dict[str, int]:
        """How many of each tile this seat has not seen: they are in the other hands or in the pile."""
        hand = self.state.hands[self.seat]
        return {name: COPIES - self._seen[tile] - hand.count(tile) for tile, name in enumerate(TILES)}

    def text(self, move: int) -> str:
        """The move in notation."""
        return move_text(self.board, move)


Choose = Callable[[Position], int | str]


def run(choose: Choose) -> None:
    """Plays games over stdin and stdout until the arena says ``quit`` or goes away; ``choose`` returns a move as int or text."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        serve(choose, sys.stdin.buffer, lambda line: (out.write(line + b"\n"), out.flush()))
    except KeyboardInterrupt:
        sys.exit(130)


def serve(choose: Choose, lines: Iterable[bytes], send: Callable[[bytes], object]) -> None:
    """The loop of `run` over any lines: reads messages, follows the games, sends replies."""
    game: _Game | None = None
    for line in lines:
        match decode_from_arena(line):
            case Hello(id=number):
                send(encode(Ready(number)))
            case Start() as start:
                game = _Game(start)
            case Played() as played if game:
                game.follow(played)
            case Turn() as turn if game:
                send(encode(Move(turn.id, game.answer(choose, turn))))
            case Quit():
                return


class _Game:
    """One game as this seat follows it."""

    def __init__(self, start: Start) -> None:
        self._state = State(parse_board("board", "\n".join(start.board)), start.players, (UNKNOWN,) * DECK_SIZE)
        self._seat = start.seat
        self._rng = random.Random(start.seed)  # noqa: S311 - for play, not for secrets
        self._seen = [0] * len(TILES)

    def follow(self, played: Played) -> None:
        move = parse_move(self._state.board, played.move)
        if played.forfeited and not self._state.retired[played.seat]:
            self._state.retire(played.seat)
        if move != PASS:
            self._seen[TILE_OF_KIND[move >> KIND_SHIFT]] += 1
        self._state.play(move)

    def answer(self, choose: Choose, turn: Turn) -> str:
        self._state.set_hand(self._seat, [parse_tile(tile) for tile in turn.hand])
        position = Position(self._state.copy(), self._seat, self._rng, turn.time_ms, self._seen)
        move = choose(position)
        return move if isinstance(move, str) else position.text(move)
