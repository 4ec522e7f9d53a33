"""arena submit: checks a bot and copies it into the registry."""

from pathlib import Path

import click

from arena.cli.main import DONE, FAILED
from arena.cli.options import Walls, bots_folder, move_ms_option, sandbox_options, split_words


@click.command(short_help="Check a bot and add it to bots/.")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--name", help="Its name in the registry.  [default: from bot.toml, or the script's name]")
@click.option(
    "--command", callback=split_words, metavar="'PROGRAM ARG...'", help="How to start it.  [default: from bot.toml, or by the ending]"
)
@click.option("--no-check", is_flag=True, help="Register it even if it does not play by the protocol.")
@move_ms_option
@sandbox_options
@click.pass_obj
def submit(home: Path, /, path: Path, name: str | None, command: list[str] | None, move_ms: int, *, no_check: bool, walls: Walls) -> int:
    """Check a bot and copy it into bots/: PATH is a folder with a bot.toml, or a single script.

    Changed content under a known name becomes its next version; the old one stays playable as NAME@VERSION.

    \b
    arena submit my-bot
    arena submit ideas/best.py --name second-try
    arena submit ./engine --name engine --command './engine --fast'
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.cli.check import run_checks  # noqa: PLC0415 - help must not wait for these
    from arena.players.folder import bot_at  # noqa: PLC0415
    from arena.players.registry import Registry  # noqa: PLC0415

    bot = bot_at(path, name=name, command=command)
    registry = Registry(bots_folder(home))
    if not no_check and not run_checks(bot, move_ms, walls.choose([bot]), only_failures=True):
        click.echo(f"error: {bot.label} is not registered: it fails the check above", err=True)
        click.echo(f"hint: see it all with 'arena check {path}', or register it as it is with --no-check", err=True)
        return FAILED
    registered, changed = registry.register(bot)
    version = registered.manifest.version
    if changed:
        click.echo(f"{registered.label} is registered as version {version} in {registered.folder}")
    else:
        click.echo(f"{registered.label} is registered already, with the same content, as version {version}")
    return DONE
