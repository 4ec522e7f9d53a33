"""arena new: a starter bot to change."""

from importlib.resources import files
from pathlib import Path

import click

LANGUAGES = ("python", "js")


@click.command(short_help="Write a starter bot.")
@click.argument("name")
@click.option("--language", type=click.Choice(LANGUAGES), default="python", show_default=True, help="What it is written in.")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="The folder to make.  [default: one of that name here]")
def new(name: str, language: str, folder: Path | None) -> None:
    """Write a starter bot that plays legally: a folder with bot.toml and one source file, to be changed.

    \b
    arena new my-bot
    arena new my-bot --language js --to ideas/my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.errors import UserError  # noqa: PLC0415 - help must not wait for these
    from arena.players.manifest import check_name  # noqa: PLC0415

    check_name(name, "NAME")
    target = folder or Path(name)
    if target.exists():
        raise UserError(f"expected a folder that does not exist yet, got {target}", "choose another name, or --to another folder")
    try:
        target.mkdir(parents=True)
        for template in sorted(files("arena.cli").joinpath("starters", language).iterdir(), key=lambda file: file.name):
            (target / template.name).write_text(template.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
            click.echo(f"wrote {target / template.name}", err=True)
    except OSError as error:
        raise UserError(f"expected to write into {target}, got {error}") from error
    click.echo(f"now change it, then: arena check {target if '/' in str(target) else f'./{target}'}", err=True)
