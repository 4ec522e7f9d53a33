"""arena new: a starter bot to change."""

import shlex
from importlib.resources import files
from pathlib import Path

import click

LANGUAGES = ("python", "js", "c", "cpp", "rust", "java")
TEMPLATES = {"first": LANGUAGES, "plain": ("python",), "montecarlo": ("python",)}
"""What can be begun with, and in which languages. The files are in starters/LANGUAGE or, but for the first, starters/LANGUAGE-TEMPLATE."""


@click.command(short_help="Write a starter bot.")
@click.argument("name")
@click.option("--language", type=click.Choice(LANGUAGES), default="python", show_default=True, help="What it is written in.")
@click.option("--template", type=click.Choice(tuple(TEMPLATES)), default="first", show_default=True, help="What to begin with.")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="The folder to make.  [default: one of that name here]")
def new(name: str, language: str, template: str, folder: Path | None) -> None:
    """Write a starter bot that plays legally: a folder with bot.toml and one source file, to be changed.

    The template 'first' needs nothing but its language, and prefers moves that found a province; in Python it looks one move ahead with
    arena.sdk, which knows the rules. 'plain' is Python without arena.sdk. 'montecarlo' plays games to the end until its time is up.

    \b
    arena new my-bot
    arena new my-bot --template plain
    arena new searcher --template montecarlo
    arena new my-bot --language rust --to ideas/my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.errors import UserError  # noqa: PLC0415 - help must not wait for these
    from arena.players.folder import bot_at, lack  # noqa: PLC0415
    from arena.players.manifest import check_name  # noqa: PLC0415

    check_name(name, "NAME")
    if language not in TEMPLATES[template]:
        known = " or ".join(TEMPLATES[template])
        raise UserError(f"expected --language {known} for the template {template}, got {language}", "leave --template out for a first bot")
    target = folder or Path(name)
    if target.exists():
        raise UserError(f"expected a folder that does not exist yet, got {target}", "choose another name, or --to another folder")
    try:
        write_starter(target, name, language if template == "first" else f"{language}-{template}")
    except OSError as error:
        raise UserError(f"expected to write into {target}, got {error}") from error
    reason, cure = lack(bot_at(target))
    if reason:
        click.echo(f"note: it cannot be played here yet: {reason}; {cure}", err=True)
    path = shlex.quote(str(target) if "/" in str(target) else f"./{target}")
    click.echo(f"next: change it as you like, then 'arena check {path}' and 'arena submit {path}'", err=True)


def write_starter(target: Path, name: str, starter: str) -> None:
    """Makes a folder of the files in starters/STARTER with the bot's name in them, and says which. Raises OSError."""
    target.mkdir(parents=True)
    source = files("arena.cli").joinpath("starters", starter)
    for file in sorted((file for file in source.iterdir() if file.is_file()), key=lambda file: file.name):
        (target / file.name).write_text(file.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
        click.echo(f"wrote {target / file.name}", err=True)
