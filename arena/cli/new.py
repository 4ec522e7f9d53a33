"""arena new: a starter bot to change."""

from importlib.resources import files
from pathlib import Path

import click

LANGUAGES = ("python", "js")
TEMPLATES = {"first": LANGUAGES, "montecarlo": ("python",)}
"""What can be begun with, and in which languages; the files are in starters/LANGUAGE or, but for the first, starters/LANGUAGE-TEMPLATE."""


@click.command(short_help="Write a starter bot.")
@click.argument("name")
@click.option("--language", type=click.Choice(LANGUAGES), default="python", show_default=True, help="What it is written in.")
@click.option("--template", type=click.Choice(tuple(TEMPLATES)), default="first", show_default=True, help="What to begin with.")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="The folder to make.  [default: one of that name here]")
def new(name: str, language: str, template: str, folder: Path | None) -> None:
    """Write a starter bot that plays legally: a folder with bot.toml and one source file, to be changed.

    The template 'first' looks one move ahead, or picks any; 'montecarlo' plays games to the end until its time is up.

    \b
    arena new my-bot
    arena new searcher --template montecarlo
    arena new my-bot --language js --to ideas/my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.errors import UserError  # noqa: PLC0415 - help must not wait for these
    from arena.players.manifest import check_name  # noqa: PLC0415

    check_name(name, "NAME")
    if language not in TEMPLATES[template]:
        known = " or ".join(TEMPLATES[template])
        raise UserError(f"expected --language {known} for the template {template}, got {language}", "leave --template out for a first bot")
    target = folder or Path(name)
    if target.exists():
        raise UserError(f"expected a folder that does not exist yet, got {target}", "choose another name, or --to another folder")
    try:
        target.mkdir(parents=True)
        source = files("arena.cli").joinpath("starters", language if template == "first" else f"{language}-{template}")
        for file in sorted(source.iterdir(), key=lambda file: file.name):
            (target / file.name).write_text(file.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
            click.echo(f"wrote {target / file.name}", err=True)
    except OSError as error:
        raise UserError(f"expected to write into {target}, got {error}") from error
    click.echo(f"now change it, then: arena check {target if '/' in str(target) else f'./{target}'}", err=True)
