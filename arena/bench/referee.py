"""What the referee adds to a decision: whole games of two bots beside the bare exchange of the same bytes with the same bots.

The bots are parrots, which know their moves beforehand, so that next to nothing but the dialogue is measured.
"""

import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.bench.figures import Figure
from arena.match.clock import Timing
from arena.match.referee import GamePlan, Referee
from arena.players.bot import BotPlayer
from arena.players.channel import Line
from arena.players.folder import Bot
from arena.players.inprocess import InProcessPlayer, random_move
from arena.players.manifest import Manifest
from arena.players.sandbox import OPEN
from arena.rules.boards import built_in
from arena.tournament.deals import deck_of

HERE = Path(__file__).parent
GAMES = 60
ROUNDS = 5
WARM_UP = 5
Exchange = tuple[bytes, int]
"""What is sent to a bot at once, and how many lines it answers (1, or 0 for nothing)."""


def measure() -> Iterator[Figure]:
    """Time of a decision with a Python bot and, where there is a compiler, a C bot, each beside the bare exchange, all on one core."""
    with _on_one_core(), tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        yield from _compare("python", "Python bot", ["python3", str(HERE / "parrot.py")], "<= 1.5")
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler:
            parrot = Path(folder, "parrot")
            subprocess.run([compiler, "-O2", "-o", str(parrot), str(HERE / "parrot.c")], check=True)  # noqa: S603
            yield from _compare("c", "C bot", [str(parrot)], "<= 2")


@contextmanager
def _on_one_core() -> Iterator[None]:
    """Keeps this process and the bots it starts on one core, as workers are."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _compare(key: str, name: str, program: list[str], aim: str) -> Iterator[Figure]:
    plan, moves = _rehearse()
    commands = [[*program, *own] for own in moves]
    decisions = sum(len(own) for own in moves)
    players = [_player(command, seat) for seat, command in enumerate(commands)]
    exchanges = _overhear(plan, players)
    refereed, bare = [], []
    try:
        for _ in range(ROUNDS):  # in turn, so that both meet the same disturbances
            refereed.append(_time_games(plan, players) / decisions)
            bare.append(_time_bare(commands, exchanges) / decisions)
    finally:
        for player in players:
            player.stop()
    ratio = sorted(one / other for one, other in zip(refereed, bare, strict=True))[ROUNDS // 2]
    yield Figure(f"referee.{key}.us_per_decision", f"a decision, {name}", min(refereed) * 1e6, "us")
    yield Figure(f"referee.{key}.bare_us", f"the bare exchange, {name}", min(bare) * 1e6, "us")
    yield Figure(f"referee.{key}.ratio", f"their ratio, {name}", ratio, "x", aim)
    yield Figure(f"referee.{key}.games_per_s", f"games of two a second on one worker, {name}", 1 / (min(refereed) * decisions), "games/s")


def _rehearse() -> tuple[GamePlan, list[list[str]]]:
    """A game and the moves of its two seats."""
    plan = GamePlan("bench/0/0", "bird", 0, 0, ("a", "b"), deck_of("bench", "bird", 0), (1, 2))
    players = [InProcessPlayer("a", random_move), InProcessPlayer("b", random_move)]
    record = Referee(plan, built_in("bird"), players, Timing()).play().record
    return plan, [record.moves[seat::2] for seat in (0, 1)]


def _player(command: list[str], seat: int) -> BotPlayer:
    return BotPlayer(Bot(f"parrot-{seat}", Manifest(name="parrot", command=command), HERE, ""), 10_000)


def _overhear(plan: GamePlan, players: list[BotPlayer]) -> list[list[Exchange]]:
    """Plays a game and returns what each seat was sent, request by request."""
    lines: list[list[Line]] = [[] for _ in players]

    def listen(*_: object) -> None:
        for player, heard in zip(players, lines, strict=True):
            heard += [line for line in player.lines() if not heard or line.at_ns > heard[-1].at_ns]

    Referee(plan, built_in("bird"), players, Timing(), listen).play()
    listen()
    found = []
    for heard in lines:
        exchanges: list[Exchange] = []
        sent = b""
        for line in heard:
            if line.direction == "to":
                sent += line.text + b"\n"
            else:
                exchanges.append((sent, 1))
                sent = b""
        found.append([*exchanges, (sent, 0)])
    return found


def _time_games(plan: GamePlan, players: list[BotPlayer]) -> float:
    """Seconds of a game under the referee, with bots that have warmed up."""
    board, timing = built_in("bird"), Timing()
    for _ in range(WARM_UP):
        Referee(plan, board, players, timing).play()
    began = time.perf_counter()
    for _ in range(GAMES):
        Referee(plan, board, players, timing).play()
    return (time.perf_counter() - began) / GAMES


class BareBots:
    """The same bots without an arena: plain pipes, one write, one poll and one read for each decision."""

    def __init__(self, commands: list[list[str]]) -> None:
        environment = OPEN.launch([], HERE).environment
        self._bots = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)  # noqa: S603
            for command in commands
        ]
        self._pipes = [(bot.stdin.fileno(), bot.stdout.fileno(), select.poll()) for bot in self._bots if bot.stdin and bot.stdout]
        for _, read_from, poll in self._pipes:
            poll.register(read_from, select.POLLIN)

    def exchange(self, seat: int, exchange: Exchange) -> None:
        """Sends the bytes, and reads the answer if there is one."""
        write_to, read_from, poll = self._pipes[seat]
        os.write(write_to, exchange[0])
        if exchange[1]:
            poll.poll(10_000)
            os.read(read_from, 65_536)

    def play(self, exchanges: list[list[Exchange]]) -> None:
        """A whole game: the seats in turn, after hello."""
        for at in range(1, max(len(own) for own in exchanges)):
            for seat, own in enumerate(exchanges):
                if at < len(own):
                    self.exchange(seat, own[at])

    def stop(self) -> None:
        """Kills the bots."""
        for bot in self._bots:
            bot.kill()
            bot.communicate()


def _time_bare(commands: list[list[str]], exchanges: list[list[Exchange]]) -> float:
    """Seconds of a game's bytes over bare pipes."""
    bots = BareBots(commands)
    try:
        for seat, own in enumerate(exchanges):
            bots.exchange(seat, own[0])
        for _ in range(WARM_UP):
            bots.play(exchanges)
        began = time.perf_counter()
        for _ in range(GAMES):
            bots.play(exchanges)
        return (time.perf_counter() - began) / GAMES
    finally:
        bots.stop()
