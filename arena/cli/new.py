"""arena new: a starter bot to change."""

import shlex
from importlib.resources import files
from pathlib import Path

import click

from arena.cli.terminal import say
from arena.errors import UserError
from arena.players.folder import bot_at
from arena.players.manifest import check_name
from arena.players.staging import lack

LANGUAGES = ("python", "js", "c", "cpp", "rust", "java")
TEMPLATES = {"first": LANGUAGES, "plain": ("python",), "montecarlo": ("python",)}
"""The templates and their languages. The files are in starters/LANGUAGE for the first one, in
starters/LANGUAGE-TEMPLATE for the others.
"""


@click.command()
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default="python",
    show_default=True,
    help="The language to write it in.",
)
@click.option(
    "--template",
    type=click.Choice(tuple(TEMPLATES)),
    default="first",
    show_default=True,
    help="The bot to begin with.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    help="The folder to create.  [default: NAME, in this folder]",
)
def new(name: str, language: str, template: str, folder: Path | None) -> None:
    """Write a starter bot that plays legally. You get a folder with a bot.toml and one source file
    to change.

    The template 'first' needs nothing but its language, and prefers moves that found a province. In
    Python it looks one move ahead with arena.sdk, which knows the rules. 'plain' is Python without
    arena.sdk. 'montecarlo' tries out its best moves until its time is up.

    \b
    arena new my-bot
    arena new my-bot --template plain
    arena new searcher --template montecarlo
    arena new my-bot --language rust --to ideas/my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    check_name(name, "NAME")
    if language not in TEMPLATES[template]:
        known = " or ".join(TEMPLATES[template])
        raise UserError(
            f"expected --language {known} for the template {template}, got {language}",
            "leave --template out for a first bot",
        )
    target = folder or Path(name)
    if target.exists():
        raise UserError(
            f"expected a folder that does not exist yet, got {target}",
            "choose another name, or another folder with --to",
        )
    try:
        write_starter(target, name, language if template == "first" else f"{language}-{template}")
    except OSError as error:
        raise UserError(f"expected to write into {target}, got {error}") from error
    reason, cure = lack(bot_at(target))
    if reason:
        say(f"note: it cannot play here yet: {reason}; {cure}")
    path = shlex.quote(str(target) if "/" in str(target) else f"./{target}")
    say(f"next: change it, then 'arena check {path}' and 'arena submit {path}'")


def write_starter(target: Path, name: str, starter: str) -> None:
    """Copies starters/STARTER to a new folder, with the bot's name filled in, and says which files
    it wrote. Raises OSError.
    """
    target.mkdir(parents=True)
    source = files("arena.cli").joinpath("starters", starter)
    for file in sorted(
        (file for file in source.iterdir() if file.is_file()), key=lambda file: file.name
    ):
        (target / file.name).write_text(
            file.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8"
        )
        say(f"wrote {target / file.name}")
