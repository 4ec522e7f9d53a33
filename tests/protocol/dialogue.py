"""Dialogues written in a document, played against the real referee.

A block starts with settings, ``name value`` a line, then a blank line, then the dialogue: ``>``
from the arena, ``<`` from the bot, ``> ...`` any lines, ``!`` something that the bot does, ``*`` a
note that the record keeps, ``=`` how it ends. A shown line of the arena may leave fields out. The
settings ``options`` and ``set`` are what the bot.toml declares, and what the user sets; ``past``
are the moves of a game that this one goes on from.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

from arena.match.referee import GamePlan, Referee
from arena.players.bot import BotPlayer
from arena.players.folder import Bot, with_options
from arena.players.labels import timing_for
from arena.players.manifest import Manifest, read_options
from arena.players.player import InProcessPlayer, first_move
from arena.records.timing import Timing
from arena.rules.boards import BUILT_IN, built_in, parse_board
from arena.rules.notation import COPIES, TILES, deck_text
from tests.rules.positions import read_hand

SCRIPTED = Path(__file__).with_name("scripted.py")


def blocks(text, kind):
    """The fenced blocks of a kind, each with the number of its first line."""
    fences = re.finditer(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)
    return [(text[: match.start()].count("\n") + 2, match[1]) for match in fences]


def parse(block):
    """(settings, lines) of a dialogue block."""
    head, _, body = (
        block.partition("\n\n") if not block.startswith((">", "<", "!")) else ("", "", block)
    )
    settings = dict(line.split(" ", 1) for line in head.splitlines())
    return settings, [line for line in body.splitlines() if line]


def full_deck(start):
    """A whole deck that begins with the given tiles."""
    first = list(read_hand(start))
    rest = [tile for tile in range(len(TILES)) for _ in range(COPIES - first.count(tile))]
    return deck_text((*first, *rest))


def script_of(lines):
    """What the scripted bot does, request by request."""
    script = [[]]
    for line in lines:
        if line.startswith(">") and '"id"' in line:
            script.append([])
        elif line.startswith(("<", "!")):
            script[-1].append(line)
    return script


def play(block, folder):
    """Plays a dialogue; returns the lines the bot read, as objects, the game's record, the
    dialogue's lines and the bot's seat.
    """
    settings, lines = parse(block)
    heard, record, seat = play_script(settings, script_of(lines), folder)
    return [json.loads(line) for line in heard], record, lines, seat


def play_script(settings, actions, folder, others=first_move):
    """Plays a script; returns the lines the bot read, the game's record and the bot's seat."""
    script, notes = folder / "script.json", folder / "notes.txt"
    script.write_text(json.dumps(actions))
    notes.write_text("")
    seat, timing = int(settings.get("seat", 0)), timing_of(settings)
    command = [sys.executable, str(SCRIPTED), str(script), str(notes)]
    options = read_options(tomllib.loads(f"told = {settings.get('options', '{}')}")["told"], "")
    manifest = Manifest(name="scripted", command=command, options=options)
    bot = Bot("scripted", manifest, folder, "")
    bot = BotPlayer(
        with_options(bot, settings["set"]) if "set" in settings else bot,
        timing.startup_ms,
        clock=timing.clock,
    )
    try:
        record = play_game(settings, bot, others)
    finally:
        bot.stop()
    return notes.read_text().splitlines(), record, seat


def timing_of(settings):
    return Timing(
        move_ms=int(settings.get("move_ms", 1000)),
        game_ms=int(settings["game_ms"]) if "game_ms" in settings else None,
        increment_ms=int(settings.get("increment_ms", 0)),
        startup_ms=int(settings.get("startup_ms", 5000)),
        clock=settings.get("clock", "cpu"),
    )


def play_game(settings, player, others=first_move):
    """Plays a game of the settings with a player at its seat, and functions at the others; returns
    the record.
    """
    players, seat = int(settings.get("players", 2)), int(settings.get("seat", 0))
    seated = [
        player if at == seat else InProcessPlayer(f"other-{at}", others) for at in range(players)
    ]
    board = board_of(settings)
    deck = full_deck(settings.get("deck", "RR YY BB RY YB RB"))
    names = tuple(player.name for player in seated)
    seeds = tuple(1000 + at for at in range(players))
    past = tuple(settings.get("past", "").split())
    plan = GamePlan("example/0/0", board.name, 0, 0, names, deck, seeds, past)
    timings = [timing_for(name, timing_of(settings)) for name in names]
    return Referee(plan, board, seated, timings).play().record


def board_of(settings):
    text = settings.get("board", "R.../....")
    return built_in(text) if text in BUILT_IN else parse_board("example", text.replace("/", "\n"))


def includes(whole, part):
    """Whether an object has every field that a shown one has, with the same value."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and includes(whole[key], value) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(
            includes(one, other) for one, other in zip(whole, part, strict=True)
        )
    return whole == part


def check_heard(shown, heard):
    """Raises AssertionError unless the lines the bot read are those shown, in order."""
    expected = [line[2:] for line in shown if line.startswith(">")]
    at, skip = 0, False
    for text in expected:
        if text == "...":
            skip = True
            continue
        wanted = json.loads(text)
        if skip:
            while at < len(heard) and not includes(heard[at], wanted):
                at += 1
            skip = False
        assert at < len(heard), f"expected {text}, but the arena said nothing more"
        assert includes(heard[at], wanted), f"expected {text}\n     got {json.dumps(heard[at])}"
        at += 1
    assert skip or at == len(heard), f"the arena also said {heard[at:]}"
