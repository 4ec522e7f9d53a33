"""The steps of `arena check`, in the table `STEPS`: the function of a step returns what to show, or
raises Failed.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from arena.match.bench import (
    SHORT_MS,
    STARTUP_MS,
    Bench,
    Failed,
    Trial,
    ask_for_a_move,
    ending_in_time,
    expect_quiet,
    last_words,
)
from arena.match.unusual import (
    IN_PIECES,
    JUMPING,
    PAUSE_S,
    STRANGER,
    Unusual,
    in_another_order,
    with_unknown_fields,
)
from arena.players.bot import BotPlayer
from arena.players.folder import Bot
from arena.players.labels import settings_text
from arena.players.messages import Quit, encode
from arena.players.player import Player
from arena.players.sandbox.tiers import Sandbox
from arena.records.notes import MAX_NAME
from arena.records.record import NS_PER_MS

SEE_ASKED = "P2.3: write to stdout only when asked, once for each request; log to stderr"
SEE_TYPES = "P1.4: ignore fields and message types that the bot does not know"
SEE_LINES = "P1.1: read up to the newline, however the bytes arrive, and parse the line as JSON"
SEE_END = (
    "P3.5: leave the loop when stdin ends or 'quit' comes, and stop everything the bot started"
)
EXIT_NS = 2_000_000_000
"""How long, in ns, a bot may compute, or be idle, before it exits. A bot that has not read hello
may still be starting, so it also gets twice the time that its start took.
"""
SHORTEST_NS = 400 * NS_PER_MS
LONGEST_NS = 2000 * NS_PER_MS
MANY = 20
MANY_STDERR_BYTES = 1024 * 1024

Figures = Mapping[str, float]
"""What a step measured, by names with units, such as ``startup_ms`` or ``memory_mb``."""
NO_FIGURES: Figures = MappingProxyType({})


LeadUp = Callable[[Bench, BotPlayer], object]
"""A function that brings a bot's process to the point of the dialogue at which it is to end."""


DetailAndFigures = tuple[str, Figures]
"""What to show for a step that passed, and what the step measured."""


class TableStep(NamedTuple):
    """A step of `arena check`, a row of the table `STEPS`.

    ``name``        what the bot has to do
    ``run``         returns what to show, perhaps with what was measured, or raises Failed
    ``cure``        what to do if the step fails; empty: what the failure says
    ``needed_for``  why all later steps are pointless if this one fails; empty if they are not
    ``is_apart``    whether the step has processes of its own, so that it can be tried beside others
    """

    name: str
    run: Callable[[Bench], str | DetailAndFigures]
    cure: str = ""
    needed_for: str = ""
    is_apart: bool = False


def _has_the_time_it_asks_for(bench: Bench) -> str:
    """Fails if bot.toml asks for more time than the check gives."""
    manifest = bench.bot.manifest
    for key, needed, given in (
        ("move_ms", manifest.move_ms, bench.move_ms),
        ("startup_ms", manifest.startup_ms, STARTUP_MS),
    ):
        if needed is not None and needed > given:
            raise Failed(f"{key} of at most {given}", str(needed))
    return f"{bench.move_ms} ms per move, {STARTUP_MS} ms for start-up"


def _starts(bench: Bench) -> DetailAndFigures:
    """Starts the bot and measures how long that takes."""
    began_ns = time.monotonic_ns()
    bench.start(bench.player)
    bench.start_ns = time.monotonic_ns() - began_ns
    bench.player.stop()
    view = "full" if bench.player.has_full_view else "incremental"
    took_ms = bench.start_ns // NS_PER_MS
    return f"{took_ms} ms, {view} view", {"startup_ms": took_ms}


def _waits_for_hello(bench: Bench) -> str:
    """Fails if a process that is sent nothing writes a line to stdout within about twice the time
    that it takes to start.
    """
    with bench.started(BotPlayer) as player:
        player.open()
        expect_quiet(player, "before hello", min(max(bench.start_ns * 2, SHORTEST_NS), LONGEST_NS))
    return ""


def _plays(bench: Bench, trial: Trial) -> str:
    """Plays the game ``trial`` with the bot's usual process. Returns a text on how the game ended
    and after how many placements; if ``trial`` is a full game, with a note on how long the bot was
    idle.
    """
    record = bench.game(trial)
    detail = f"{record.end} after {record.turns} placements"
    if trial.is_full and bench.wait:
        detail += f"; note: {bench.wait.text}"
    return detail


def _plays_many(bench: Bench) -> str:
    """Plays twenty games with the bot's usual process."""
    for number in range(MANY):
        bench.game(Trial(2 + number % 3, number % 2, deal=number))
    return f"{bench.games} games so far"


def _repeats_itself(bench: Bench) -> str:
    """Plays a game twice with the same seed, and returns a note if the moves differ. That is no
    fault, because a bot may draw its own random numbers.
    """
    first, second = (bench.game(Trial(2, 0, deal=1)) for _ in range(2))
    same = first.moves == second.moves
    return "" if same else "note: no, so you cannot repeat this bot's games from their seed"


def _is_quiet_after_a_game(bench: Bench) -> str:
    """Fails if the bot writes a line to stdout between games."""
    with bench.started(BotPlayer) as player:
        bench.game(Trial(2, 0), player)
        if player.is_running:
            expect_quiet(player, "after the end of a game")
    return ""


def _was_in_time(bench: Bench) -> DetailAndFigures:
    """Reports the slowest answer so far in games with the full time. It was in time, or its game
    would have failed.
    """
    clock = "CPU time" if bench.player.clock == "cpu" else "by the wall clock"
    detail = f"the slowest took {bench.slowest_ms:.1f} of {bench.move_ms} ms ({clock})"
    if bench.short_ms > SHORT_MS:
        detail += f"; {SHORT_MS} ms were too short for it, so other games had {bench.short_ms} ms"
    if bench.slowest_ms > bench.move_ms * 0.8:
        detail += "; note: that leaves little time in reserve"
    figures = {"slowest_ms": round(bench.slowest_ms, 1), "short_ms": bench.short_ms}
    return detail, figures


def _is_within_memory(bench: Bench) -> DetailAndFigures:
    """Reports the memory of the bot's processes after the games so far, in MB; fails if it is more
    than allowed.
    """
    process = bench.player.process
    allowed = bench.bot.memory_mb
    used = process.memory_mb() if process else 0
    if used > allowed:
        raise Failed(f"at most {allowed} MB after {bench.games} games", str(used))
    figures = {"memory_mb": used, "allowed_mb": allowed}
    return f"{used} of {allowed} MB after {bench.games} games", figures


def _logs_little(bench: Bench) -> str:
    """Reports how much the bot writes to stderr per game; fails if it is more than 1 MiB."""
    process = bench.player.process
    size = process.stderr_written() // max(1, bench.games) if process else 0
    if size > MANY_STDERR_BYTES:
        raise Failed("less than 1 MiB of stderr per game", f"{size >> 10} KiB")
    return f"{size} bytes per game" if size else ""


def _sends_notes_that_fit(bench: Bench) -> DetailAndFigures:
    """Reports which parts of the bot's notes the arena cuts or drops (P5.6). Such notes are no
    fault.
    """
    notes = bench.notes
    figures = {"notes": notes.count, "cut": sum(map(len, notes.lost.values()))}
    if not notes.lost:
        return f"{notes.count} notes" if notes.count else "it sends none", figures
    lost = []
    for losses in notes.lost.values():
        first = losses[0]
        what = f"{first.part[:MAX_NAME]!r}: expected {first.expected}, got {first.got}"
        lost.append(f"{what} ({len(losses)} of {notes.count} notes)")
    return f"note: not all of them is kept (P5.6): {'; '.join(lost)}", figures


def _plays_with_other_options(bench: Bench) -> str:
    """Plays a short game with each option at its smallest value or first choice, and one with each
    at its largest or last. Whether the bot is late with these options is not judged.
    """
    options = bench.bot.manifest.options
    for values in zip(*(option.ends for option in options.values()), strict=True):
        settings = dict(zip(options, values, strict=True))
        bot = replace(bench.bot, settings={**settings, **bench.bot.limits})
        try:
            with bench.started(partial(_player_of, bot)) as player:
                bench.game(Trial(2, 0, may_be_late=True), player)
        except Failed as failure:
            if not failure.is_too_late:
                failure.problem = f"with {settings_text(settings)}: {failure.problem}"
                raise
    return "" if options else "it has none"


def _player_of(bot: Bot, _: Bot, startup_ms: int, sandbox: Sandbox) -> BotPlayer:
    """A player of ``bot``; the bot under check, which `Bench.started` passes next, is ignored."""
    return BotPlayer(bot, startup_ms, sandbox)


def _understands(bench: Bench, make: Callable[[Bot, int, Sandbox], Player]) -> str:
    """Plays two short games, with two and with three players, with a player made by ``make``, which
    uses the protocol in an unusual way. A bot that needs a new process for each game plays only the
    first.
    """
    with bench.started(make) as player:
        bench.game(Trial(2, 0), player)
        if not bench.bot.manifest.fresh:
            bench.game(Trial(3, 1, leavers=1), player)
    return ""


def _play_and_quit(bench: Bench, player: BotPlayer) -> None:
    """Plays a game with ``player``, then asks the bot to quit."""
    bench.game(Trial(2, 0), player)
    if player.is_running:
        player.inform(encode(Quit()))


def _ends(bench: Bench, reach: LeadUp, *, send: bool, close: bool) -> str:
    """Brings the bot to a point of the dialogue with ``reach``, sends what is queued if ``send``,
    and closes the bot's input if ``close``, as when the arena dies there. Fails unless the process
    then exits.
    """
    with bench.started(BotPlayer) as player:
        reach(bench, player)
        if not player.is_running:
            return "it had already exited"
        if send:
            player.channel.flush()
        if close:
            player.channel.close_input()
        began = time.monotonic()
        assert player.process is not None, "it has been started"
        most_ns = EXIT_NS
        if player.is_starting:
            most_ns += 2 * bench.start_ns
        ending = ending_in_time(player.process, most_ns)
        if ending is None:
            problem = f"it was still running {round(most_ns / 1e9, 1):g} s later"
            raise Failed("a bot that exits", problem, problem, stderr=last_words(player))
        return f"{ending} after {(time.monotonic() - began) * 1000:.0f} ms"


def _game(name: str, trial: Trial) -> TableStep:
    """The step called ``name`` that plays the game ``trial``."""
    return TableStep(name, partial(_plays, trial=trial))


def _variant(name: str, cure: str, make: Callable[[Bot, int, Sandbox], Player]) -> TableStep:
    """The step called ``name`` in which the arena uses the protocol in an unusual way; ``make``
    makes the player that does, ``cure`` says what to do if the step fails.
    """
    return TableStep(name, partial(_understands, make=make), cure, is_apart=True)


def _end(when: str, reach: LeadUp, *, send: bool = True, close: bool = True) -> TableStep:
    """The step that checks that the bot exits at a point of the dialogue; ``when`` names the point,
    ``reach`` brings the bot to it, ``send`` sends what is queued, and ``close`` closes the bot's
    input.
    """
    run = partial(_ends, reach=reach, send=send, close=close)
    return TableStep(f"exits {when}", run, SEE_END, is_apart=True)


STEPS = (
    TableStep(
        "the times in bot.toml fit into this check's",
        _has_the_time_it_asks_for,
        "check with a longer --move-ms",
    ),
    TableStep("starts and answers hello", _starts, "", "they need a bot that answers hello"),
    TableStep("nothing on stdout before it is asked", _waits_for_hello, SEE_ASKED, is_apart=True),
    _game("a complete game", Trial(players=2, seat=0, is_full=True)),
    _game("bird, 2 players, moves first", Trial(players=2, seat=0, board="bird", deal=2)),
    _game(
        "bird, 2 players, moves second, in the same process",
        Trial(players=2, seat=1, board="bird", deal=3),
    ),
    _game("bird, 3 players, first seat", Trial(players=3, seat=0, board="bird", deal=3)),
    _game("a small board, 3 players, middle seat", Trial(players=3, seat=1, deal=4)),
    _game("a small board, 3 players, last seat", Trial(players=3, seat=2, deal=5)),
    _game("bird, 4 players, first seat", Trial(players=4, seat=0, board="bird", deal=4)),
    _game("a small board, 4 players, second seat", Trial(players=4, seat=1, deal=5)),
    _game("a small board, 4 players, third seat", Trial(players=4, seat=2, deal=6)),
    _game("bird, 4 players, last seat", Trial(players=4, seat=3, board="bird", deal=7)),
    _game("lion, 2 players, moves first", Trial(players=2, seat=0, board="lion", deal=2)),
    _game("lion, 2 players, moves second", Trial(players=2, seat=1, board="lion", deal=3)),
    _game("lion, 3 players", Trial(players=3, seat=1, board="lion", deal=4)),
    _game("lion, 4 players", Trial(players=4, seat=2, board="lion", deal=6)),
    _game("a small board that fills up, with passes", Trial(players=3, seat=1, deal=4)),
    _game("26 x 26 squares, until no tiles are left", Trial(players=2, seat=0, board="large")),
    _game(
        "another player forfeits: three players go on as two",
        Trial(players=3, seat=1, board="bird", leavers=1, deal=4),
    ),
    _game(
        "two others forfeit: four players go on as two",
        Trial(players=4, seat=2, board="bird", leavers=2, deal=6),
    ),
    _game(
        "the only other player forfeits: the game ends early",
        Trial(players=2, seat=1, board="bird", leavers=1, deal=3),
    ),
    _game("a game with a bank", Trial(players=2, seat=1, has_bank=True)),
    TableStep("twenty more games in the same process", _plays_many),
    TableStep("the same seed gives the same game", _repeats_itself),
    TableStep("silent between games", _is_quiet_after_a_game, SEE_ASKED, is_apart=True),
    TableStep("answers in time", _was_in_time),
    TableStep(
        "stays within its memory", _is_within_memory, "use less, or raise memory_mb in bot.toml"
    ),
    TableStep(
        "not too much on stderr",
        _logs_little,
        "log less: after 64 MiB in one game, the bot cannot write any more",
    ),
    TableStep("notes within their limits", _sends_notes_that_fit),
    TableStep(
        "options at their least and at their most",
        _plays_with_other_options,
        "P10.3: play with every value that bot.toml allows, or narrow the range there",
        is_apart=True,
    ),
    _variant("fields it does not know", SEE_TYPES, partial(Unusual, change=with_unknown_fields)),
    _variant("messages of a type it does not know", SEE_TYPES, partial(Unusual, stranger=STRANGER)),
    _variant(
        "fields in another order, with spaces between",
        SEE_LINES,
        partial(Unusual, change=in_another_order, separators=(" , ", " : ")),
    ),
    _variant(
        "ids that jump, up to the largest",
        "P2.2: repeat the id exactly, a whole number below 2^53",
        partial(BotPlayer, speech=JUMPING),
    ),
    _variant("lines that arrive in pieces", SEE_LINES, partial(BotPlayer, speech=IN_PIECES)),
    _variant(
        "lines that arrive one by one",
        "P6.1: 'played' may come at any time before the next turn",
        partial(Unusual, is_prompt=True),
    ),
    _variant(
        "a long pause before a turn",
        "P8.3: do not rely on time between turns",
        partial(Unusual, is_prompt=True, pause_s=PAUSE_S),
    ),
    _variant(
        "a new process for a game",
        "P3.3: with fresh = true, every game gets a new process",
        BotPlayer,
    ),
    _end("when its input ends before hello", lambda _, player: player.open()),
    # Bench.start queues the start of the game; with send=False it is not sent.
    _end("when its input ends after ready", Bench.start, send=False),
    _end("when its input ends in a game", Bench.start),
    _end("when its input ends in its turn", ask_for_a_move),
    _end("after quit", _play_and_quit, close=False),
    _end(
        "when its input ends between games", lambda bench, player: bench.game(Trial(2, 0), player)
    ),
)
