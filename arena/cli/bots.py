"""arena bots: what is registered."""

from pathlib import Path

import click
import msgspec

from arena.cli.options import as_json, bots_folder
from arena.errors import printable


@click.command(short_help="List the bots in bots/.")
@click.option("--all", "everything", is_flag=True, help="Old versions too, as name@version.")
@as_json
@click.pass_obj
def bots(home: Path, /, *, everything: bool, as_json: bool) -> None:
    """List the bots in bots/, each with its version and what is missing to start it.

    \b
    arena bots
    arena bots --all --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.errors import UserError  # noqa: PLC0415 - help must not wait for these
    from arena.exports.text import columns_text  # noqa: PLC0415
    from arena.players.folder import lack  # noqa: PLC0415
    from arena.players.registry import Registry  # noqa: PLC0415

    registry, rows = Registry(bots_folder(home)), []
    for label in registry.labels():
        if "@" in label and not everything:
            continue
        try:
            bot = registry.get(label)
        except UserError as error:
            click.echo(f"warning: {printable(label)} is left out: {printable(str(error))}", err=True)
            continue
        manifest = bot.manifest
        row = {"bot": label, "version": str(manifest.version), "language": manifest.language, "author": manifest.author}
        rows.append({**row, "description": manifest.description, "missing": lack(bot)[0], "sha256": bot.sha256})
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2))
    elif not rows:
        click.echo(f"no bots in {registry.root}: add one with 'arena submit', or start one with 'arena new'", err=True)
    else:
        table = [(row["bot"], row["version"], row["language"], row["missing"] or row["description"]) for row in rows]
        click.echo(columns_text(("Bot", "Version", "Language", "Description"), table, left=("Bot", "Version", "Language", "Description")))
