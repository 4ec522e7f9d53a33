"""What the referee needs from any player, and the players without a process of their own: a
function, a built-in bot, a person. A bot's process is `arena.players.bot`.
"""

import re
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from arena.errors import BotFolderError, ConfigError
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.players.messages import Start
from arena.records.notes import Note
from arena.rules import State
from arena.rules.notation import UNKNOWN, move_text
from arena.rules.playouts import GROWTH, HELD, PLACED, WON
from arena.rules.terms import REVISION

Dialogue = list[tuple[Literal["to", "from"], float, str]]
"""The lines of a dialogue: the direction (to or from the bot), ms since the start of the game, and
the text.
"""
KEPT_BYTES = 2000
"""The most bytes of a line that the evidence keeps."""
IN_PROCESS = ["arena", "in-process"]
"""The words before a built-in bot's name that stand for its start command."""
NAMES = ("random", "greedy", "careful")
"""The built-in bots that play if none are named."""
PLAYS = 1
"""Raised whenever a built-in bot would choose differently in a position with the same seed."""
NAME = re.compile(r"(random)|(greedy|careful)(?:-([1-9][0-9]{0,2}|1000))?", re.ASCII)
DESCRIPTIONS = {
    "random": "any legal move",
    "greedy": "most pagodas at once, net of what the others gain",
    "careful": "the best outlook",
}
TURN_BITS = 7
"""The number of bits that hold a turn; a game has at most 72 turns."""
YOU = "human"
"""The name of a person in records."""
A_PERSON = ["a person"]
"""The text that stands for a person's start command."""
PERSON = Bot(
    YOU,
    Manifest(name=YOU, command=A_PERSON, version="1", description="a person"),
    Path(),
    sha256(YOU.encode()).hexdigest(),
)


class Answer(Struct, frozen=True, gc=False):
    """An answer of a player to a request for a move.

    ``move``         the move in notation; whether it is legal is not judged yet
    ``spent_ns``     what it cost by the clock in use, in ns
    ``asked_ns``     when it was asked, by `time.monotonic_ns`; 0 if unknown
    ``answered_ns``  when it answered, by the same clock; 0 if unknown
    ``note``         the bot's note on the move; None without one
    ``idle_ns``      how long the bot was idle meanwhile; 0 unless CPU time is measured
    """

    move: str
    spent_ns: int
    asked_ns: int = 0
    answered_ns: int = 0
    note: Note | None = None
    idle_ns: int = 0


class Evidence(Struct, frozen=True):
    """The evidence of a fault of ``bot``, its label, in ``seat``. ``turn`` is the number of
    placements before the fault, ``kind`` that of `faults.FaultKind`, and ``detail`` a text for
    people. ``after_ms`` and the times in ``lines`` are ms since the start of the game. ``ending``
    says how the process ended; empty if it was still running. ``stderr`` is the end of what the bot
    wrote there. ``asked_ms`` is the time in ms allowed for each answer of the game, including the
    missing one.
    """

    bot: str
    seat: int
    turn: int
    after_ms: float
    kind: str
    detail: str
    ending: str
    lines: Dialogue
    stderr: str
    asked_ms: list[int]


class Player:
    """Chooses the moves of one seat, in one game after another. Methods that most players do not
    need do nothing here. ``name`` is the player's label.

    ``meanwhile()`` is set by the referee, and called now and then during a long wait for an answer:
    it stops the other players' bots that compute. ``meanwhile(must_stop=True)`` stops them all.
    `begin` and `choose` may raise Forfeit for a fault of the player, and Void or BusyMachineError
    if the game cannot go on for another reason.

    ``start_idle_ns`` is how long the player was idle in `begin` while its process started; 0 if no
    process started, or CPU time is not measured.
    """

    name: str
    start_idle_ns = 0
    meanwhile: Callable[..., None] = staticmethod(lambda **_: None)

    def begin(self, start: Start) -> None:
        """Begins a game, as ``start`` describes it."""

    def choose(self, state: State, budget_ns: int) -> Answer:
        """The move of the seat whose turn it is in ``state``; ``budget_ns`` is the time for the
        answer in ns.
        """
        raise NotImplementedError

    def rest(self, *, must_stop: bool = False) -> None:
        """Stops computing, because another player is being asked. With ``must_stop`` a bot is
        stopped even if it does not compute.
        """

    def inform(self, line: bytes) -> None:
        """Passes on a public line: a placement, a pass, or the end."""

    def finish(self) -> None:
        """Ends a game that this seat played to the end."""

    def dismiss(self) -> None:
        """Ends a game that this seat forfeited: the player will not be asked again."""

    def stop(self) -> None:
        """Releases what the player holds between games; calling it again does nothing."""

    def take_stderr(self) -> list[tuple[str, str]]:
        """The lines that the player wrote to stderr since the last call, each as a pair of the time
        it was written, such as ``turn 3``, and the text. Empty unless stderr is collected.
        """
        return []

    def evidence(self) -> tuple[str, Dialogue, str]:
        """How the process ended, the last lines both ways, and the end of stderr; all three empty
        without a process.
        """
        return "", [], ""


class InProcessPlayer(Player):
    """A player that calls ``choose(state, seed)``, which returns the mover's move as a number. It
    is trusted: it sees the whole state and is never late.
    """

    is_running = False
    """Always False, because there is no process that could be kept."""

    def __init__(self, name: str, choose: Callable[[State, int], int]) -> None:
        self.name = name
        self._choose = choose
        self._seed = 0

    def begin(self, start: Start) -> None:
        """Stores the seat's seed for the game."""
        self._seed = start.seed

    # The budget is unused, because a function is never late.
    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """The move that the function chooses in a copy of the state, with the time that it took;
        ``budget_ns`` is ignored.
        """
        began_ns = time.monotonic_ns()
        move = self._choose(state.copy(), self._seed)
        return Answer(move_text(state.board, move), time.monotonic_ns() - began_ns, began_ns)


# The seed is unused: this is the signature of every choosing function.
def first_move(state: State, seed: int) -> int:  # noqa: ARG001
    """The first legal move of the mover, who must have one. The seed is not used."""
    return state.nth(0)


def random_move(state: State, seed: int) -> int:
    """A random legal move of the mover, who must have one; the same seed and turn give the same
    move.
    """
    return state.nth((seed * 2654435761 + state.turns * 40503) % 4294967291 % state.legal_count())


class BuiltIn(NamedTuple):
    """A policy of the rules core that plays out games, as a bot: ``policy`` is ``uniform``,
    ``greedy`` or ``careful``. It looks at ``among`` legal moves drawn at random, or at all of them
    if that is 0.
    """

    policy: str
    among: int = 0

    def choose(self, state: State, seed: int) -> int:
        """The mover's move, PASS if it has none; the same seed and turn give the same move."""
        return state.choice(seed << TURN_BITS | state.turns, self.policy, self.among)

    @property
    def sha256(self) -> str:
        """A hash of everything that the bot's choices depend on."""
        weights = [PLACED, GROWTH, HELD, WON] if self.policy == "careful" else []
        known = [self.policy, self.among, PLAYS, REVISION, weights]
        return sha256(msgspec.json.encode(known)).hexdigest()


def built_in(name: str) -> BuiltIn:
    """The built-in bot of that name, such as ``greedy`` or ``careful-8``. Raises ConfigError if
    there is none.
    """
    match = NAME.fullmatch(name)
    if match is None:
        cure = (
            f"there are {', '.join(NAMES)}, and greedy-N and careful-N, which take the best of N"
            " moves drawn at random (1 to 1000); to play your own bots too, leave --in-process out"
        )
        raise ConfigError(f"expected a built-in bot, got {name!r}", cure)
    return BuiltIn("uniform") if match[1] else BuiltIn(match[2], int(match[3] or 0))


def refuse_built_in_name(name: str, cure: str) -> None:
    """Raises BotFolderError, with the hint ``cure``, if ``name``, the name of a user's bot, is that
    of a built-in bot.
    """
    if NAME.fullmatch(name):
        taken = f"expected another name than {name!r}, which is that of a built-in bot"
        raise BotFolderError(taken, cure)


def built_in_bot(name: str) -> Bot:
    """The built-in bot called ``name``, in the form in which runs have all their bots. Raises
    ConfigError if there is none.
    """
    policy = built_in(name)
    idea = DESCRIPTIONS[name.partition("-")[0]] + (
        f" among {policy.among} moves drawn at random" if policy.among else ""
    )
    manifest = Manifest(
        name=name, command=[*IN_PROCESS, name], version=str(PLAYS), description=idea
    )
    return Bot(name, manifest, Path(), policy.sha256)


def is_built_in(bot: Bot) -> bool:
    """Whether a bot is one of the arena's own. A bot from a folder never is, whatever its command
    says.
    """
    *command, name = bot.command
    is_named = command == IN_PROCESS and NAME.fullmatch(name) is not None
    return is_named and bot.sha256 == built_in(name).sha256


def built_in_player(bot: Bot) -> InProcessPlayer:
    """A player for a built-in bot at a table with processes. It is shown only what a process is
    told.
    """
    choose = built_in(bot.manifest.name).choose
    return InProcessPlayer(bot.label, lambda state, seed: choose(seen_by_mover(state), seed))


def seen_by_mover(state: State) -> State:
    """A copy of the state without the other seats' hands and the order of the pile."""
    seen = state.copy()
    for seat, hand in enumerate(state.hands):
        if seat != state.mover:
            seen.set_hand(seat, [UNKNOWN] * len(hand))
    seen.set_pile([UNKNOWN] * state.pile)
    return seen
