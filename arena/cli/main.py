"""The command ``arena``: its subcommands, each loaded when it is called, and what is printed for an
error that ends a command.
"""

import errno
import importlib
import os
import sys
import traceback
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena import __version__
from arena.cli import BUG, DONE, FAILED, INTERRUPTED, command_is_loaded
from arena.cli.mistakes import NoCommandError, mistake
from arena.cli.terminal import colours_wanted, columns_of, folded
from arena.commands.home import find_home
from arena.errors import MACHINE_ERRORS, NO_ROOM, ArenaError, UserError, Void, cannot_write

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SECTIONS = {
    "Write a bot": {
        "init": "Make a home for your bots and runs.",
        "new": "Write a starter bot that plays legally.",
        "rules": "Read the rules of the game.",
        "check": "Check a bot step by step.",
        "submit": "Check a bot and copy it into bots/.",
        "bots": "List your bots and the ladder.",
        "remove": "Remove a bot, or one version of it, from bots/, or a run.",
    },
    "Compete": {
        "play": "Play one game and draw it.",
        "run": "Let bots play each other and print the standings.",
        "league": "Keep a league that every version joins.",
        "compare": "Play until it is clear whether NEW is better than OLD.",
        "tune": "Look for better values of a bot's options.",
        "serve": "Show your runs in a browser, live while they are played.",
    },
    "Read results": {
        "runs": "List the runs in results/.",
        "standings": "Show the standings of a run, by default the newest one.",
        "report": "Write an HTML report of a run, by default the newest one.",
        "export": "Write the tables of a run as CSV or Parquet files.",
        "rate": "Rate the results in a CSV file.",
    },
    "Find out why": {
        "analyse": "Look behind the standings of a run, by default the newest one.",
        "review": "Grade every decision in the games of a run.",
        "replay": "Replay a game of a run from its record.",
        "reproduce": "Send a bot the lines again that led to its fault.",
        "regress": "Compare a bot's decisions with those of an old version.",
        "verify": "Check a run against its plan and the rules.",
    },
    "This machine": {"doctor": "Check what works on this machine."},
}
"""The commands by section, each with the first sentence of its help, in the order in which a
newcomer needs them.
"""
COMMANDS = tuple(chain.from_iterable(SECTIONS.values()))
"""The names of the commands that the help lists."""
CHECKOUT = {"audit-leaks": "tests.match.audit_leaks", "bench": "tests.bench.command"}
"""The modules of commands that exist only in a checkout of the repository. The help does not list
them.
"""
OTHER_NAMES = {"analyze": "analyse"}
"""Second names of commands; the help does not list them."""

MAX_NAME = 255
"""The most bytes of the name of a file."""
LONG_SHOWN = 60
"""The number of characters that are shown of a path that is too long."""
HOME = click.Path(file_okay=False, path_type=Path)
"""The type of the option --home."""


class CommandTable(click.Group):
    """The group of all commands. Only the command that is called is imported."""

    # Click's signatures.
    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands that the help lists; tools of a checkout are not among them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called ``cmd_name``, imported. For an unknown name, raises NoCommandError;
        but returns None while a shell completes a line. Raises UserError for a command that needs a
        checkout, if there is none.
        """
        if cmd_name == "help":
            return show_help
        cmd_name = OTHER_NAMES.get(cmd_name, cmd_name)
        if cmd_name not in (*COMMANDS, *CHECKOUT):
            if ctx.resilient_parsing:  # of a line that is being completed
                return None
            raise NoCommandError(cmd_name, COMMANDS, ctx)
        module = CHECKOUT.get(cmd_name) or f"arena.cli.{cmd_name}"
        if cmd_name in CHECKOUT:
            _add_checkout(cmd_name)
        importlib.import_module("arena.slim_msgspec")  # before anything imports msgspec
        command = getattr(importlib.import_module(module), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        _take_home(command)
        command_is_loaded()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands in sections, without importing any command."""
        widest = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{widest}}", text) for name, text in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """The commands and options that begin with ``incomplete``; no command is
        imported for this.
        """
        # Late: only a shell that completes a line needs it.
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        items = []
        for section in SECTIONS.values():
            for name, text in section.items():
                if name.startswith(incomplete):
                    items.append(CompletionItem(name, help=text))
        return items + click.Command.shell_complete(self, ctx, incomplete)


def _complete_help(
    context: click.Context, _: click.Parameter, incomplete: str
) -> "list[str] | list[CompletionItem]":
    """The names that can follow in a line ``arena help ...``: those commands of the group that was
    typed last that begin with ``incomplete``.
    """
    above = context.parent
    assert above is not None, "this is a command of arena"
    group: click.Command | None = above.command
    for word in context.params.get("words") or ():
        group = group.get_command(above, word) if isinstance(group, click.Group) else None
    if not isinstance(group, click.Group):
        return []
    return [name for name in group.list_commands(above) if name.startswith(incomplete)]


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_complete_help)
@click.pass_context
def show_help(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Show the help of a command, or the list of all commands.

    \b
    arena help
    arena help run
    arena help league history
    """  # noqa: D301 - \b is click's mark for lines to keep
    above = ctx.parent
    assert above is not None, "this is a command of arena"
    for word in words:
        group = above.command
        if not isinstance(group, click.Group):
            above.fail(f"expected no word after {above.command_path!r}, got {word!r}")
        command = group.get_command(above, word)
        if command is None:
            raise NoCommandError(word, group.list_commands(above), above)
        above = click.Context(command, parent=above, info_name=word)
    click.echo(above.get_help())


def _take_home(command: click.Command) -> None:
    """Lets the user type ``--home`` after the name of a command, also of one in a group."""
    if HOME_BEHIND not in command.params:
        command.params.append(HOME_BEHIND)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _take_home(inner)


def _set_home(ctx: click.Context, _: click.Parameter, home: Path | None) -> None:
    """Sets the home to the value of a ``--home`` that was typed after a command."""
    if home is not None:
        ctx.obj = home


HOME_BEHIND = click.Option(
    ["--home", "home_behind"],
    type=HOME,
    hidden=True,
    expose_value=False,
    is_eager=True,
    callback=_set_home,
)
"""The option ``--home`` after the name of a command."""


def _add_checkout(command: str) -> None:
    """Makes the package tests/ of the checkout importable, for ``command``, which lies there.
    Raises UserError if the arena does not run from a checkout.
    """
    root = Path(__file__).parents[2]
    if not (root / "tests" / "bench").is_dir():
        raise UserError(
            f"'arena {command}' needs a checkout of qin-arena; {root} is none",
            "clone the repository and run 'pip install -e .' there",
        )
    sys.path.insert(0, str(root))


# Click's signature.
def show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    """Prints versions and exits, if ``value`` is true."""
    if value:
        # Imported here, because other commands should not wait for these modules.
        from arena.players.messages import PROTOCOL  # noqa: PLC0415
        from arena.rules import CORE  # noqa: PLC0415

        click.echo(
            f"arena {__version__}, protocol {PROTOCOL}, rules core {CORE}, Python"
            f" {sys.version.split()[0]}"
        )
        ctx.exit()


@click.group(
    cls=CommandTable,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    "-V",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show versions and native parts.",
)
@click.option(
    "--home",
    type=HOME,
    envvar="ARENA_HOME",
    help=(
        "The folder that holds bots/ and results/.  [default: $ARENA_HOME, else the nearest one"
        " from here upward, else this folder]"
    ),
)
@click.pass_context
def arena(ctx: click.Context, home: Path | None) -> None:
    """Let bots play Reiner Knizia's Qin against each other, and rank them with error bars you can
    trust.

    \b
    arena init                             make this folder a home for your bots
    arena new my-bot --language python     write a first bot
    arena check my-bot                     check that it plays by the protocol
    arena submit my-bot                    add it to bots/
    arena run my-bot greedy careful        let it play built-in bots
    arena standings                        show the table again
    """  # noqa: D301 - \b is click's mark for lines to keep
    if home is None:
        home = find_home()
    ctx.obj = home
    ctx.color = colours_wanted()


def run_command(arguments: list[str] | None = None) -> int:
    """Runs the command line with these arguments, None for those of the process, and returns the
    exit status.
    """
    try:
        result: Any = arena.main(arguments, prog_name="arena", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        show_error(mistake(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except (UserError, Void) as error:
        show_error(error)
        return FAILED
    except OSError as error:
        return _system_error(error)
    # Any other exception is a bug, and is reported as one.
    except Exception:  # noqa: BLE001
        return _bug()
    return result if isinstance(result, int) else DONE


def _system_error(error: OSError) -> int:
    """Prints the message about the system's ``error``, which is being handled, and returns the exit
    status.
    """
    if error.errno == errno.ENAMETOOLONG:
        show_error(_too_long(error))
        return FAILED
    # EPIPE: the program that read our output has ended (``| head``), so nothing is printed.
    if error.errno not in (*MACHINE_ERRORS, errno.EPIPE):
        return _bug()
    # Python would fail at its exit to write what is left for stdout, so that goes to /dev/null.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno != errno.EPIPE:
        show_error(_of_the_machine(error))
    return FAILED


def _too_long(error: OSError) -> UserError:
    """The error for the user about a system error for a name or path that is too long."""
    path = os.fsdecode(error.filename2 or error.filename or "")
    name = max(Path(path).parts, key=len, default="")
    text = name if len(os.fsencode(name)) > MAX_NAME else path
    return UserError(
        "expected a shorter name or path, got"
        f" {len(text):,} characters that begin with {text[:LONG_SHOWN]!r}",
        f"the system takes at most {MAX_NAME} bytes for a name, and 4,095 for a path",
    )


def _of_the_machine(error: OSError) -> UserError:
    """The error for the user about a system error that is one of `MACHINE_ERRORS`, with its file if
    there is one.
    """
    cure = MACHINE_ERRORS[error.errno or 0]
    place = error.filename2 or error.filename
    if place is None or error.errno not in (*NO_ROOM, errno.EROFS):
        return UserError(f"system error: {error}", cure)
    return cannot_write(os.fsdecode(place), error, cure)


def show_error(error: ArenaError) -> None:
    """Prints an error and its hint to stderr, and the command that shows the rule named in them, if
    any.
    """
    width = columns_of(sys.stderr)
    click.echo(folded(f"error: {error}", width), err=True)
    if error.hint:
        click.echo(folded(f"hint: {error.hint}", width), err=True)
    # If the rules are not loaded, no error names a rule; and the error may be that they cannot be
    # loaded.
    if "arena.rules" in sys.modules:
        from arena.rules.explain import where_to_read  # noqa: PLC0415

        if "arena rules" not in error.hint and (reading := where_to_read(f"{error} {error.hint}")):
            click.echo(f"hint: '{reading}' explains the rule", err=True)


def _bug() -> int:
    """Prints the exception that is being handled as a bug, and returns the exit status."""
    traceback.print_exc()
    click.echo("this is a bug in arena: please report it with the lines above", err=True)
    return BUG
