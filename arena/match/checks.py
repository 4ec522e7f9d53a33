"""The steps that show whether one bot plays by the protocol; each is a real dialogue with a real process."""

import shlex
import time
from collections.abc import Iterator
from typing import NamedTuple

from arena import __version__
from arena.errors import ArenaError, BotFolderError, Forfeit
from arena.match.clock import NS_PER_MS, Timing
from arena.match.referee import GamePlan, Referee
from arena.players.bot import BotPlayer
from arena.players.folder import Bot, staged_for_a_while
from arena.players.inprocess import InProcessPlayer, first_move, random_move
from arena.players.messages import PROTOCOL, READY_EXAMPLE, Hello, Start, encode
from arena.players.process import BotProcess
from arena.players.sandbox import Sandbox
from arena.rules.boards import Board, built_in
from arena.rules.notation import COPIES, TILES

STARTUP_MS = 10_000
EXIT_S = 2.0
STDERR_LINES = 8

SMALL = Board("small", ("R.....", "......", "..V...", "....Y.", "......", ".....B"))
LARGE = Board("large", ("R" + "." * 25, *["." * 12 + "VY" + "." * 12] * 24, "." * 25 + "B"))


class Step(NamedTuple):
    """One step: it passed when ``problem`` is empty; ``detail`` is worth knowing anyway, ``stderr`` are the bot's last words."""

    name: str
    problem: str = ""
    cure: str = ""
    detail: str = ""
    stderr: tuple[str, ...] = ()


class GameCase(NamedTuple):
    """A game that a bot has to get through: which board, how many players, which seat is the bot's."""

    name: str
    board: Board
    players: int
    seat: int


def cases() -> list[GameCase]:
    """The games of a check."""
    bird, lion = built_in("bird"), built_in("lion")
    return [
        GameCase("a game of two on bird, moving first", bird, 2, 0),
        GameCase("the next game in the same process, moving second", bird, 2, 1),
        GameCase("a game of three, in the middle", bird, 3, 1),
        GameCase("a game of four, last", bird, 4, 3),
        GameCase("a game of two on lion", lion, 2, 0),
        GameCase("a game of four on lion, first", lion, 4, 0),
        GameCase("a small board that fills up, with passes", SMALL, 2, 1),
        GameCase("a board of 26 x 26", LARGE, 2, 0),
    ]


def check_bot(bot: Bot, move_ms: int, sandbox: Sandbox) -> Iterator[Step]:
    """The steps one after another; after a failure that makes the rest meaningless, no more come."""
    try:
        with staged_for_a_while(bot, sandbox=sandbox) as [staged]:
            yield Step("bot.toml, files, program and build", detail=f"{' '.join(bot.command)}")
            yield from _check_staged(staged, move_ms, sandbox)
    except BotFolderError as error:
        yield Step("bot.toml, files, program and build", str(error), error.hint)


def _check_staged(bot: Bot, move_ms: int, sandbox: Sandbox) -> Iterator[Step]:
    player = BotPlayer(bot, STARTUP_MS, sandbox)
    try:
        started = _start(player)
        yield started
        if started.problem:
            return
        slowest, failed = 0.0, False
        for number, case in enumerate(cases()):
            step, took_ms = _play(player, case, number, move_ms)
            slowest, failed = max(slowest, took_ms), failed or bool(step.problem)
            yield step
        if not failed:
            yield Step(f"answers within {move_ms} ms", detail=f"slowest {slowest:.1f} ms")
    finally:
        player.stop()
    yield _end_of_input(bot, sandbox)


def _start(player: BotPlayer) -> Step:
    began_ns = time.monotonic_ns()
    try:
        player.begin(_any_start())
    except (Forfeit, ArenaError) as error:
        hello = encode(Hello(1, PROTOCOL, __version__)).decode()
        cure = f"run {shlex.join(player.bot.command)} by hand in its folder, paste {hello} and look for a line such as {READY_EXAMPLE}"
        return Step("starts and answers hello", str(error), cure, stderr=_last_words(player))
    return Step("starts and answers hello", detail=f"{(time.monotonic_ns() - began_ns) // NS_PER_MS} ms")


def _any_start() -> Start:
    return Start(players=2, seat=0, board=SMALL.rows, pagodas=24, seed=1, move_ms=1000)


def _play(player: BotPlayer, case: GameCase, number: int, move_ms: int) -> tuple[Step, float]:
    """One game against players in this process."""
    others = [InProcessPlayer("random", random_move), InProcessPlayer("first", first_move)]
    players = [player if seat == case.seat else others[seat % 2] for seat in range(case.players)]
    names = tuple(seated.name for seated in players)
    deck = "".join(TILES[(index * 5 + number) % len(TILES)] for index in range(COPIES * len(TILES)))
    plan = GamePlan("check", case.board.name, number, 0, names, deck, tuple(range(1, case.players + 1)))
    outcome = Referee(plan, case.board, players, Timing(move_ms=move_ms, startup_ms=STARTUP_MS)).play()
    record, evidence = outcome.record, outcome.evidence
    took_ms = record.slowest_ms[case.seat]
    for fault, kept in zip(record.faults, evidence, strict=True):
        problem = f"{fault.kind} after {fault.turn} placements: {fault.detail}"
        return Step(case.name, problem, "protocol/SPEC.md says what is expected", stderr=_tail(kept.stderr)), took_ms
    return Step(case.name, detail=f"{record.end} after {record.turns} placements"), took_ms


def _last_words(player: BotPlayer) -> tuple[str, ...]:
    _, _, stderr = player.evidence()
    return _tail(stderr)


def _tail(stderr: str) -> tuple[str, ...]:
    return tuple(stderr.rstrip().splitlines()[-STDERR_LINES:])


def _end_of_input(bot: Bot, sandbox: Sandbox) -> Step:
    """A bot ends by itself when its input ends: the arena may have died."""
    import os  # noqa: PLC0415 - only here are descriptors handled by hand

    process = BotProcess(bot.command, bot.folder, sandbox, bot.manifest.memory_mb)
    os.close(process.to_bot)
    ending = process.ending(EXIT_S)
    os.close(process.from_bot)
    process.stop()
    name = "exits when its input ends"
    if ending is None:
        return Step(name, f"it still ran {EXIT_S:g} s after its stdin was closed", "leave the loop at the end of stdin")
    return Step(name, detail=str(ending))
