"""The steps of a check, in order."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from arena.match.checks import steps, variants
from arena.match.checks.bench import SMALL, Bench, Trial
from arena.match.checks.step import Found
from arena.players.bot import BotPlayer
from arena.players.folder import Bot
from arena.players.player import Player
from arena.players.sandbox.tiers import Sandbox
from arena.rules.boards import Board, built_in

FILES = "bot.toml, files, program and build"
LARGE = Board("large", ("R" + "." * 25, *["." * 12 + "VY" + "." * 12] * 24, "." * 25 + "B"))

SEE_TYPES = "P1.4: ignore fields and message types that the bot does not know"
SEE_LINES = "P1.1: read up to the newline, however the bytes arrive, and parse the line as JSON"
SEE_END = (
    "P3.5: leave the loop when stdin ends or 'quit' comes, and stop everything the bot started"
)


class TableStep(NamedTuple):
    """A step: ``run`` returns what it has to say or raises Failed. If an ``is_vital`` step fails,
    the rest is pointless: ``needed_for`` says why.
    """

    name: str
    run: Callable[[Bench], str | Found]
    cure: str = ""
    is_vital: bool = False
    needed_for: str = ""


def _game(name: str, board: str, players: int, seat: int, leavers: int = 0) -> TableStep:
    return TableStep(
        name,
        partial(
            steps.plays,
            place=lambda: Trial(
                SMALL if board == SMALL.name else built_in(board),
                players,
                seat,
                leavers,
                deal=players + seat,
            ),
        ),
    )


def _variant(name: str, make: Callable[[Bot, int, Sandbox], Player], cure: str) -> TableStep:
    return TableStep(name, partial(steps.understands, make=make), cure)


def _end(name: str, run: Callable[[Bench], str]) -> TableStep:
    return TableStep(name, run, SEE_END)


STEPS = (
    TableStep(
        "the times in bot.toml fit into this check's",
        steps.has_the_time_it_asks_for,
        "check with a longer --move-ms",
    ),
    TableStep(
        "starts and answers hello",
        steps.starts,
        is_vital=True,
        needed_for="they need a bot that answers hello",
    ),
    TableStep(
        "nothing on stdout before it is asked",
        steps.waits_for_hello,
        "P2.3: write to stdout only when asked; log to stderr",
    ),
    TableStep(
        "a complete game", partial(steps.plays, place=lambda: Trial(SMALL, 2, 0, is_full=True))
    ),
    _game("bird, 2 players, moves first", "bird", 2, 0),
    _game("bird, 2 players, moves second, in the same process", "bird", 2, 1),
    _game("bird, 3 players, first seat", "bird", 3, 0),
    _game("a small board, 3 players, middle seat", "small", 3, 1),
    _game("a small board, 3 players, last seat", "small", 3, 2),
    _game("bird, 4 players, first seat", "bird", 4, 0),
    _game("a small board, 4 players, second seat", "small", 4, 1),
    _game("a small board, 4 players, third seat", "small", 4, 2),
    _game("bird, 4 players, last seat", "bird", 4, 3),
    _game("lion, 2 players, moves first", "lion", 2, 0),
    _game("lion, 2 players, moves second", "lion", 2, 1),
    _game("lion, 3 players", "lion", 3, 1),
    _game("lion, 4 players", "lion", 4, 2),
    TableStep(
        "a small board that fills up, with passes",
        partial(steps.plays, place=lambda: Trial(SMALL, 3, 1, deal=4)),
    ),
    TableStep(
        "26 x 26 squares, until no tiles are left",
        partial(steps.plays, place=lambda: Trial(LARGE, 2, 0)),
    ),
    _game("another player forfeits: three players go on as two", "bird", 3, 1, leavers=1),
    _game("two others forfeit: four players go on as two", "bird", 4, 2, leavers=2),
    _game("the only other player forfeits: the game ends early", "bird", 2, 1, leavers=1),
    TableStep(
        "a game with a bank", partial(steps.plays, place=lambda: Trial(SMALL, 2, 1, has_bank=True))
    ),
    TableStep("twenty more games in the same process", steps.plays_many),
    TableStep("the same seed gives the same game", steps.repeats_itself),
    TableStep(
        "silent between games",
        steps.is_quiet_after_a_game,
        "P2.3: answer each request once; log to stderr",
    ),
    TableStep("answers in time", steps.was_in_time),
    TableStep(
        "stays within its memory",
        steps.is_within_memory,
        "use less, or raise memory_mb in bot.toml",
    ),
    TableStep(
        "not too much on stderr",
        steps.logs_little,
        "log less: after 64 MiB in one game, the bot cannot write any more",
    ),
    TableStep("notes within their limits", steps.sends_notes_that_fit),
    TableStep(
        "options at their least and at their most",
        steps.plays_with_other_options,
        "P10.3: play with every value that bot.toml allows, or narrow the range there",
    ),
    _variant(
        "fields it does not know",
        partial(variants.Changed, change=variants.with_unknown_fields),
        SEE_TYPES,
    ),
    _variant("messages of a type it does not know", variants.WithStrangers, SEE_TYPES),
    _variant(
        "fields in another order, with spaces between",
        partial(variants.Changed, change=variants.in_another_order, separators=(" , ", " : ")),
        SEE_LINES,
    ),
    _variant(
        "ids that jump, up to the largest",
        variants.with_jumping_ids,
        "P2.2: repeat the id exactly, a whole number below 2^53",
    ),
    _variant("lines that arrive in pieces", variants.in_pieces, SEE_LINES),
    _variant(
        "lines that arrive one by one",
        variants.LineByLine,
        "P6.1: 'played' may come at any time before the next turn",
    ),
    _variant(
        "a long pause before a turn", variants.WithPause, "P8.3: do not rely on time between turns"
    ),
    _variant(
        "a new process for a game",
        BotPlayer,
        "P3.3: with fresh = true, every game gets a new process",
    ),
    _end("exits when its input ends before hello", steps.ends_before_hello),
    _end("exits when its input ends after ready", steps.ends_after_ready),
    _end("exits when its input ends in a game", steps.ends_in_a_game),
    _end("exits when its input ends in its turn", steps.ends_in_a_turn),
    _end("exits after quit", steps.quits),
    _end("exits when its input ends between games", steps.ends_after_a_game),
)
