"""arena bots: the bots that have a name."""

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli.options import as_json
from arena.cli.terminal import columns_of, folded
from arena.commands.folders import registry_of
from arena.errors import UserError, printable
from arena.exports.text import columns_text
from arena.players.staging import lack


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also list old versions, as NAME@VERSION.")
@as_json
@click.pass_obj
def bots(home: Path, /, *, everything: bool, as_json: bool) -> None:
    """List your bots and the ladder. These are the bots you can call by name: yours in bots/, then
    the ladder, which comes with the arena.

    A bot of yours hides the ladder bot of the same name. If a program needed to start a bot is
    missing, the list says which. Set ARENA_LADDER=off in the environment to hide the ladder from
    every command.

    \b
    arena bots
    arena bots --all --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    registry, rows = registry_of(home), []
    for label in registry.labels():
        if "@" in label and not everything:
            continue
        try:
            bot = registry.get(label)
        except UserError as error:
            click.echo(
                f"warning: {printable(label)} is left out: {printable(str(error))}", err=True
            )
            continue
        manifest = bot.manifest
        row = {
            "bot": label,
            "version": str(manifest.version),
            "language": manifest.language,
            "author": manifest.author,
        }
        about = {"description": manifest.description, "missing": lack(bot)[0], "sha256": bot.sha256}
        rows.append({**row, **about, "ladder": registry.is_of_ladder(label)})
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2))
    elif not rows:
        click.echo(
            f"no bots in {registry.root}: add one with 'arena submit', or start one with 'arena"
            " new'",
            err=True,
        )
    else:
        columns = ("Bot", "Version", "From", "Language", "Description")
        table = columns_text(columns, [_shown(row) for row in rows], left=columns)
        click.echo(folded(table, columns_of(sys.stdout), indent=" " * table.index(columns[-1])))


def _shown(row: dict[str, Any]) -> tuple[str, ...]:
    """A bot's row of the table."""
    place = "ladder" if row["ladder"] else "bots/"
    return (
        row["bot"],
        row["version"],
        place,
        row["language"],
        row["missing"] or row["description"],
    )
