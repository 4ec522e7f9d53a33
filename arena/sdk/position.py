"""What a seat sees when it has to move, and what it can try."""

import random
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import TILES, UNKNOWN, move_text, parse_move, parse_square, parse_tile
from arena.rules.positions import position_text
from arena.sdk.areas import (
    Province,
    Square,
    Village,
    drawn,
    halves_of,
    names_of,
    provinces_of,
    square_of,
    villages_of,
)
from arena.sdk.rollouts import Manner, Rollout, dealt, outlook_unit, played_on, tried, unseen
from arena.sdk.stopwatch import Stopwatch
from arena.sdk.timemanager import TimeManager

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Position:
    """What your bot sees when it has to move. Your function gets one; you never need to make one
    yourself.

    Nothing you do with a position changes it or the game: `play` and `sample` return new ones.

    Attributes:
        seat: Your seat, from 0 in turn order.
        time_ms: The limit for this answer in milliseconds. See `has_time`.
        has_bank: Whether ``time_ms`` may be all that is left for several moves.
        rng: A ``random.Random`` of your own, seeded by the arena. Use it, and the same game can be
            played again move by move.
        options: The options that your ``bot.toml`` declares, by name, as the user set them: an int,
            a float, a bool or a text each.
        state: The rules' own state, for bots that need speed: its areas are bit masks, and tiles
            you cannot see are unknown.

    Example:
        A bot that places a tile beside a free village if it can:

            def choose(position: Position) -> int:
                free = [village for village in position.villages if village.owner is None]
                wanted = {square for village in free for square in village.neighbours}

                def worth(move: int) -> int:
                    return sum(square in wanted for colour, square in position.halves(move))

                return max(position.legal_moves(), key=worth)
    """

    def __init__(
        self,
        state: State,
        seat: int,
        rng: random.Random,
        time_ms: int,
        *,
        has_bank: bool = False,
        watch: Stopwatch | None = None,
        said: dict[str, object] | None = None,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> None:
        self.state = state
        self.seat = seat
        self.rng = rng
        self.time_ms = time_ms
        self.has_bank = has_bank
        self._watch = watch or TimeManager().watch(time_ms, state.left)
        self._said = {} if said is None else said
        self.options = options

    def note(self, value: float | None = None, text: str | None = None, **numbers: float) -> None:
        """Say something about your move: `arena replay` shows it. No other bot sees it, and it
        never costs you the move. What you say last about a name, on any position of this turn,
        counts.

        Args:
            value: The share of the win that you expect, from 0 to 1. `arena analyse` compares it
                with what came of it.
            text: A few words, up to 160 characters.
            numbers: Up to eight numbers under names of your own, such as ``depth=7``.
        """
        told = {"value": value, "text": text, **numbers}
        self._said.update({name: said for name, said in told.items() if said is not None})

    # time

    @property
    def think_ms(self) -> float:
        """How many milliseconds to think about this move: most of `time_ms`, or a share of the bank
        when that is less.
        """
        return self._watch.think_ms

    @property
    def elapsed_ms(self) -> float:
        """What this answer has cost so far, in milliseconds.

        Processor time since your last answer; with ``--clock wall``, the time since this move was
        asked for.
        """
        return self._watch.elapsed_ms

    @property
    def nodes(self) -> int:
        """How many positions you have made for this answer: each `play`, and each game that
        `rollouts`, `playout` and `play_on` have played.
        """
        return self._watch.nodes

    def has_time(self, share: float = 1.0) -> bool:
        """Whether to go on thinking. Ask before each small piece of work, and answer as soon as it
        says False.

        Of a bot with the option ``nodes`` above 0, it says False once `nodes` has reached that,
        whatever the time.

        Otherwise it stops before `think_ms` are used up if the next piece, when it takes as long as
        the longest so far, would go beyond. Time in which other programs hold the processor costs
        you nothing, unless the arena runs with ``--clock wall``.

        Args:
            share: The part of `think_ms`, or of the nodes, to use, from 0 to 1. With 0.5 it says
                False halfway, for a search in stages.

        Example:
            Count wins until the time is up:

                while position.has_time():
                    for tried in position.rollouts(1, moves):
                        total[tried.move] += tried.wins
        """
        return self._watch.allows(share)

    # what lies on the board

    @property
    def board(self) -> Board:
        """The empty board: its ``rows`` as text, its ``width`` and ``height``, and masks for fast
        bots.
        """
        return self.state.board

    def at(self, square: str) -> Square:
        """What lies on a square.

        Args:
            square: Its name, such as ``c4``.

        Raises:
            NotationError: The board has no such square.

        Examples:
            >>> position.at("c4").owner
            1
        """
        return square_of(self.state, square)

    def neighbours(self, square: str) -> tuple[str, ...]:
        """The two to four squares that share an edge with this one.

        Args:
            square: Its name, such as ``c4``.

        Raises:
            NotationError: The board has no such square.
        """
        return names_of(self.board, self.board.around(1 << parse_square(self.board, square)))

    @property
    def free(self) -> tuple[str, ...]:
        """The squares of free grassland, in reading order: where tiles may lie."""
        return names_of(self.board, self.state.free)

    @property
    def provinces(self) -> list[Province]:
        """All provinces, in the reading order of their first squares. Each call makes a new list,
        so keep it while you use it.
        """
        return list(provinces_of(self.state))

    @property
    def villages(self) -> list[Village]:
        """All villages, in the reading order of their first squares. Each call makes a new list, so
        keep it while you use it.
        """
        return list(villages_of(self.state))

    # what the seats hold

    @property
    def players(self) -> int:
        """How many seats there are."""
        return self.state.players

    @property
    def mover(self) -> int:
        """The seat to move: yours when you are asked, another in a position after `play`."""
        return self.state.mover

    @property
    def hand(self) -> list[str]:
        """The tiles in your hand, such as ``["RR", "RY", "YB"]``."""
        return [TILES[tile] for tile in self.state.hands[self.seat] if tile != UNKNOWN]

    @property
    def left(self) -> list[int]:
        """Pagodas that each seat still has to place, by seat. Whoever has none left wins."""
        return self.state.left

    @property
    def pile(self) -> int:
        """How many tiles are left in the draw pile."""
        return self.state.pile

    @property
    def turns(self) -> int:
        """How many tiles have been placed in this game."""
        return self.state.turns

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, as far as you can tell from what you see."""
        return self.state.end is not None

    def unseen(self) -> dict[str, int]:
        """How many of each tile you have not seen, such as ``{"RR": 9, ...}``: they are in the
        other hands or in the pile.
        """
        return dict(zip(TILES, unseen(self.state, self.seat), strict=True))

    @property
    def line(self) -> str:
        """The position in one line of text, as your seat sees it. `position_of` reads it, so print
        it where your bot did something odd, and make a test of it.
        """
        return position_text(self.state, self.seat)

    # moves

    def legal_moves(self) -> list[int]:
        """Every legal move of the seat to move, in ascending order. There is at least one when you
        are asked.

        In a position after `play`, the next seat's hand is unknown and its list is empty: use
        `moves_of` or `sample`.
        """
        return self.state.legal_moves()

    def moves_of(self, tiles: Iterable[str]) -> list[int]:
        """Every legal way to place one of these tiles here, whoever may hold them.

        Args:
            tiles: Names of tiles, such as ``["RR", "YB"]``.

        Raises:
            NotationError: There is no such tile.
        """
        return self.state.placements([parse_tile(tile) for tile in tiles])

    def text(self, move: int) -> str:
        """A move as text, such as ``Rc4Yd4``: which colour lies on which square."""
        return move_text(self.board, move)

    def move(self, text: str) -> int:
        """The move that a text names, legal or not; the opposite of `text`.

        Args:
            text: Such as ``Rc4Yd4``, its halves in either order, or ``pass``.

        Raises:
            InvalidMoveError: The text is not a move on this board.
        """
        return parse_move(self.board, text)

    def halves(self, move: int) -> tuple[tuple[str, str], ...]:
        """The two spaces that a move lays, as (colour, square): ``(("R", "c4"), ("Y", "d4"))``.
        Empty for `PASS`.
        """
        return halves_of(self.board, move)

    def why_illegal(self, move: int | str) -> str:
        """Why the seat to move may not play a move, with the rule's number and how to read it;
        empty when it may.

        Raises:
            InvalidMoveError: The text is not a move on this board.
        """
        # Bots start quickly: only one that asks why reads the rulebook.
        from arena.rules.rulebook import explained  # noqa: PLC0415

        return explained(self.state.why_illegal(self._number(move)))

    # looking ahead

    def play(self, move: int | str) -> "Position":
        """The position after a move of the seat to move. This one stays as it is.

        Args:
            move: A legal move as an int or as text. `PASS` where the seat can place no tile.

        Raises:
            IllegalMoveError: The move is not legal here; the message says why.
            InvalidMoveError: The text is not a move on this board.

        Examples:
            >>> position.play("Rc4Rd4").left
            [23, 24]
        """
        state = self.state.copy()
        state.play(self._number(move))
        self._watch.nodes += 1
        return self._at(state)

    def outlook(self, seat: int | None = None) -> float:
        """How well a seat stands, as a number of pagodas: its own prospects less the mean of the
        others'.

        It counts pagodas placed, provinces by how soon they may become major, villages by how
        safely they are held, and a win when the game is over. More is better, and 0 is level.

        Args:
            seat: Whose outlook; yours by default.

        Raises:
            IndexError: There is no such seat.
        """
        return self.state.outlook(self.seat if seat is None else seat) / outlook_unit(self.state)

    def outlooks(self) -> list[float]:
        """The mover's `outlook` after each of its `legal_moves`, in the same order. Much faster
        than playing each move.

        Example:
            Play the move after which you stand best:

                outlooks = position.outlooks()
                return position.legal_moves()[outlooks.index(max(outlooks))]
        """
        unit = outlook_unit(self.state)
        return [outlook / unit for outlook in self.state.outlooks()]

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
        """Play each move, then play the game on from there, and say what came of it.

        Each time, the tiles you cannot see are dealt again, and all moves meet the same deal and
        the same luck. So compare moves of one call, or of calls with the same seed. A call runs to
        its end whatever the time: ask for few games, often, while `has_time`. A game of two players
        from the opening takes about 0.03 ms with the native core and 1 ms with the pure one; later
        ones take less.

        Args:
            times: How many games to play for each move.
            moves: The moves to try; all your legal moves by default.
            policy: How every seat plays on. ``uniform``: any legal move. ``greedy``: the move that
                places most pagodas at once, less
                those of the others. ``careful``: the move with the best outlook.
            among: How many moves, drawn at random, greedy and careful look at in each turn. 0 looks
                at all of them, which takes about ten
                times as long as 8.
            turns: Stop each game after this many placements; 0 plays to the end. A game that has
                not ended is not a win: look at the
                `outlook` of the rollout then.
            seed: Decides deals and luck. By default it is drawn from `rng`.

        Returns:
            One `Rollout` for each move, in the order of ``moves``.

        Raises:
            ValueError: It is not your turn, the game is over, ``times`` is below 1, or there is no
                such policy.
            IllegalMoveError: One of the moves is not legal.
        """
        manner = Manner(policy, among, turns)
        found = tried(self.state, self.seat, times, moves, manner, self._seed(seed))
        self._watch.nodes += times * len(found)
        return found

    def playout(
        self, *, policy: str = "uniform", among: int = 0, seed: int | None = None
    ) -> list[int]:
        """Play one game to the end from here, whoever is to move, on tiles dealt as in `sample`.

        Args:
            policy: As in `rollouts`.
            among: As in `rollouts`.
            seed: As in `rollouts`.

        Returns:
            The pagodas left at the end, by seat.

        Raises:
            ValueError: There is no such policy.
        """
        return self.play_on(policy=policy, among=among, seed=seed).left

    def play_on(
        self, *, policy: str = "uniform", among: int = 0, turns: int = 0, seed: int | None = None
    ) -> "Position":
        """Play one game on from here, on tiles dealt as in `sample`, and return the position it
        reaches.

        Args:
            policy: As in `rollouts`.
            among: As in `rollouts`.
            turns: As in `rollouts`.
            seed: As in `rollouts`.

        Raises:
            ValueError: There is no such policy.
        """
        self._watch.nodes += 1
        manner = Manner(policy, among, turns)
        return self._at(played_on(self.state, self.seat, manner, self._seed(seed)))

    def sample(self, seed: int | None = None) -> "Position":
        """This position with the tiles you cannot see dealt at random: a game that may be the one
        you are in.

        In it `play` draws real tiles, and `legal_moves` lists the moves of whoever is to move. A
        seat that has none plays `PASS`.

        Args:
            seed: Decides the deal. By default it is drawn from `rng`.
        """
        # For play, not for secrets.
        return self._at(dealt(self.state, self.seat, random.Random(self._seed(seed))))  # noqa: S311

    def __str__(self) -> str:
        held = ", ".join(f"seat {seat}: {left} left" for seat, left in enumerate(self.left))
        return f"{drawn(self.state)}\n{held}; {self.pile} tiles in the pile\n{self._summary()}"

    def __repr__(self) -> str:
        return f"<Position: {self._summary()}>"

    def _summary(self) -> str:
        whose = "the game is over" if self.is_over else f"seat {self.mover} to move"
        return (
            f"turn {self.turns}, {whose}, you are seat {self.seat} and hold"
            f" {' '.join(self.hand) or 'no tiles'}"
        )

    def _number(self, move: int | str) -> int:
        return self.move(move) if isinstance(move, str) else move

    def _at(self, state: State) -> "Position":
        """The same eyes on another state."""
        return Position(
            state,
            self.seat,
            self.rng,
            self.time_ms,
            has_bank=self.has_bank,
            watch=self._watch,
            said=self._said,
            options=self.options,
        )

    def _seed(self, seed: int | None) -> int:
        """The seed given, or one of the game's own."""
        return self.rng.getrandbits(64) if seed is None else seed
