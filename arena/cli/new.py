"""arena new: writes a starter bot."""

import shlex
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import click
from click.core import ParameterSource

from arena.cli.terminal import say
from arena.errors import OTHER_HOME, UserError, cannot_write
from arena.players.folder import bot_at
from arena.players.manifest import check_name
from arena.players.player import refuse_built_in_name
from arena.players.registry import made_if_filled
from arena.players.staging import lack

LANGUAGES = ("python", "js", "c", "cpp", "rust", "java")
"""The languages of starter bots."""
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
    help="The folder to create.  [default: NAME, in this folder or in that of --home]",
)
@click.pass_context
def new(
    ctx: click.Context, /, name: str, language: str, template: str, folder: Path | None
) -> None:
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
    refuse_built_in_name(name, f"choose another one: arena new my-{name}")
    if language not in TEMPLATES[template]:
        known = " or ".join(TEMPLATES[template])
        raise UserError(
            f"expected --language {known} for the template {template}, got {language}",
            "leave --template out for a first bot",
        )
    target = folder or _home_on_the_command_line(ctx) / name
    if target.exists():
        raise UserError(
            f"{target} already exists", "choose another name, or another folder with --to"
        )
    starter = language if template == "first" else f"{language}-{template}"
    source = files("arena.cli").joinpath("starters", starter)
    texts = {}
    for file in sorted(source.iterdir(), key=lambda file: file.name):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            texts[target / file.name] = text.replace("NAME", name)
    try:
        with made_if_filled(target), ExitStack() as undo:
            for path, text in texts.items():
                undo.callback(path.unlink, missing_ok=True)
                path.write_text(text, encoding="utf-8")
            undo.pop_all()
    except OSError as error:
        cure = f"{OTHER_HOME}, or another folder with --to FOLDER"
        raise cannot_write(target, error, cure) from error
    for path in texts:
        say(f"wrote {path}")
    reason, cure = lack(bot_at(target))
    if reason:
        say(f"note: it cannot play here yet: {reason}; {cure}")
    place = shlex.quote(str(target) if "/" in str(target) else f"./{target}")
    say(f"next: change it, then 'arena check {place}' and 'arena submit {place}'")


def _home_on_the_command_line(ctx: click.Context) -> Path:
    """The folder that --home names, before or after the command; without --home, the current
    folder. Unlike other commands, 'arena new' ignores $ARENA_HOME and homes further up, because a
    new bot belongs where the user is.
    """
    before = ctx.parent
    if before is None:
        return Path()
    is_before = before.get_parameter_source("home") is ParameterSource.COMMANDLINE
    is_behind = ctx.obj is not before.obj
    return Path(ctx.obj) if is_before or is_behind else Path()
