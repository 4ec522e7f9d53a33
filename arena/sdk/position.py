"""The position that a bot sees when it has to move, and the moves it can try in it."""

import random
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from arena.rules import State
from arena.sdk.areas import Rollout, as_seen, dealt
from arena.sdk.seen import SeenPosition
from arena.sdk.timemanager import Stopwatch, TimeManager

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
"""The options of a bot that has none."""


class Position(SeenPosition):
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
        super().__init__(as_seen(state, seat), seat)
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
        """The time in milliseconds that you should think about this answer: most of `time_ms` or,
        with a time bank, this move's share of the bank if that is less.
        """
        return self._watch.think_ms

    @property
    def elapsed_ms(self) -> float:
        """What this answer has cost so far, in milliseconds: your CPU time since your last answer
        or, with ``--clock wall``, the time since the arena asked for this move.
        """
        return self._watch.elapsed_ms

    @property
    def nodes(self) -> int:
        """The number of positions that you have made for this answer: one for each `play` and for
        each game of a rollout.
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

    # Looking ahead.

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
            ValueError: There is no such policy, or a number is not from 0 to 1,000,000.
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
            ValueError: There is no such policy, or a number is not from 0 to 1,000,000.
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

    @property
    def _unit(self) -> int:
        """How many units of the outlooks in `state` are one pagoda."""
        return 100 * (self.players - 1)

    def _at(self, state: State) -> "Position":
        """This seat's view of another state of the rules, as a position that belongs to the same
        answer: it shares its time, its nodes and its notes with this one.
        """
        twin = object.__new__(Position)
        twin.__dict__.update(self.__dict__, state=state)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> "Position":
        """A copy with its own state and `rng`. It belongs to the same answer: it shares its time,
        its nodes and its notes with this position.
        """
        from copy import deepcopy  # noqa: PLC0415 - whoever calls this has loaded it

        twin = object.__new__(Position)
        own = {"state": self.state.copy(), "rng": deepcopy(self.rng, memo)}
        twin.__dict__.update(self.__dict__, **own)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """What pickle keeps of this position. Pickle cannot keep `options` as a read-only mapping,
        so the options become a dict.
        """
        return {**self.__dict__, "options": dict(self.options)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept, options=MappingProxyType(kept["options"]))

    def _seed(self, seed: int | None) -> int:
        """The seed ``seed``; or, if it is None, one drawn from `rng`."""
        return self.rng.getrandbits(64) if seed is None else seed
