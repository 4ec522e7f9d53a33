"""Built-in bots: the policies of the rules core as named bots, with no folder, process or clock.

They play by themselves, function against function, or in a seat beside bots that are processes.
"""

import re
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.errors import ConfigError
from arena.players.folder import Bot
from arena.players.inprocess import InProcessPlayer
from arena.players.manifest import Manifest
from arena.rules import State
from arena.rules.notation import UNKNOWN
from arena.rules.outlook import GROWTH, HELD, PLACED, WON
from arena.rules.terms import REVISION

COMMAND = ["arena", "in-process"]
"""What a built-in bot has before its name where other bots have their start command."""
NAMES = ("random", "greedy", "careful")
"""The built-in bots that play if none are named."""
PLAYS = 1
"""The version of all built-in bots: raised whenever one of them would choose differently in the
same position with the same seed.
"""

NAME = re.compile(r"(random)|(greedy|careful)(?:-([1-9][0-9]{0,2}|1000))?", re.ASCII)
DESCRIPTIONS = {
    "random": "any legal move",
    "greedy": "most pagodas at once, net of what the others gain",
    "careful": "the best outlook",
}
TURN_BITS = 7
"""A game has at most 72 turns."""


class BuiltIn(NamedTuple):
    """A policy as a bot; ``among`` is the number of legal moves, drawn at random, that it looks at,
    or 0 for all.
    """

    policy: str
    among: int = 0

    def choose(self, state: State, seed: int) -> int:
        """The mover's move; the same seed and turn give the same move. PASS if it has none."""
        return state.choice(seed << TURN_BITS | state.turns, self.policy, self.among)

    @property
    def sha256(self) -> str:
        """A hash of everything its choices depend on."""
        weights = [PLACED, GROWTH, HELD, WON] if self.policy == "careful" else []
        return sha256(
            msgspec.json.encode([self.policy, self.among, PLAYS, REVISION, weights])
        ).hexdigest()


def built_in(name: str) -> BuiltIn:
    """The built-in bot of that name. Raises ConfigError."""
    match = NAME.fullmatch(name)
    if match is None:
        raise ConfigError(
            f"expected a built-in bot, got {name!r}",
            f"there are {', '.join(NAMES)}, and greedy-N and careful-N, which take the best of N"
            " moves drawn at random (N from 1 to 1000); to play your own bots too, leave"
            " --in-process out",
        )
    return BuiltIn("uniform") if match[1] else BuiltIn(match[2], int(match[3] or 0))


def built_in_bot(name: str) -> Bot:
    """The built-in bot as a bot of a run. Raises ConfigError."""
    own = built_in(name)
    idea = DESCRIPTIONS[name.partition("-")[0]] + (
        f" among {own.among} moves drawn at random" if own.among else ""
    )
    manifest = Manifest(
        name=name, command=[*COMMAND, name], version=str(PLAYS), language="C", description=idea
    )
    return Bot(name, manifest, Path(), own.sha256)


def is_built_in(bot: Bot) -> bool:
    """Whether that is a bot of this arena; one from a folder is not, whatever its command says."""
    *command, name = bot.command
    return (
        command == COMMAND
        and NAME.fullmatch(name) is not None
        and bot.sha256 == built_in(name).sha256
    )


def built_in_player(bot: Bot) -> InProcessPlayer:
    """A built-in bot in a seat beside processes. It is shown what a bot in that seat is told, and
    no more.
    """
    choose = built_in(bot.manifest.name).choose
    return InProcessPlayer(bot.label, lambda state, seed: choose(seen_by_mover(state), seed))


def seen_by_mover(state: State) -> State:
    """A copy without the hands of the others and the order of the pile."""
    seen = state.copy()
    for seat, hand in enumerate(state.hands):
        if seat != state.mover:
            seen.set_hand(seat, [UNKNOWN] * len(hand))
    seen.set_pile([UNKNOWN] * state.pile)
    return seen
