"""The position that a bot sees when it has to move, and the moves it can try in it."""

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
    move_text,
    parse_move,
    parse_square,
    parse_tile,
    split_move,
)
from arena.rules.positions import draw, position_text
from arena.rules.terms import NOBODY
from arena.sdk.areas import Province, Rollout, Square, Village, as_seen, dealt, names_of, unseen
from arena.sdk.timemanager import Stopwatch, TimeManager

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Position:
    """What your bot sees when it has to move. Your function gets a position as its argument.
    Outside the arena, `position_of` makes one from a line of text, and ``env.position(agent)``
    makes one in the environment for training.

    A position hides what its seat may not know. If you make one from a state that shows the tiles
    of other hands or of the draw pile, these tiles are unknown in the position, and in every
    position that `play` returns. None of your calls changes the position or the game: `play` and
    `sample` return new positions.

    Attributes:
        seat: Your seat, from 0 in turn order.
        time_ms: The time limit for this answer in milliseconds. See `has_time`.
        has_bank: Whether ``time_ms`` may be the time left for several moves together.
        rng: A ``random.Random`` of your own, seeded by the arena. If you use no other source of
            random numbers, the same game can be played again move by move.
        options: The options that your ``bot.toml`` declares, by name, with the values the user
            chose: an int, a float, a bool or a text each.
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
        note: dict[str, object] | None = None,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> None:
        self.state = as_seen(state, seat)
        self.seat = seat
        self.rng = rng
        self.time_ms = time_ms
        self.has_bank = has_bank
        self.options = options
        self._watch = watch or TimeManager().watch(time_ms, state.left)
        self._note = {} if note is None else note

    def note(self, value: float | None = None, text: str | None = None, **numbers: float) -> None:
        """Attach a note to your move; `arena replay` shows it. No other bot sees it, and a bad note
        never costs you the move. If you note the same name twice in one turn, the last value
        counts.

        Args:
            value: The share of the win that you expect, from 0 to 1.
            text: A few words, up to 160 characters.
            numbers: Up to eight numbers under names of your own, such as ``depth=7``.

        Example:
            Say what you expect and how far you looked:

                position.note(0.62, "attack", depth=7)
        """
        given = {"value": value, "text": text, **numbers}
        self._note.update({name: part for name, part in given.items() if part is not None})

    @property
    def think_ms(self) -> float:
        """The time in milliseconds that you should think about this answer: most of `time_ms`, or
        your share of the bank if that is less.
        """
        return self._watch.think_ms

    @property
    def elapsed_ms(self) -> float:
        """What this answer has cost so far, in milliseconds: your CPU time since your last answer;
        with ``--clock wall``, the time since this move was asked for.
        """
        return self._watch.elapsed_ms

    @property
    def nodes(self) -> int:
        """The number of positions you have made for this answer: one for each `play` and for each
        game of a rollout.
        """
        return self._watch.nodes

    def has_time(self, share: float = 1.0) -> bool:
        """Whether to go on thinking. Ask before each small piece of work, and answer as soon as it
        returns False.

        It returns False if the next piece of work would go beyond `think_ms`, assuming that it
        takes as long as the longest piece so far. Time in which other programs hold the CPU costs
        you nothing, unless the arena runs with ``--clock wall``. If your bot has an option
        ``nodes`` with a value above 0, only `nodes` counts: it returns False once `nodes` has
        reached that value.

        Args:
            share: The part of `think_ms`, or of the nodes, that you want to use, from 0 to 1. With
                0.5 it returns False halfway, for a search in stages.

        Returns:
            True if there is time for another piece of work.

        Example:
            Count wins until the time is up:

                while position.has_time():
                    for tried in position.rollouts(1, moves):
                        total[tried.move] += tried.wins
        """
        return self._watch.allows(share)

    @property
    def board(self) -> Board:
        """The board without tiles: its ``rows`` as text, its ``width`` and ``height``, and bit
        masks for fast bots.
        """
        return self.state.board

    def at(self, square: str) -> Square:
        """What lies on a square.

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
        taken = [
            sign for colour, sign in enumerate(COLOURS) if self.state.spaces(colour) >> number & 1
        ]
        sign = taken[0] if taken else here if here in (VILLAGE, LAKE) else GRASS
        province = next((area for area in self.provinces if square in area.squares), None)
        village = next((area for area in self.villages if square in area.squares), None)
        return Square(square, sign, province, village)

    def neighbours(self, square: str) -> tuple[str, ...]:
        """The two to four squares that share an edge with a square.

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
        """The names of all squares of free grassland, on which tiles may lie, in reading order."""
        return names_of(self.board, self.state.free)

    @property
    def provinces(self) -> list[Province]:
        """All provinces, in the reading order of their first squares. Each access makes a
        new list.
        """
        board = self.board
        return [
            Province(
                COLOURS[colour],
                owner,
                pagodas,
                names_of(board, mask),
                names_of(board, halo & ~mask),
            )
            for colour, (mask, halo, owner, _, pagodas) in self.state.provinces()
        ]

    @property
    def villages(self) -> list[Village]:
        """All villages, in the reading order of their first squares. Each access makes a
        new list.
        """
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
        """The number of seats in this game."""
        return self.state.players

    @property
    def mover(self) -> int:
        """The seat to move: yours when you are asked, another one in a position after `play`."""
        return self.state.mover

    @property
    def hand(self) -> list[str]:
        """The tiles in your hand, such as ``["RR", "RY", "YB"]``."""
        return [TILES[tile] for tile in self.state.hands[self.seat] if tile != UNKNOWN]

    @property
    def left(self) -> list[int]:
        """The number of pagodas that each seat still has to place, by seat. A seat with none left
        has won.
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
        """Whether the game has ended, as far as it can be told from what your seat sees."""
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
        """The position in one line of text, as your seat sees it. `position_of` reads it. Print it
        if your bot did something odd, and make a test of it.
        """
        return position_text(self.state, self.seat)

    # moves

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
        """Every legal placement of the given tiles in this position, whoever may hold them.

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

    # looking ahead

    def play(self, move: int | str) -> "Position":
        """The position after a move of the seat to move. This position stays unchanged.

        Args:
            move: A legal move, as an int or as text. `PASS` if the seat can place no tile.

        Returns:
            The new position, in which the next seat is to move.

        Raises:
            IllegalMoveError: The move is not legal; the message says why.
            InvalidMoveError: The text is no move on this board.

        Examples:
            >>> after = position.play("Ye2Yf2")
            >>> after.left, after.mover
            ([14, 18], 1)
        """
        state = self.state.copy()
        state.play(self.move(move))
        self._watch.nodes += 1
        return self._at(state)

    def outlook(self, seat: int | None = None) -> float:
        """An estimate of how well a seat stands, in pagodas: its own prospects minus the mean of
        the other seats' prospects.

        It counts pagodas placed, provinces by how soon they may become major, villages by how
        safely they are held, and a win if the game is over. More is better, and 0 is level.

        Args:
            seat: The seat to estimate; yours by default.

        Returns:
            The outlook, as a number of pagodas.

        Raises:
            IndexError: There is no such seat.
        """
        return self.state.outlook(self.seat if seat is None else seat) / self._unit

    def outlooks(self) -> list[float]:
        """The mover's `outlook` after each of its legal moves. This is much faster than playing
        each move.

        Returns:
            One number per move, in the order of `legal_moves`.

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
        """Play each move, then play the game on from there several times, and sum up the results.

        For each game, the tiles you cannot see are dealt at random. All moves are tried on the same
        deals with the same luck, so compare moves of one call, or of calls with the same seed. A
        call runs to its end even if your time runs out: ask for few games at a time, and again
        while `has_time`. A game of two players from the opening takes about 0.03 ms with the native
        core and 1 ms with the pure one; games from later positions take less.

        Args:
            times: The number of games for each move, up to 1,000,000.
            moves: The moves to try; all your legal moves by default.
            policy: How every seat plays on. ``uniform``: any legal move. ``greedy``: the move that
                places most pagodas at once, minus those of the others. ``careful``: the move with
                the best outlook.
            among: How many moves, drawn at random, greedy and careful look at in each turn. 0 looks
                at all of them, which takes about ten times as long as 8.
            turns: Stop each game after this many placements; 0 plays to the end. A game that has
                not ended is not a win: look at the `outlook` of the rollout then.
            seed: The seed of the deals and the luck. By default it is drawn from `rng`.

        Returns:
            One `Rollout` per move, in the order of ``moves``.

        Raises:
            ValueError: It is not your turn, the game is over, ``times`` is below 1 or above
                1,000,000, or there is no such policy.
            IllegalMoveError: One of the moves is not legal.

        Examples:
            >>> tried = position.rollouts(times=10, moves=[position.move("Ye2Yf2")], seed=1)
            >>> [rollout.games for rollout in tried]
            [10]
        """
        chosen = None if moves is None else list(moves)
        luck = self._seed(seed)
        results = self.state.rollouts(self.seat, times, luck, policy, chosen, among, turns)
        tried = [
            Rollout(move, times, won, left, outlook / self._unit)
            for move, won, left, outlook in zip(*results, strict=True)
        ]
        self._watch.nodes += times * len(tried)
        return tried

    def playout(
        self, *, policy: str = "uniform", among: int = 0, seed: int | None = None
    ) -> list[int]:
        """Play one game from here to its end, on tiles dealt at random as in `sample`.

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
        """Play one game on from here, whoever is to move, on tiles dealt at random as in `sample`.

        Args:
            policy: As in `rollouts`.
            among: As in `rollouts`.
            turns: As in `rollouts`.
            seed: As in `rollouts`.

        Returns:
            The position that the game reaches.

        Raises:
            ValueError: There is no such policy.
        """
        self._watch.nodes += 1
        luck = random.Random(self._seed(seed))  # noqa: S311 - for play, not for secrets
        twin = dealt(self.state, self.seat, luck)
        twin.playout(luck.getrandbits(64), policy, among, turns)
        return self._at(twin)

    def sample(self, seed: int | None = None) -> "Position":
        """This position with the tiles you cannot see dealt at random: one of the games that you
        may be in.

        In the sample, `play` draws real tiles, and `legal_moves` lists the moves of whichever seat
        is to move. A seat without a legal move plays `PASS`.

        Args:
            seed: The seed of the deal. By default it is drawn from `rng`.

        Returns:
            The new position.

        Examples:
            >>> after = position.sample(seed=1).play("Ye2Yf2")
            >>> len(after.legal_moves()) > 0
            True
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
        """One line about the turn, the seat to move, and this seat's hand."""
        whose = "the game is over" if self.is_over else f"seat {self.mover} to move"
        hand = " ".join(self.hand) or "no tiles"
        return f"turn {self.turns}, {whose}, you are seat {self.seat} and hold {hand}"

    @property
    def _unit(self) -> int:
        """How many units of the rules' outlooks are one pagoda."""
        return 100 * (self.players - 1)

    def _at(self, state: State) -> "Position":
        """This seat's view of another state."""
        twin = object.__new__(Position)
        twin.__dict__.update(self.__dict__, state=state)
        return twin

    def _seed(self, seed: int | None) -> int:
        """The given seed, or one drawn from the bot's generator if it is None."""
        return self.rng.getrandbits(64) if seed is None else seed
