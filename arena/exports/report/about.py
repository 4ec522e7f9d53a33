"""About a run: settings, versions, bots, and the command that repeats it."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.errors import BotFolderError
from arena.exports.report.material import Material
from arena.exports.report.words import shortened
from arena.exports.text import CLOCKS, counted_text
from arena.players.manifest import Manifest, read_manifest
from arena.players.odds import has_odds
from arena.players.options import settings_text
from arena.players.person import YOU
from arena.records.regular import has_folder
from arena.records.runfile import BotInfo, RunInfo
from arena.rules.boards import BUILT_IN
from arena.tournament.config import DEFAULTS, make_config
from arena.tournament.tuning import SEATS

TIMES = ("move_ms", "game_ms", "increment_ms", "startup_ms")
TOLD = ("players", "seatings", "tables", "challenger", *TIMES, "until")
"""The settings that the command names where they are not the defaults."""
FLAGS = ("adaptive", "in_process")
QUESTION = ("elo0", "elo1", "alpha", "beta")
"""The same for the question of a comparison."""
WORDS = 300
HASH = 12


def repeat_command(info: RunInfo, *, seed: str | None) -> str:
    """The command that plays the same games; without a seed it shuffles its own decks."""
    config = info.config
    boards = [str(name) for name in config.get("boards", ())]
    known = [name for name in boards if name in BUILT_IN]
    if config.get("game"):
        return _played(config, seed)
    words = _question(config) or ["arena", "run", *map(str, config.get("bots", ()))]
    match = [str(name) for name in config.get("match") or ()]
    words += (
        ["--match", ",".join(match)] if match else ["--boards", ",".join(known)] if known else []
    )
    words += [
        word for name in boards if name not in BUILT_IN for word in ("--board", f"{name}.txt")
    ]
    words += [] if _question(config) else ["--deals", str(config.get("deals", DEFAULTS["deals"]))]
    words += _options(config, TOLD) + [
        f"--{key.replace('_', '-')}" for key in FLAGS if config.get(key)
    ]
    return shlex.join(words + (["--seed", seed] if seed else []))


def _played(config: dict[str, Any], seed: str | None) -> str:
    """The command that plays a person's game again, on the same tiles."""
    game = make_config(config).game
    assert game is not None, "a game"
    bots = [bot for bot in game.seats if bot != YOU]
    words = ["arena", "play", *bots, "--human", str(game.seats.index(YOU))]
    boards = [str(name) for name in config.get("match") or config["boards"]]
    files = [name if name in BUILT_IN else f"{name}.txt" for name in boards]
    words += ["--match" if config.get("match") else "--board", ",".join(files)]
    words += [*_options(config, TIMES), "--deal", str(game.deal)]
    return shlex.join(words + (["--seed", seed] if seed else []))


def _question(config: dict[str, Any]) -> list[str]:
    """The part of the command of a run that answers a question; empty for a tournament."""
    if config.get("compare"):
        return _compared(config)
    return _tuned(config) if config.get("tune") else []


def _tuned(config: dict[str, Any]) -> list[str]:
    """The part of a search's command that differs from a run's command."""
    tune = make_config(config).tune
    assert tune is not None, "a search"
    ranges = ",".join(
        f"{one.name}={one.text(one.low)}..{one.text(one.high)}" for one in tune.parameters
    )
    games = config["deals"] * len(config["boards"]) * SEATS
    return ["arena", "tune", tune.bot, "--param", ranges, "--games", str(games)]


def _compared(config: dict[str, Any]) -> list[str]:
    """The part of a comparison's command that differs from a run's command."""
    asked = config["compare"]
    pair = [str(asked["new"]), str(asked["old"])]
    pool = sorted(str(name) for name in config.get("bots", ()) if name not in pair)
    return [
        "arena",
        "compare",
        *pair,
        *(["--pool", ",".join(pool)] if pool else []),
        *_options(asked, QUESTION),
    ]


def _options(config: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Those of the options that differ from the defaults."""
    told = {key: config.get(key, DEFAULTS[key]) for key in names}
    return [
        word
        for key, value in told.items()
        if value != DEFAULTS[key]
        for word in (f"--{key.replace('_', '-')}", f"{value}")
    ]


def bots_of(material: Material) -> list[dict[str, Any]]:
    """The bots of the run with the details from their bot.toml, best first."""
    known = {bot.name: bot for bot in material.info.bots}
    return [_bot(material.folder, known[name]) for name in material.bots if name in known]


def _bot(folder: Path, bot: BotInfo) -> dict[str, Any]:
    manifest = _manifest(folder, bot)
    return {
        "name": bot.name,
        "version": bot.version,
        "hash": bot.sha256[:HASH],
        "command": shlex.join(bot.command),
        "options": shortened(settings_text(bot.options).replace(",", ", "), WORDS),
        "author": shortened(manifest.author, WORDS) if manifest else "",
        "language": shortened(manifest.language, WORDS) if manifest else "",
        "description": shortened(manifest.description, WORDS) if manifest else "",
    }


def _manifest(folder: Path, bot: BotInfo) -> Manifest | None:
    """The manifest in the run's copy of the bot; None if it is gone."""
    try:
        return read_manifest(folder / bot.copy) if has_folder(folder, bot.copy) else None
    except (BotFolderError, OSError, ValueError):
        return None


def settings_of(material: Material) -> list[tuple[str, str]]:
    """Settings and versions as pairs of label and value."""
    info, config = material.info, material.info.config
    bank = (
        f"{config['game_ms']} ms per game + {config.get('increment_ms', 0)} ms per move"
        if config.get("game_ms")
        else "none"
    )
    return [
        ("Started", info.started),
        ("Last game ended", material.scan.last or "no game yet"),
        ("Players per game", str(config.get("players", 2))),
        ("Boards", ", ".join(info.boards)),
        ("What counts", counted_text(material.tables)),
        (
            "Deals per match" if config.get("match") else "Deals per board",
            str(config.get("deals", "?")),
        ),
        ("Seatings", str(config.get("seatings", "?"))),
        (
            "Move time",
            (
                "no limit (built-in bots)"
                if config.get("in_process")
                else f"{config.get('move_ms', '?')} ms"
            ),
        ),
        ("Bank", bank),
        *_own_limits(info),
        ("Time is", CLOCKS.get(info.clock, "-")),
        ("Sandbox at the start", info.sandbox),
        (
            "Sandbox used, by games",
            ", ".join(
                f"{tier}: {games:,}" for tier, games in sorted(material.scan.sandboxes.items())
            )
            or "-",
        ),
        *(
            ("Allowed beyond the sandbox", f"{bot.name}: {', '.join(bot.grants)}")
            for bot in info.bots
            if bot.grants
        ),
        ("arena", info.arena),
        ("Protocol", str(info.protocol)),
        ("Rules core", f"{info.rules_core}, revision {info.rules_revision}"),
    ]


def _own_limits(info: RunInfo) -> list[tuple[str, str]]:
    """The bots whose names set limits of their own, if there are any."""
    named = [bot.name for bot in info.bots if has_odds(bot.name)]
    return [("Limits of their own", ", ".join(named))] if named else []
