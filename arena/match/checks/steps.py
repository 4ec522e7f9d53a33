"""What the steps of a check do; each returns a detail to show, or raises Failed."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from arena.errors import FaultKind
from arena.match.checks.bench import SHORT_MS, SMALL, STARTUP_MS, Bench, Trial, last_words
from arena.match.checks.step import Failed, Found
from arena.match.clock import NS_PER_MS
from arena.players.aftermath import ending_within
from arena.players.bot import BotPlayer
from arena.players.channel import OutputEnded, Overflowed, TimedOut
from arena.players.folder import Bot
from arena.players.messages import Quit, encode, shown
from arena.players.options import settings_text
from arena.players.player import Player
from arena.players.sandbox.tiers import Sandbox
from arena.records.note import MOST_NAME
from arena.rules import State
from arena.rules.notation import COPIES, TILES, parse_deck

EXIT_S = 2.0
QUIET_NS = 100 * NS_PER_MS
SHORTEST_NS, LONGEST_NS = 400 * NS_PER_MS, 2000 * NS_PER_MS
MANY = 20
# Little of processor time, so that even on a busy machine a bot that thinks before it looks at its
# input is done long before EXIT_S.
TURN_MS = 100
MANY_STDERR_BYTES = 1024 * 1024


def has_the_time_it_asks_for(bench: Bench) -> str:
    """Compares the times in bot.toml with those of the check."""
    manifest = bench.bot.manifest
    for key, needed, given in (
        ("move_ms", manifest.move_ms, bench.move_ms),
        ("startup_ms", manifest.startup_ms, STARTUP_MS),
    ):
        if needed is not None and needed > given:
            raise Failed.unmet(f"{key} of at most {given}", str(needed))
    return f"{bench.move_ms} ms per move, {STARTUP_MS} ms for start-up"


def waits_for_hello(bench: Bench) -> str:
    """A process that receives nothing says nothing, for twice as long as it takes to start."""
    with bench.started(BotPlayer) as player:
        player.open()
        _expect_quiet(player, "before hello", min(max(bench.start_ns * 2, SHORTEST_NS), LONGEST_NS))
    return ""


def starts(bench: Bench) -> Found:
    """Hello and ready."""
    began_ns = time.monotonic_ns()
    bench.start(bench.player)
    bench.start_ns = time.monotonic_ns() - began_ns
    bench.player.stop()
    view = "full" if bench.player.has_full_view else "incremental"
    took_ms = bench.start_ns // NS_PER_MS
    return Found(f"{took_ms} ms, {view} view", {"startup_ms": took_ms})


def plays(bench: Bench, place: Callable[[], Trial]) -> str:
    """One game with the bot's usual process."""
    record = bench.game(place())
    return f"{record.end} after {record.turns} placements"


def plays_many(bench: Bench) -> str:
    """Many games in a row."""
    for number in range(MANY):
        bench.game(Trial(SMALL, 2 + number % 3, number % 2, deal=number))
    return f"{bench.games} games so far"


def repeats_itself(bench: Bench) -> str:
    """Not a fault: a bot may draw its own random numbers."""
    first, second = (bench.game(Trial(SMALL, 2, 0, deal=1)) for _ in range(2))
    return (
        ""
        if first.moves == second.moves
        else "note: no, so you cannot repeat this bot's games from their seed"
    )


def is_quiet_after_a_game(bench: Bench) -> str:
    """No line comes once a game is over."""
    with bench.started(BotPlayer) as player:
        bench.game(Trial(SMALL, 2, 0), player)
        if player.is_running:
            _expect_quiet(player, "after the end of a game")
    return ""


def was_in_time(bench: Bench) -> Found:
    """The slowest answer so far; a slower one would have failed its game."""
    clock = "processor time" if bench.player.clock == "cpu" else "by the wall clock"
    detail = f"the slowest took {bench.slowest_ms:.1f} of {bench.move_ms} ms ({clock})"
    if bench.short_ms > SHORT_MS:
        detail += f"; {SHORT_MS} ms were too short for it, so other games had {bench.short_ms} ms"
    if bench.slowest_ms > bench.move_ms * 0.8:
        detail += "; note: that leaves little time in reserve"
    figures = {"slowest_ms": round(bench.slowest_ms, 1), "short_ms": bench.short_ms}
    return Found(detail, figures)


def is_within_memory(bench: Bench) -> Found:
    """The memory of all the bot's processes after these games."""
    used, allowed = bench.player.memory_mb(), bench.bot.memory_mb
    if used > allowed:
        raise Failed.unmet(f"at most {allowed} MB after {bench.games} games", str(used))
    figures = {"memory_mb": used, "allowed_mb": allowed}
    return Found(f"{used} of {allowed} MB after {bench.games} games", figures)


def logs_little(bench: Bench) -> str:
    """The amount of stderr output per game."""
    size = bench.player.stderr_written() // max(1, bench.games)
    if size > MANY_STDERR_BYTES:
        raise Failed.unmet("less than 1 MiB of stderr per game", f"{size >> 10} KiB")
    return f"{size} bytes per game" if size else ""


def sends_notes_that_fit(bench: Bench) -> Found:
    """Not a fault: what does not fit is cut or dropped, see P5.6."""
    notes = bench.notes
    figures = {"notes": notes.heard, "cut": sum(notes.lost.values())}
    if not notes.lost:
        return Found(f"{notes.heard} notes" if notes.heard else "it sends none", figures)
    cut = "; ".join(
        f"{loss.part[:MOST_NAME]!r}: expected {loss.expected}, got {loss.got}"
        f" ({notes.lost[key]} of {notes.heard} notes)"
        for key, loss in notes.first.items()
    )
    return Found(f"note: not all of them is kept (P5.6): {cut}", figures)


def plays_with_other_options(bench: Bench) -> str:
    """A short game with each option at its least, or its first choice, and one at its most. How
    long the bot then takes is its own affair.
    """
    if not bench.bot.manifest.options:
        return "it has none"
    ends = [option.ends for option in bench.bot.manifest.options.values()]
    for values in zip(*ends, strict=True):
        settings = dict(zip(bench.bot.manifest.options, values, strict=True))
        bot = replace(bench.bot, settings={**settings, **bench.bot.limits})
        try:
            with bench.started(lambda _, *rest, bot=bot: BotPlayer(bot, *rest)) as player:
                bench.game(Trial(SMALL, 2, 0, may_be_late=True), player)
        except Failed as failure:
            if failure.kind not in (FaultKind.LATE, FaultKind.SILENT):
                failure.problem = f"with {settings_text(settings)}: {failure.problem}"
                raise
    return ""


def understands(bench: Bench, make: Callable[[Bot, int, Sandbox], Player]) -> str:
    """Two short games, with two and with three players, in which the arena speaks in an unusual
    way.
    """
    with bench.started(make) as player:
        bench.game(Trial(SMALL, 2, 0), player)
        if not bench.bot.manifest.fresh:
            bench.game(Trial(SMALL, 3, 1, leavers=1), player)
    return ""


def ends_before_hello(bench: Bench) -> str:
    """The arena dies at once."""
    with bench.started(BotPlayer) as player:
        player.open()
        return _expect_exit(player)


def ends_after_ready(bench: Bench) -> str:
    """The arena dies before the first game."""
    with bench.started(BotPlayer) as player:
        bench.start(player)
        return _expect_exit(player, tell=False)


def ends_in_a_game(bench: Bench) -> str:
    """The arena dies while another seat is to move."""
    with bench.started(BotPlayer) as player:
        bench.start(player)
        return _expect_exit(player)


def ends_in_a_turn(bench: Bench) -> str:
    """The arena dies while the bot is to move; its answer goes nowhere."""
    with bench.started(BotPlayer) as player:
        bench.start(player)
        player.request(State(SMALL, 2, parse_deck("".join(TILES) * COPIES)), TURN_MS)
        return _expect_exit(player)


def quits(bench: Bench) -> str:
    """The last line of all; stdin stays open."""
    with bench.started(BotPlayer) as player:
        bench.game(Trial(SMALL, 2, 0), player)
        if not player.is_running:
            return "it had already exited"
        player.inform(encode(Quit()))
        return _expect_exit(player, close=False)


def ends_after_a_game(bench: Bench) -> str:
    """The arena dies between two games."""
    with bench.started(BotPlayer) as player:
        bench.game(Trial(SMALL, 2, 0), player)
        return _expect_exit(player) if player.is_running else "it had already exited"


def _expect_quiet(player: BotPlayer, when: str, for_ns: int = QUIET_NS) -> None:
    """Raises Failed when a line comes."""
    try:
        line = player.channel.read_line(time.monotonic_ns() + for_ns)
    except (TimedOut, OutputEnded):
        return
    except Overflowed as error:
        line = error.start
    raise Failed.unmet(f"nothing {when}", shown(line), last_words(player))


def _expect_exit(player: BotPlayer, *, tell: bool = True, close: bool = True) -> str:
    """Closes the bot's input, after sending what is queued if asked to; raises Failed unless the
    process exits.
    """
    if tell:
        player.channel.flush()
    if close:
        player.channel.close_input()
    began = time.monotonic()
    ending = ending_within(player.process, int(EXIT_S * 1e9))
    if ending is None:
        problem = f"it was still running {EXIT_S:g} s later"
        raise Failed(problem, stderr=last_words(player), halves=("a bot that exits", problem))
    return f"{ending} after {(time.monotonic() - began) * 1000:.0f} ms"
