"""arena bots: lists the bots that have a name, and the options of one."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli.completion import complete_bots
from arena.cli.options import as_json, tell_json
from arena.cli.terminal import columns_of, say, tell
from arena.commands.bots import bot_finder, registry_of
from arena.commands.home import results_folder
from arena.commands.permissions import own_words
from arena.commands.runs import Rated, latest_ratings
from arena.errors import UserError, printable
from arena.exports.grid import GAP, MISSING, columns_text, padded, width_of
from arena.players.folder import Bot
from arena.players.manifest import ARENA_OPTIONS, Option
from arena.players.player import is_built_in
from arena.players.registry import Registry
from arena.players.staging import lack
from arena.tournament.runs import list_runs
from arena.tournament.settings import read_own_config
from arena.values import value_text

ROOM = 24
"""The smallest width of the last column of a table."""
SPARE = ("Type", "Language", "From", "Games", "Version")
"""Columns that are left out first on a narrow terminal."""
HEADS = ("Bot", "Version", "From", "Language", "Elo", "Games", "Description")
"""The heads of the table of bots."""


@click.command()
@click.argument("bot", required=False, shell_complete=complete_bots)
@click.option("--all", "everything", is_flag=True, help="Also list old versions, as NAME@VERSION.")
@as_json
@click.pass_obj
def bots(home: Path, /, bot: str | None, *, everything: bool, as_json: bool) -> None:
    """List your bots and the ladder. With BOT, list the options of that one.

    The bots are those you can call by name: yours in bots/, then the ladder, which comes with the
    arena. Elo is the latest rating of exactly these files; Games says how many games it comes from,
    and in which run.

    A bot of yours hides the ladder bot of the same name. If a program needed to start a bot is
    missing, the list says which. Set ARENA_LADDER=off in the environment to hide the ladder from
    every command.

    BOT is the name of a bot or the path of its folder. Its options can be set wherever you name the
    bot, as in my-bot:depth=5,move_ms=50.

    \b
    arena bots
    arena bots --all --json
    arena bots ./my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    if bot is None:
        latest = latest_ratings(list_runs(results_folder(home)))
        _list(registry_of(home), latest, everything=everything, as_json=as_json)
    elif everything:
        raise click.UsageError("a bot and --all cannot be combined")
    else:
        _describe(bot_finder(home, say)(bot), as_json=as_json)


def _list(
    registry: Registry, latest: Mapping[tuple[str, str], Rated], *, everything: bool, as_json: bool
) -> None:
    """Prints the table of bots, or their list as JSON; ``latest`` has the latest rating of each bot
    by label and hash. With ``everything``, old versions are listed, too.
    """
    rows = list[dict[str, Any]]()
    shown = list[tuple[str, ...]]()
    is_rated = False
    for label in registry.labels():
        if "@" in label and not everything:
            continue
        try:
            bot = registry.get(label)
        except UserError as error:
            say(f"warning: {printable(label)} is left out: {printable(str(error))}")
            continue
        rated = latest.get((bot.label, bot.sha256))
        ladder = registry.is_of_ladder(label)
        row = {**_about(bot), "ladder": ladder, "rating": rated and rated.object()}
        rows.append(row)
        is_rated |= rated is not None
        rating = (rated.text, f"{rated.games} in {rated.run}") if rated else (MISSING, MISSING)
        place = "ladder" if ladder else "bots/"
        text = row["missing"] or row["description"]
        shown.append((bot.label, row["version"], place, row["language"], *rating, text))
    if as_json:
        tell_json(rows)
    elif not rows:
        cure = "add one with 'arena submit', or start one with 'arena new'"
        say(f"no bots in {registry.root}: {cure}")
    else:
        _print_table(HEADS, shown, without=() if is_rated else ("Elo", "Games"))
        for row in rows:
            _tell_allowed(row)


def _about(bot: Bot) -> dict[str, Any]:
    """What ``--json`` says about a bot."""
    manifest = bot.manifest
    return {
        "bot": bot.label,
        "version": str(manifest.version),
        "language": manifest.language,
        "author": manifest.author,
        "description": manifest.description,
        "missing": "" if is_built_in(bot) else lack(bot)[0],
        "sha256": bot.sha256,
        "allowed": own_words(read_own_config(), bot),
    }


def _tell_allowed(about: dict[str, Any]) -> None:
    """Prints what the user's own configuration allows a bot, if anything. ``about`` comes from
    `_about`.
    """
    if words := ", ".join(about["allowed"]):
        tell(printable(f"{about['bot']} is allowed {words} by your own configuration"))


def _describe(bot: Bot, *, as_json: bool) -> None:
    """Prints one bot with its options."""
    arena = {} if is_built_in(bot) else ARENA_OPTIONS
    about = _about(bot)
    declared = bot.manifest.options
    if as_json:
        own = [_option_object(name, option, bot) for name, option in declared.items()]
        every = [_option_object(name, option, bot) for name, option in arena.items()]
        tell_json({**about, "options": own, "every_bot": every})
        return
    heading = [bot.label, f"version {bot.manifest.version}", bot.manifest.description]
    tell(printable(", ".join(filter(None, heading))))
    _tell_allowed(about)
    if not declared:
        click.echo("It has no options of its own." if arena else "It has no options.")
    options = [*declared.items(), *arena.items()]
    rows = [_option_row(name, option, bot) for name, option in options]
    if rows:
        click.echo()
        columns = ("Option", "Type", "Default", "Here", "Range", "Help")
        _print_table(columns, rows, without=() if bot.settings else ("Here",))


def _option_object(name: str, option: Option, bot: Bot) -> dict[str, Any]:
    """A bot's option as an object for JSON."""
    return {
        "name": name,
        **msgspec.to_builtins(option),
        "default": option.usual,
        "value": bot.settings.get(name, option.usual),
    }


def _option_row(name: str, option: Option, bot: Bot) -> tuple[str, ...]:
    """The row of an option in the table of a bot's options."""
    usual = bot.manifest.memory_mb if name == "memory_mb" else option.usual
    default = "the run's" if usual is None else value_text(usual)
    here = value_text(bot.settings[name]) if name in bot.settings else default
    words = ": ".join(filter(None, [option.help, ", ".join(option.choices)]))
    return (name, option.type, default, here, option.range, words)


def _print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], without: Sequence[str]
) -> None:
    """Prints a table whose last column is folded into the width that is left. Columns in
    ``without`` are left out.
    """
    kept: dict[str, Sequence[str]] = {}
    for column, cells_of_column in zip(columns, zip(*rows, strict=True), strict=True):
        if column not in without:
            kept[column] = cells_of_column
    *heads, last_head = kept
    *cells, last_cells = kept.values()
    width = columns_of(sys.stdout)
    table = columns_text(
        heads,
        list(zip(*cells, strict=True)),
        heads,
        width and max(width - ROOM, 0),
        names=("Bot",),
        spare=SPARE,
    ).split("\n")
    indent = max(map(width_of, table)) + len(GAP)
    lines = []
    for line, last in zip(table, [last_head, *last_cells], strict=True):
        lines.append(f"{padded(line, indent)}{printable(last)}".rstrip())
    tell("\n".join(lines), " " * indent)
