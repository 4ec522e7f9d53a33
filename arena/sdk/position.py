"""What a seat sees when it has to move, and what it can try."""

import copy
import random
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from arena.rules import State
from arena.rules.boards import COLOURS, GRASS, LAKE, VILLAGE, Board
from arena.rules.notation import (
    PASS,
    TILES,
    UNKNOWN,
    draw,
    move_text,
    parse_move,
    parse_square,
    parse_tile,
    position_text,
    split_move,
)
from arena.rules.terms import NOBODY
from arena.sdk.areas import Province, Rollout, Square, Village, as_seen, dealt, names_of, unseen
from arena.sdk.timemanager import Stopwatch, TimeManager

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Position:
    """What your bot sees when it has to move. Your function gets one. Outside the arena,
    `position_of` makes one of a line of text, and the environment for training has
    ``env.position(agent)``.

    A position hides what its seat may not know. If you make one of a state that has the tiles of
    other hands or of the draw pile, they are unknown in the position, and in every position that
    `play` returns. Nothing you do with a position changes it or the game: `play` and `sample`
    return new ones.

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
        self.state = as_seen(state, seat)
        self.seat = seat
        self.rng = rng
        self.time_ms = time_ms
        self.has_bank = has_bank
        self.options = options
        self._watch = watch or TimeManager().watch(time_ms, state.left)
        self._said = {} if said is None else said

    def note(self, value: float | None = None, text: str | None = None, **numbers: float) -> None:
        """Say something about your move: `arena replay` shows it. No other bot sees it, and it
        never costs you the move. What you say last about a name, on any position of this turn,
        counts.

        Args:
            value: The share of the win that you expect, from 0 to 1.
            text: A few words, up to 160 characters.
            numbers: Up to eight numbers under names of your own, such as ``depth=7``.
        """
        told = {"value": value, "text": text, **numbers}
        self._said.update({name: said for name, said in told.items() if said is not None})

    @property
    def think_ms(self) -> float:
        """How many milliseconds to think: most of `time_ms`, or a share of the bank if less."""
        return self._watch.think_ms

    @property
    def elapsed_ms(self) -> float:
        """What this answer has cost so far, in milliseconds: processor time since your last answer;
        with ``--clock wall``, the time since this move was asked for.
        """
        return self._watch.elapsed_ms

    @property
    def nodes(self) -> int:
        """How many positions you have made for this answer: each `play`, and each game played."""
        return self._watch.nodes

    def has_time(self, share: float = 1.0) -> bool:
        """Whether to go on thinking. Ask before each small piece of work, and answer as soon as it
        says False: when the next piece, if it takes as long as the longest so far, would go beyond
        `think_ms`. Time in which other programs hold the processor costs you nothing, unless the
        arena runs with ``--clock wall``. Of a bot with the option ``nodes`` above 0, it says False
        once `nodes` has reached that, whatever the time.

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

    @property
    def board(self) -> Board:
        """The empty board: its ``rows`` as text, ``width``, ``height``, and masks for fast bots."""
        return self.state.board

    def at(self, square: str) -> Square:
        """What lies on a square. Raises NotationError if the board has no such one.

        Args:
            square: Its name, such as ``c4``: ``position.at("c4").seat`` is a seat or None.
        """
        number = parse_square(self.board, square)
        row, column = divmod(number, self.board.stride)
        here = self.board.rows[row][column]
        taken = [sign for at, sign in enumerate(COLOURS) if self.state.spaces(at) >> number & 1]
        sign = taken[0] if taken else here if here in (VILLAGE, LAKE) else GRASS
        province = next((area for area in self.provinces if square in area.squares), None)
        village = next((area for area in self.villages if square in area.squares), None)
        return Square(square, sign, province, village)

    def neighbours(self, square: str) -> tuple[str, ...]:
        """The two to four squares that share an edge with this one. Raises NotationError if the
        board has no such one.

        Args:
            square: Its name, such as ``c4``.
        """
        return names_of(self.board, self.board.around(1 << parse_square(self.board, square)))

    @property
    def free(self) -> tuple[str, ...]:
        """The squares of free grassland, in reading order: where tiles may lie."""
        return names_of(self.board, self.state.free)

    @property
    def provinces(self) -> list[Province]:
        """All provinces, in the reading order of their first squares: each time a new list."""
        board = self.board
        return [
            Province(
                COLOURS[at], owner, pagodas, names_of(board, mask), names_of(board, halo & ~mask)
            )
            for at, (mask, halo, owner, _, pagodas) in self.state.provinces()
        ]

    @property
    def villages(self) -> list[Village]:
        """All villages, in the reading order of their first squares: each time a new list."""
        board = self.board
        owners = [None if owner == NOBODY else owner for owner in self.state.villages]
        areas = zip(owners, board.villages, board.beside, strict=True)
        return [
            Village(owner, names_of(board, mask), names_of(board, beside))
            for owner, mask, beside in areas
        ]

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
        """How many of each tile are in other hands or in the pile, such as ``{"RR": 9, ...}``."""
        return dict(zip(TILES, unseen(self.state, self.seat), strict=True))

    @property
    def line(self) -> str:
        """The position in one line of text, as your seat sees it. `position_of` reads it, so print
        it where your bot did something odd, and make a test of it.
        """
        return position_text(self.state, self.seat)

    # moves

    def legal_moves(self) -> list[int]:
        """Every legal move of the seat to move, in ascending order; at least one when you are
        asked. After `play`, the next seat's hand is unknown and its list is empty: use `moves_of`
        or `sample`.
        """
        return self.state.legal_moves()

    def moves_of(self, tiles: Iterable[str]) -> list[int]:
        """Every legal way to place one of these tiles here, whoever may hold them. Raises
        NotationError for a name that is no tile.

        Args:
            tiles: Names of tiles, such as ``["RR", "YB"]``.
        """
        return self.state.placements([parse_tile(tile) for tile in tiles])

    def text(self, move: int) -> str:
        """A move as text, such as ``Rc4Yd4``: which colour lies on which square."""
        return move_text(self.board, move)

    def move(self, text: int | str) -> int:
        """The move that a text names, legal or not; the opposite of `text`. Raises InvalidMoveError
        if it is no move on this board.

        Args:
            text: Such as ``Rc4Yd4``, its halves in either order, or ``pass``.
        """
        return parse_move(self.board, text) if isinstance(text, str) else text

    def halves(self, move: int) -> tuple[tuple[str, str], ...]:
        """The two spaces that a move lays: ``(("R", "c4"), ("Y", "d4"))``; none for `PASS`."""
        if move == PASS:
            return ()
        first, one, second, other = split_move(self.board, move)
        name_of = self.board.name_of
        return (COLOURS[first], name_of(one)), (COLOURS[second], name_of(other))

    def why_illegal(self, move: int | str) -> str:
        """Why the seat to move may not play a move, with the rule's number and how to read it;
        empty when it may. Raises InvalidMoveError for a text that is no move on this board.
        """
        # Bots start quickly: only one that asks why reads the rulebook.
        from arena.rules.explain import explained  # noqa: PLC0415

        return explained(self.state.why_illegal(self.move(move)))

    # looking ahead

    def play(self, move: int | str) -> "Position":
        """The position after a move of the seat to move. This one stays as it is. Raises
        IllegalMoveError, which says why, or InvalidMoveError for a text that is no move.

        Args:
            move: A legal move as an int or as text. `PASS` where the seat can place no tile.
        """
        state = self.state.copy()
        state.play(self.move(move))
        self._watch.nodes += 1
        return self._at(state)

    def outlook(self, seat: int | None = None) -> float:
        """How well a seat stands, as a number of pagodas: its own prospects less the mean of the
        others'. Raises IndexError if there is no such seat.

        It counts pagodas placed, provinces by how soon they may become major, villages by how
        safely they are held, and a win when the game is over. More is better, and 0 is level.

        Args:
            seat: Whose outlook; yours by default.
        """
        return self.state.outlook(self.seat if seat is None else seat) / self._unit

    def outlooks(self) -> list[float]:
        """The mover's `outlook` after each of its `legal_moves`, in the same order. Much faster
        than playing each move.

        Example:
            Play the move after which you stand best:

                outlooks = position.outlooks()
                return position.legal_moves()[outlooks.index(max(outlooks))]
        """
        return [outlook / self._unit for outlook in self.state.outlooks()]

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
        """Play each move, then play the game on from there, and say what came of it: one `Rollout`
        for each move, in the order of ``moves``.

        Each time, the tiles you cannot see are dealt again, and all moves meet the same deal and
        the same luck. So compare moves of one call, or of calls with the same seed. A call runs to
        its end whatever the time: ask for few games, often, while `has_time`. A game of two players
        from the opening takes about 0.03 ms with the native core and 1 ms with the pure one; later
        ones take less.

        Args:
            times: How many games to play for each move, up to 1,000,000.
            moves: The moves to try; all your legal moves by default.
            policy: How every seat plays on. ``uniform``: any legal move. ``greedy``: the move that
                places most pagodas at once, less those of the others. ``careful``: the move with
                the best outlook.
            among: How many moves, drawn at random, greedy and careful look at in each turn. 0 looks
                at all of them, which takes about ten times as long as 8.
            turns: Stop each game after this many placements; 0 plays to the end. A game that has
                not ended is not a win: look at the `outlook` of the rollout then.
            seed: Decides deals and luck. By default it is drawn from `rng`.

        Raises:
            ValueError: It is not your turn, the game is over, ``times`` is below 1 or above
                1,000,000, or there is no such policy.
            IllegalMoveError: One of the moves is not legal.
        """
        chosen = None if moves is None else list(moves)
        luck = self._seed(seed)
        found = self.state.rollouts(self.seat, times, luck, policy, chosen, among, turns)
        tried = [
            Rollout(move, times, won, left, outlook / self._unit)
            for move, won, left, outlook in zip(*found, strict=True)
        ]
        self._watch.nodes += times * len(tried)
        return tried

    def playout(
        self, *, policy: str = "uniform", among: int = 0, seed: int | None = None
    ) -> list[int]:
        """Play one game to the end from here, as `play_on` does, and return the pagodas left at the
        end, by seat.

        Args:
            policy: As in `rollouts`.
            among: As in `rollouts`.
            seed: As in `rollouts`.
        """
        return self.play_on(policy=policy, among=among, seed=seed).left

    def play_on(
        self, *, policy: str = "uniform", among: int = 0, turns: int = 0, seed: int | None = None
    ) -> "Position":
        """Play one game on from here, whoever is to move, on tiles dealt as in `sample`, and return
        the position it reaches. Raises ValueError if there is no such policy.

        Args:
            policy: As in `rollouts`.
            among: As in `rollouts`.
            turns: As in `rollouts`.
            seed: As in `rollouts`.
        """
        self._watch.nodes += 1
        luck = random.Random(self._seed(seed))  # noqa: S311 - for play, not for secrets
        twin = dealt(self.state, self.seat, luck)
        twin.playout(luck.getrandbits(64), policy, among, turns)
        return self._at(twin)

    def sample(self, seed: int | None = None) -> "Position":
        """This position with the tiles you cannot see dealt at random: a game that may be the one
        you are in. In it `play` draws real tiles, and `legal_moves` lists the moves of whoever is
        to move. A seat that has none plays `PASS`.

        Args:
            seed: Decides the deal. By default it is drawn from `rng`.
        """
        luck = random.Random(self._seed(seed))  # noqa: S311 - for play, not for secrets
        return self._at(dealt(self.state, self.seat, luck))

    def __str__(self) -> str:
        held = ", ".join(f"seat {seat}: {left} left" for seat, left in enumerate(self.left))
        letters = "".join(f"{chr(ord('a') + column):<3}" for column in range(self.board.width))
        rows = ["".join(f"{cell:<3}" for cell in row) for row in draw(self.state)]
        labels = enumerate([letters, *rows])
        drawn = "\n".join(f"{label or '':>2}  {row}".rstrip() for label, row in labels)
        return f"{drawn}\n{held}; {self.pile} tiles in the pile\n{self._summary()}"

    def __repr__(self) -> str:
        return f"<Position: {self._summary()}>"

    def _summary(self) -> str:
        whose = "the game is over" if self.is_over else f"seat {self.mover} to move"
        hand = " ".join(self.hand) or "no tiles"
        return f"turn {self.turns}, {whose}, you are seat {self.seat} and hold {hand}"

    @property
    def _unit(self) -> int:
        """What a pagoda is worth in the outlooks of the rules."""
        return 100 * (self.players - 1)

    def _at(self, state: State) -> "Position":
        """This seat's view of another state."""
        twin = object.__new__(Position)
        twin.__dict__.update(self.__dict__, state=state)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> "Position":
        """A copy with a state and an `rng` of its own. It belongs to the same answer: its time, its
        nodes and its notes are those of this position.
        """
        twin = object.__new__(Position)
        own = {"state": self.state.copy(), "rng": copy.deepcopy(self.rng, memo)}
        twin.__dict__.update(self.__dict__, **own)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """What pickle keeps; it cannot keep a read-only mapping such as `options`."""
        return {**self.__dict__, "options": dict(self.options)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept, options=MappingProxyType(kept["options"]))

    def _seed(self, seed: int | None) -> int:
        """The seed given, or one of the game's own."""
        return self.rng.getrandbits(64) if seed is None else seed
