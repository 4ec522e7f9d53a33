"""Qin as a PettingZoo environment (AEC: the seats act one after another); ``pip install
qin-arena[pettingzoo]``.

    from arena.training import qin_v0

    env = qin_v0.env(players=2, board="bird")
    env.reset(seed=1)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        over = terminated or truncated
        env.step(None if over else env.action_space(agent).sample(seen["action_mask"]))

*Agents* are ``seat_0`` to ``seat_3``. Seats that cannot place a tile are skipped (R3.2), so a seat
may act twice in a row. *Observations* are dicts of ``observation`` and ``action_mask``, and
*actions* are ints, as described in `arena.training`. If it is not a seat's turn, its mask
is all zeros. *Rewards* come at the end: 1 for a win, 1/k for each of k seats that share it, 0 for
the others. An action whose mask is 0 ends the game with -1 for the seat that took it and 0 for the
others, as in PettingZoo's own games; `raw_env` raises IllegalMoveError.

To look ahead, a policy asks ``env.position(agent)``: the `arena.sdk.Position` that a bot in the
arena would get on that seat. `Position.play` and `Position.sample` return the positions after a
move, and `arena.training.encode` their observations. None of them shows a tile that the agent
cannot know.

``reset(seed)`` determines all decks from then on, including those of later games after ``reset()``
without a seed. ``options={"deck": "RRYB..."}`` plays that deck instead: 72 tiles in draw order, as
in a record. *Rendering*: ``ansi`` and ``human`` (which prints) draw the board and all hands.
"""

import random
from operator import index
from typing import Any, ClassVar, SupportsIndex

try:
    from gymnasium import logger
    from gymnasium.spaces import Box, Dict, Discrete
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import (
        AssertOutOfBoundsWrapper,
        OrderEnforcingWrapper,
        TerminateIllegalWrapper,
    )
except ImportError as error:
    raise ImportError(
        f"cannot import PettingZoo and Gymnasium ({error}): pip install 'qin-arena[pettingzoo]'"
    ) from error

import numpy as np

from arena.exports.text import board_text, hands_text
from arena.records.record import shares
from arena.rules import State
from arena.rules.boards import Board, find_board
from arena.rules.notation import COPIES, DECK_SIZE, PASS, parse_deck
from arena.rules.terms import PAGODAS
from arena.sdk import Position
from arena.training import PLANES, Encoded, actions, encode, move_of


def env(
    players: int = 2, board: str | Board = "bird", render_mode: str | None = None
) -> AECEnv[str, Encoded, int]:
    """Make the environment, with PettingZoo's usual wrappers around `raw_env`: actions out of range
    or out of turn are refused, and an illegal action ends the game with -1 for its seat.

    Args:
        players: The number of seats, 2 to 4.
        board: The name of a built-in board, the path of a board file, or a `Board`.
        render_mode: None, ``ansi`` (`render` returns text) or ``human`` (the board is printed).

    Returns:
        The environment; call ``reset`` before anything else.

    Raises:
        ValueError: There is no such number of players or render mode.
        BoardError: The board breaks the rules for boards, or there is no such board.

    Example:
        Play a game at random:

            env = qin_v0.env(players=2, board="bird")
            env.reset(seed=1)
            for agent in env.agent_iter():
                seen, reward, terminated, truncated, info = env.last()
                over = terminated or truncated
                env.step(None if over else env.action_space(agent).sample(seen["action_mask"]))
    """
    made = TerminateIllegalWrapper(raw_env(players, board, render_mode), illegal_reward=-1.0)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(made))


# The name that PettingZoo gives it everywhere.
class raw_env(AECEnv[str, Encoded, int]):  # noqa: N801
    """The environment without wrappers; the arguments are those of `env`.

    `copy.deepcopy` and `pickle` keep a running game: the copy plays on from the same position, with
    the same tiles to come, and neither environment changes the other.

    Attributes:
        game: The rules' state from `reset` on, including hidden tiles. It is for your own teachers
            and opponents; a policy uses `position`, which hides what its seat may not know.
        board: The board of all games.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "qin_v0",
        "render_modes": ["human", "ansi"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self, players: int = 2, board: str | Board = "bird", render_mode: str | None = None
    ) -> None:
        if players not in PAGODAS:
            raise ValueError(f"expected 2 to 4 players, got {players!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            modes = ", ".join(self.metadata["render_modes"])
            raise ValueError(f"expected render_mode to be None, {modes}, got {render_mode!r}")
        self.board = board if isinstance(board, Board) else find_board(str(board))
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(players)]
        shape = (self.board.height, self.board.width, len(PLANES))
        size = actions(self.board)
        self.observation_spaces = {}
        for agent in self.possible_agents:
            self.observation_spaces[agent] = Dict(
                {
                    "observation": Box(0, 1, shape, np.float32),
                    "action_mask": Box(0, 1, (size,), np.int8),
                }
            )
        self.action_spaces = {agent: Discrete(size) for agent in self.possible_agents}
        # For play, not for secrets. Positions get a generator of their own, because the one that
        # shuffles the decks would tell a policy the decks to come.
        self._luck = random.Random()  # noqa: S311
        self._rng = random.Random()  # noqa: S311

    def observation_space(self, agent: str) -> Dict:
        """The space of an agent's observations.

        Args:
            agent: The agent, such as ``seat_0``.

        Returns:
            A ``gymnasium.spaces.Dict`` with ``observation`` and ``action_mask``.
        """
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The space of an agent's actions.

        Args:
            agent: The agent, such as ``seat_0``.

        Returns:
            A ``gymnasium.spaces.Discrete`` with ``actions(board)`` actions.
        """
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: The seed of all decks from now on, including those of later games, and of the
                random numbers of positions. With None, both continue to come from the present
                generator.
            options: ``{"deck": "RRYB..."}`` plays this deck, 72 tiles in draw order, instead of a
                random one.

        Raises:
            NotationError: The deck does not consist of the 72 tiles of the game.
        """
        if seed is not None:
            # For play, not for secrets.
            self._luck = random.Random(index(seed))  # noqa: S311
            self._rng = random.Random(f"positions/{index(seed)}")  # noqa: S311
        self.game = State(self.board, len(self.possible_agents), self._deck(options or {}))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._hand_on()

    def step(self, action: SupportsIndex | None) -> None:
        """Play an action for the agent whose turn it is, then pass for seats that cannot move.

        Args:
            action: The action; None for an agent whose game has ended.

        Raises:
            TypeError: The action is not a whole number.
            ValueError: The board has no such action.
            IllegalMoveError: The action's mask is 0.
        """
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        # None is refused there.
        self.game.play(move_of(self.board, action))  # type: ignore[arg-type]
        self._hand_on()

    def observe(self, agent: str) -> Encoded:
        """The observation and the action mask of an agent now.

        Args:
            agent: The agent, such as ``seat_0``; it need not be its turn.

        Returns:
            A dict with ``observation`` and ``action_mask``, see `arena.training.encode`.
        """
        return encode(self.position(agent, 0))

    def position(self, agent: str, time_ms: int = 1000) -> Position:
        """The position as an agent sees it now, to look at and to try moves in. The returned
        position stays as it is while the game continues.

        Args:
            agent: The agent, such as ``seat_0``; it need not be its turn.
            time_ms: The time limit, in ms, that `Position.has_time` of the position uses.

        Returns:
            The position, as a bot in the arena would get it on that seat.

        Raises:
            ValueError: There is no such agent, or no game yet.
        """
        if agent not in self.possible_agents:
            agents = ", ".join(self.possible_agents)
            raise ValueError(f"expected an agent out of {agents}, got {agent!r}")
        if not hasattr(self, "game"):
            raise ValueError("there is no game yet: call reset() first")
        seat = self.possible_agents.index(agent)
        return Position(self.game.copy(), seat, self._rng, time_ms)

    def render(self) -> str | None:
        """Draw the board and all hands, in the form that ``render_mode`` asks for.

        Returns:
            The text with ``ansi``; None with ``human``, which prints it, and without a render mode.
        """
        if self.render_mode is None:
            logger.warn(
                "render() draws nothing, because the environment was made without render_mode"
            )
            return None
        text = f"{board_text(self.game)}\n{hands_text(self.game, self.possible_agents)}"
        if self.render_mode == "ansi":
            return text
        # For this mode that is the task.
        print(text, flush=True)  # noqa: T201
        return None

    def close(self) -> None:
        """Does nothing: the environment has no resources to free."""

    def _deck(self, options: dict[str, Any]) -> tuple[int, ...]:
        """The deck given in ``options``, in draw order, or a new random one."""
        if "deck" in options:
            return parse_deck(str(options["deck"]))
        deck = [number // COPIES for number in range(DECK_SIZE)]
        self._luck.shuffle(deck)
        return tuple(deck)

    def _hand_on(self) -> None:
        """Passes for seats that cannot move, then selects the next agent. If the game has ended,
        also ends it for all agents and sets their rewards.
        """
        while self.game.end is None and self.game.must_pass():
            self.game.play(PASS)
        self.agent_selection = self.possible_agents[self.game.mover]
        if self.game.end is not None:
            self.terminations = dict.fromkeys(self.agents, True)
            self.rewards = dict(zip(self.agents, shares(self.game.ranks()), strict=True))
            self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()
