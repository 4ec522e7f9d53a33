"""For authors of bots in Python: a position to look at and to try moves in, and the loop that talks to the arena.

    from arena.sdk import Position, run

    def choose(position: Position) -> int:
        return position.rng.choice(position.legal_moves())

    run(choose)

Moves are ints in the order of protocol/NOTATION.md; ``position.text(move)`` writes one. To search, `Position.play` tries a move,
`Position.rollouts` plays games to the end, and ``arena new NAME --template montecarlo`` writes a bot that does. `arena.training.choose_by`
plays by a policy that was trained. While ``run`` is at work, ``print`` goes to stderr, because stdout belongs to the protocol.
"""

import random
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from arena.players.messages import Hello, Move, Played, Quit, Ready, Start, Turn, decode_from_arena, encode
from arena.rules import State
from arena.rules.boards import Board, parse_board
from arena.rules.notation import COPIES, DECK_SIZE, PASS, TILES, UNKNOWN, move_text, parse_move, parse_tile

__all__ = ["PASS", "Choose", "Position", "Rollout", "run", "serve"]


class Rollout(NamedTuple):
    """What a move came to in ``games`` games played on from it.

    ``wins``     this seat's shares of the win, summed: 1 for a win, 1/k for one shared by k; from 0 to ``games``
    ``left``     this seat's pagodas left, summed over the games
    ``outlook``  this seat's outlook where the games stopped, summed; see `Position.outlook`
    """

    move: int
    games: int
    wins: float
    left: int
    outlook: float


class Position:
    """What a seat sees, as the moment before a move.

    ``seat``     whose eyes these are; ``state`` the rules' state, in which tiles that the seat cannot see are unknown
    ``time_ms``  how long the answer may take
    ``rng``      a random generator of the game's own, so that the same game can be played again
    ``has_bank`` whether ``time_ms`` is what is left for several moves
    """

    def __init__(self, state: State, seat: int, rng: random.Random, time_ms: int, *, has_bank: bool = False) -> None:
        self.state = state
        self.seat = seat
        self.rng = rng
        self.time_ms = time_ms
        self.has_bank = has_bank

    @property
    def think_ms(self) -> float:
        """How long to think about this move: most of its time, less a reserve for the way to the arena, or a small part of a bank."""
        return self.time_ms / 20 if self.has_bank else max(0.4 * self.time_ms, 0.8 * self.time_ms - 15)

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
        """Every legal move of whoever is to move, as far as its hand is known, in ascending order."""
        return self.state.legal_moves()

    def why_illegal(self, move: int | str) -> str:
        """Why the mover may not play the move: the rule with its number, and the command that explains it; empty for a legal move.

        Raises InvalidMoveError for a text that is no move.
        """
        from arena.rules.rulebook import explained  # noqa: PLC0415 - a bot's start must not wait for it

        number = parse_move(self.board, move) if isinstance(move, str) else move
        return explained(self.state.why_illegal(number))

    def moves_of(self, tiles: Iterable[str]) -> list[int]:
        """Every legal placement of the given tiles, whoever may hold them."""
        return self.state.placements([parse_tile(tile) for tile in tiles])

    def play(self, move: int) -> "Position":
        """The position after the move of whoever is to move; this one stays as it is. Raises IllegalMoveError."""
        state = self.state.copy()
        state.play(move)
        return self._at(state)

    def unseen(self) -> dict[str, int]:
        """How many of each tile this seat has not seen: they are in the other hands or in the pile."""
        hand, placed = self.state.hands[self.seat], self.state.tiles_placed()
        return {name: COPIES - placed[tile] - hand.count(tile) for tile, name in enumerate(TILES)}

    def outlook(self, seat: int | None = None) -> float:
        """How well a seat stands, this one by default: in pagodas, own less the mean of the others.

        Counts pagodas placed, provinces by how soon they may become major, villages by how safely they are held, and the win of a game
        that is over. Raises IndexError.
        """
        return self.state.outlook(self.seat if seat is None else seat) / self._outlook_unit

    def outlooks(self) -> list[float]:
        """The outlook of whoever is to move after each of its `legal_moves`, in their order: what is likely to come of them."""
        unit = self._outlook_unit
        return [outlook / unit for outlook in self.state.outlooks()]

    @property
    def _outlook_unit(self) -> int:
        return 100 * (self.players - 1)

    def rollouts(
        self,
        times: int = 1,
        moves: Iterable[int] | None = None,
        *,
        policy: str = "uniform",
        among: int = 0,
        turns: int = 0,
        seed: int | None = None,
    ) -> list[Rollout]:
        """Plays each move and then on to the end of the game, ``times`` times; says what each came to, in the order of ``moves``.

        ``moves``   what to try: legal moves of this seat, all of them by default
        ``policy``  how every seat plays on: "uniform", any legal move; "greedy", the one that gains most pagodas at once, net of the
                    others; or "careful", the one with the best outlook
        ``among``   greedy and careful look at so many moves drawn at random; 0 looks at all, which takes some ten times as long as 8
        ``turns``   stops after so many placements, and a game that goes on counts as no win; 0 plays to the end
        ``seed``    decides the games; drawn from ``rng`` by default

        For each of the times, what this seat cannot see is dealt anew, and all moves meet the same deal and the same luck, so compare moves
        of one call, or of calls with the same seed. A call runs to its end: where time is short, ask for few games, often. A game of two
        from the opening takes about 0.03 ms with the native core and 1 ms with the pure one; later ones take less.

        Raises ValueError when it is not this seat's turn, the game is over, ``times`` is below 1 or there is no such policy, and
        IllegalMoveError.
        """
        if times < 1:
            raise ValueError(f"expected at least 1 game for each move, got {times}")
        chosen = None if moves is None else list(moves)
        tried = self.state.rollouts(self.seat, times, self._seed(seed), policy, chosen, among, turns)
        unit = self._outlook_unit
        return [Rollout(move, times, won, stock, outlook / unit) for move, won, stock, outlook in zip(*tried, strict=True)]

    def playout(self, *, policy: str = "uniform", among: int = 0, seed: int | None = None) -> list[int]:
        """Plays one game to the end from here, whoever is to move, on a deal as `sample` makes it; returns the pagodas left, by seat.

        The arguments are those of `rollouts`; this position stays as it is. Raises ValueError for another policy.
        """
        return self.play_on(policy=policy, among=among, seed=seed).left

    def play_on(self, *, policy: str = "uniform", among: int = 0, turns: int = 0, seed: int | None = None) -> "Position":
        """Where one game from here goes, on a deal as `sample` makes it; the arguments are those of `rollouts`. Raises ValueError."""
        luck = random.Random(self._seed(seed))  # noqa: S311 - for play, not for secrets
        state = self._dealt(luck)
        state.playout(luck.getrandbits(64), policy, among, turns)
        return self._at(state)

    def sample(self, seed: int | None = None) -> "Position":
        """This position with every tile that the seat has not seen dealt at random: a game that may be the one being played.

        In it `play` draws real tiles, and `legal_moves` lists those of whoever is to move; one who has none plays PASS. ``seed`` decides
        the deal; drawn from ``rng`` by default.
        """
        return self._at(self._dealt(random.Random(self._seed(seed))))  # noqa: S311 - for play, not for secrets

    def _at(self, state: State) -> "Position":
        """The same eyes on another state."""
        return Position(state, self.seat, self.rng, self.time_ms, has_bank=self.has_bank)

    def _seed(self, seed: int | None) -> int:
        """The seed given, or one of the game's own."""
        return self.rng.getrandbits(64) if seed is None else seed

    def _dealt(self, luck: random.Random) -> State:
        """A copy of the state in which no tile is unknown; those that a sample has dealt already stay."""
        state = self.state.copy()
        pile = state.pile_tiles()
        known = [*pile, *(tile for seat, hand in enumerate(state.hands) if seat != self.seat for tile in hand)]
        hidden = [tile for tile, count in enumerate(self.unseen().values()) for _ in range(count - known.count(tile))]
        luck.shuffle(hidden)
        for seat, hand in enumerate(state.hands):
            if UNKNOWN in hand:
                state.set_hand(seat, [hidden.pop() if tile == UNKNOWN else tile for tile in hand])
        state.set_pile([hidden.pop() if tile == UNKNOWN else tile for tile in pile])
        return state

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
        self._has_bank = start.game_ms is not None

    def follow(self, played: Played) -> None:
        move = parse_move(self._state.board, played.move)
        if played.forfeited and not self._state.retired[played.seat]:
            self._state.retire(played.seat)
        self._state.play(move)

    def answer(self, choose: Choose, turn: Turn) -> str:
        self._state.set_hand(self._seat, [parse_tile(tile) for tile in turn.hand])
        position = Position(self._state.copy(), self._seat, self._rng, turn.time_ms, has_bank=self._has_bank)
        move = choose(position)
        return move if isinstance(move, str) else position.text(move)
