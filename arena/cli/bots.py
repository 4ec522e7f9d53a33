"""arena bots: the bots that have a name, and the options of one."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli.options import as_json
from arena.cli.showing import tell_json
from arena.cli.terminal import columns_of, say, tell
from arena.commands.allowing import own_words
from arena.commands.bots import bot_finder
from arena.commands.folders import registry_of, results_folder
from arena.commands.rated import Rated, latest_ratings
from arena.errors import UserError, printable
from arena.exports.grid import GAP, columns_text
from arena.exports.text import MISSING
from arena.exports.width import padded, width_of
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.players.options import ARENA_OPTIONS, Option, Value, value_text
from arena.players.registry import Registry
from arena.players.staging import lack
from arena.tournament.own import read_own_config
from arena.tournament.session import list_runs

ROOM = 24
"""The last column of a table gets so much of a narrow terminal."""
SPARE = ("Type", "Language", "From", "Games", "Version")
RATING = ("Elo", "Games")


@click.command()
@click.argument("bot", required=False)
@click.option("--all", "everything", is_flag=True, help="Also list old versions, as NAME@VERSION.")
@as_json
@click.pass_obj
def bots(home: Path, /, bot: str | None, *, everything: bool, as_json: bool) -> None:
    """List your bots and the ladder. With BOT, list the options of that one.

    The bots are those you can call by name: yours in bots/, then the ladder, which comes with the
    arena. Elo is the latest rating of these very files, from so many games in that run.

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
        raise click.UsageError("expected a bot or --all, got both")
    else:
        _describe(bot_finder(home, say, in_process=False)(bot), as_json=as_json)


def _list(
    registry: Registry, latest: Mapping[tuple[str, str], Rated], *, everything: bool, as_json: bool
) -> None:
    rows, told = [], dict[str, Rated | None]()
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
        rows.append({**_about(bot), "ladder": ladder, "rating": rated and rated.object()})
        told[bot.label] = rated
    if as_json:
        _print_json(rows)
    elif not rows:
        say(
            f"no bots in {registry.root}: add one with 'arena submit', or start one with 'arena"
            " new'"
        )
    else:
        is_rated = any(told.values())
        columns = ("Bot", "Version", "From", "Language", *RATING * is_rated, "Description")
        _print_table(columns, [_shown(row, told[row["bot"]], is_rated=is_rated) for row in rows])
        _print_allowed(rows)


def _about(bot: Bot) -> dict[str, Any]:
    """What there is to say of a bot."""
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


def _print_allowed(rows: list[dict[str, Any]]) -> None:
    """What the user's own configuration lets these bots do beyond the sandbox."""
    for row in rows:
        if row["allowed"]:
            words = ", ".join(row["allowed"])
            tell(printable(f"{row['bot']} is allowed {words} by your own configuration"))


def _shown(row: dict[str, Any], rated: Rated | None, *, is_rated: bool) -> tuple[str, ...]:
    """A bot's row of the table, with its rating if any bot of the list is rated."""
    rating = (rated.text, f"{rated.games} in {rated.run}") if rated else (MISSING, MISSING)
    place = "ladder" if row["ladder"] else "bots/"
    return (
        row["bot"],
        row["version"],
        place,
        row["language"],
        *rating * is_rated,
        row["missing"] or row["description"],
    )


def _describe(bot: Bot, *, as_json: bool) -> None:
    """One bot with its options."""
    arena = {} if is_built_in(bot) else ARENA_OPTIONS
    declared = bot.manifest.options
    if as_json:
        own, every = (_listed(options, bot.settings) for options in (declared, arena))
        _print_json({**_about(bot), "options": own, "every_bot": every})
        return
    about = [bot.label, f"version {bot.manifest.version}", bot.manifest.description]
    tell(printable(", ".join(filter(None, about))))
    _print_allowed([_about(bot)])
    if not declared:
        click.echo("It has no options of its own." if arena else "It has no options.")
    rows = [_option_row(name, option, bot) for name, option in [*declared.items(), *arena.items()]]
    if rows:
        is_set = bool(bot.settings)
        columns = ("Option", "Type", "Default", *["Here"] * is_set, "Range", "Help")
        click.echo()
        _print_table(columns, [row if is_set else (*row[:3], *row[4:]) for row in rows])


def _listed(options: Mapping[str, Option], settings: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            **msgspec.to_builtins(option),
            "default": option.usual,
            "value": settings.get(name, option.usual),
        }
        for name, option in options.items()
    ]


def _option_row(name: str, option: Option, bot: Bot) -> tuple[str, ...]:
    usual = bot.manifest.memory_mb if name == "memory_mb" else option.usual
    default = "the run's" if usual is None else value_text(usual)
    here = value_text(bot.settings[name]) if name in bot.settings else default
    words = ": ".join(filter(None, [option.help, ", ".join(option.choices)]))
    return (name, option.type, default, here, option.range, words)


def _print_table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Prints a table whose last column is folded, with room for it."""
    width = columns_of(sys.stdout)
    *heads, last = columns
    room = width and max(width - ROOM, 0)
    begun = columns_text(
        heads, [row[:-1] for row in rows], heads, room, names=("Bot",), spare=SPARE
    ).split("\n")
    indent = max(map(width_of, begun)) + len(GAP)
    lines = zip(begun, (last, *(row[-1] for row in rows)), strict=True)
    tell(
        "\n".join(f"{padded(line, indent)}{printable(text)}".rstrip() for line, text in lines),
        " " * indent,
    )


def _print_json(value: Any) -> None:
    tell_json(value)
