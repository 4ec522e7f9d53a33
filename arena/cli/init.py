"""arena init: makes a home for bots and runs."""

import os
import shlex
from contextlib import ExitStack
from pathlib import Path

import click

from arena.cli.terminal import say, tell
from arena.commands.home import MARK
from arena.errors import cannot_write
from arena.players.folder import copy_files
from arena.players.registry import ladder, made_if_filled
from arena.players.temporary import remove_tree

MARK_TEXT = (
    "The arena keeps its bots in bots/ and its runs in results/ here. This file marks the folder as"
    " its home.\n"
)
"""The text of the file that marks a home."""
IGNORED = "# written by 'arena init'\n/results/\n/.arena-serve\n__pycache__/\n"
"""The text of a home's .gitignore."""


@click.command()
@click.argument(
    "folder", required=False, metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path)
)
@click.pass_context
def init(ctx: click.Context, folder: Path | None) -> None:
    """Make a home for your bots and runs. It is a folder with bots/, which gets a copy of the
    ladder to read and change, and results/ for the runs.

    DIR is created if needed; without DIR it is the current folder. Nothing that exists is changed,
    so you can repeat the command: it adds the ladder bots that are missing.

    Every command looks for its home from the current folder upward, so you can work in any folder
    below it.

    \b
    arena init
    arena init qin
    """  # noqa: D301 - \b is click's mark for lines to keep
    # The home that --home or $ARENA_HOME names, but not one found by looking upward.
    target = folder or (ctx.parent.params["home"] if ctx.parent else None) or Path()
    try:
        copied, kept = make_home(target)
    except OSError as error:
        place = error.filename2 or error.filename
        cure = "name another folder: arena init DIR"
        raise cannot_write(place or target.resolve(), error, cure) from error
    if copied:
        tell(f"{target / 'bots'}: copied {', '.join(copied)}")
    if kept:
        tell(f"{target / 'bots'}: left as they were: {', '.join(kept)}")
    steps = ["arena run --deals 2", "arena play greedy-python --human 0", "arena new my-bot"]
    if target.resolve() != Path.cwd():
        steps.insert(0, f"cd {shlex.quote(str(target))}")
    say(f"{target.resolve()} is now a home for bots and runs")
    say("\n  ".join(["next:", *steps]))


def make_home(target: Path) -> tuple[list[str], list[str]]:
    """Makes what the home ``target`` lacks. Returns the names of the ladder bots that were copied,
    and those of the ladder bots whose folders existed already. Raises OSError; then nothing has
    been made.
    """
    copied = list[str]()
    kept = list[str]()
    with made_if_filled(target / "bots"), made_if_filled(target / "results"), ExitStack() as undo:
        for name, source in ladder().items():
            place = target / "bots" / name
            if os.path.lexists(place):
                kept.append(name)
            else:
                place.mkdir()
                undo.callback(remove_tree, str(place))
                copy_files(source, place)
                copied.append(name)
        for path, text in ((target / MARK, MARK_TEXT), (target / ".gitignore", IGNORED)):
            if not os.path.lexists(path):
                undo.callback(path.unlink, missing_ok=True)
                path.write_text(text, encoding="utf-8")
        undo.pop_all()
    return copied, kept
