"""The cost the referee adds to a decision: complete games of two bots, next to the bare exchange of
the same bytes with the same bots.
"""

import os
import select
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

from arena.match.referee import GamePlan, Referee
from arena.players.bot import BotPlayer
from arena.players.channel import Said
from arena.players.messages import Start
from arena.players.player import Answer, Dialogue, Player
from arena.players.sandbox.tiers import OPEN
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import built_in
from tests.bench.figures import Figure, alternate, median_ratio
from tests.bench.parrots import BOARD, PYTHON_PARROT, commands, compiled_parrot, parrot, rehearse

GAMES = 60
ROUNDS = 7
WATCHED_GAMES = 400
STARTUP_MS = 10_000
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99_9": 0.999}
Exchange = tuple[bytes, int]
"""What is sent to a bot in one go, and how many lines it answers (1, or 0 for none)."""


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """The time per decision with a Python bot and, if there is a compiler, a C bot, each next to
    the bare exchange, all on one core.
    """
    with _on_one_core(), tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        yield from _compare("python", "Python bot", PYTHON_PARROT, "<= 1.5", quick=quick)
        program = compiled_parrot(Path(folder))
        if program:
            yield from _compare("c", "C bot", program, "<= 2", quick=quick)


@contextmanager
def _on_one_core() -> Iterator[None]:
    """Keeps this process and the bots it starts on one core, as for workers."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _compare(key: str, name: str, program: list[str], aim: str, *, quick: bool) -> Iterator[Figure]:
    plan, record = rehearse()
    games, decisions = 2 if quick else GAMES, len(record.moves)
    players = [
        BotPlayer(parrot(command, seat), STARTUP_MS)
        for seat, command in enumerate(commands(program, record))
    ]
    bare = BareBots(commands(program, record), _overhear(plan, players))
    try:
        works = {
            "refereed": partial(_play, plan, players, games),
            "bare": partial(bare.play, games),
        }
        for work in works.values():
            work()
        seconds = alternate(works, 2 if quick else ROUNDS)
        own_us = _own_us(plan, players, 5 if quick else WATCHED_GAMES)
    finally:
        bare.stop()
        for player in players:
            player.stop()
    refereed, beside = median(seconds["refereed"]) / games, median(seconds["bare"]) / games
    yield Figure(
        f"referee.{key}.us_per_decision", f"per decision, {name}", refereed / decisions * 1e6, "us"
    )
    yield Figure(
        f"referee.{key}.bare_us", f"the bare exchange, {name}", beside / decisions * 1e6, "us"
    )
    yield Figure(
        f"referee.{key}.ratio",
        f"their ratio, {name}",
        median_ratio(seconds["refereed"], seconds["bare"]),
        "x",
        aim,
    )
    yield Figure(
        f"referee.{key}.games_per_s",
        f"2-player games on one worker, {name}",
        1 / refereed,
        "games/s",
    )
    for quantile, share in QUANTILES.items():
        value = own_us[min(len(own_us) - 1, int(share * len(own_us)))]
        yield Figure(
            f"referee.{key}.own_us_{quantile}",
            f"the arena's own share, {quantile.replace('_', '.')}, {name}",
            value,
            "us",
        )


class Stopwatch(Player):
    """A player that also records when its requests were ready and its answers had arrived; that
    costs about 0.3 us per decision.
    """

    def __init__(self, player: Player, noted: list[tuple[int, int]]) -> None:
        self.name = player.name
        self._player, self._noted = player, noted

    def begin(self, start: Start) -> None:
        """Begins."""
        self._player.begin(start)

    def choose(self, state: State, budget_ns: int) -> Answer:
        """The player's answer."""
        answer = self._player.choose(state, budget_ns)
        self._noted.append((answer.asked_ns, answer.answered_ns))
        return answer

    def inform(self, line: bytes) -> None:
        """Passes the line on."""
        self._player.inform(line)

    def finish(self) -> None:
        """Finishes."""
        self._player.finish()

    def dismiss(self) -> None:
        """Dismisses."""
        self._player.dismiss()

    def evidence(self) -> tuple[str, Dialogue, str]:
        """The player's."""
        return self._player.evidence()


def _own_us(plan: GamePlan, players: Sequence[Player], games: int) -> list[float]:
    """Microseconds from an answer's arrival until the next request is ready to send, sorted:
    judging, playing and announcing.
    """
    found = []
    for _ in range(games):
        noted: list[tuple[int, int]] = []
        _play(plan, [Stopwatch(player, noted) for player in players], 1)
        found += [(asked - answered) / 1e3 for (_, answered), (asked, _) in pairwise(noted)]
    return sorted(found)


def _play(plan: GamePlan, players: Sequence[Player], games: int) -> None:
    board, timing = built_in(BOARD), Timing()
    for _ in range(games):
        Referee(plan, board, players, timing).play()


def _overhear(plan: GamePlan, players: list[BotPlayer]) -> list[list[Exchange]]:
    """Plays a game and returns what each seat was sent, request by request."""
    lines: list[list[Said]] = [[] for _ in players]

    def listen(*_: object) -> None:
        for player, heard in zip(players, lines, strict=True):
            heard += [
                line for line in player.channel.lines() if not heard or line[2] > heard[-1][2]
            ]

    Referee(plan, built_in(BOARD), players, Timing(), listen).play()
    listen()
    found = []
    for heard in lines:
        exchanges: list[Exchange] = []
        sent = b""
        for direction, text, _ in heard:
            if direction == "to":
                sent += text + b"\n"
            else:
                exchanges.append((sent, 1))
                sent = b""
        found.append([*exchanges, (sent, 0)])
    return found


class BareBots:
    """The same bots without the arena: plain pipes, with one write, one poll and one read per
    decision.
    """

    def __init__(self, commands: list[list[str]], exchanges: list[list[Exchange]]) -> None:
        environment = OPEN.launch([], Path()).environment
        self._exchanges = exchanges
        self._bots = [
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
            )
            for command in commands
        ]
        self._pipes = [
            (bot.stdin.fileno(), bot.stdout.fileno(), select.poll())
            for bot in self._bots
            if bot.stdin and bot.stdout
        ]
        for _, read_from, poll in self._pipes:
            poll.register(read_from, select.POLLIN)
        for seat, own in enumerate(exchanges):
            self.exchange(seat, own[0])

    def exchange(self, seat: int, exchange: Exchange) -> None:
        """Sends the bytes, and reads the answer if there is one."""
        write_to, read_from, poll = self._pipes[seat]
        os.write(write_to, exchange[0])
        if exchange[1]:
            poll.poll(STARTUP_MS)
            os.read(read_from, 65_536)

    def play(self, games: int) -> None:
        """Plays complete games: the seats take turns, after hello."""
        for _ in range(games):
            for at in range(1, max(len(own) for own in self._exchanges)):
                for seat, own in enumerate(self._exchanges):
                    if at < len(own):
                        self.exchange(seat, own[at])

    def stop(self) -> None:
        """Kills the bots."""
        for bot in self._bots:
            bot.kill()
            bot.communicate()
