"""The command ``arena``: its subcommands, loaded when asked for, and how every error ends."""

import errno
import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from arena import __version__
from arena.cli import BUG, DONE, FAILED, INTERRUPTED, command_is_loaded
from arena.cli.colours import colours_wanted
from arena.cli.terminal import columns_of, folded
from arena.commands.home import find_home
from arena.errors import ArenaError, UserError, Void, did_you_mean

SECTIONS = {
    "Write a bot": {
        "init": "Make a home for your bots and runs.",
        "new": "Write a starter bot that plays legally.",
        "rules": "Read the rules of the game.",
        "check": "Check a bot step by step.",
        "submit": "Check a bot and copy it into bots/.",
        "bots": "List your bots and the ladder.",
        "remove": "Remove a bot, or one version of it, from bots/.",
    },
    "Compete": {
        "play": "Play one game and draw it.",
        "run": "Let bots play each other and print the standings.",
        "league": "Keep a league that every version joins.",
        "compare": "Play until it is clear whether NEW is better than OLD.",
        "tune": "Look for better values of a bot's options.",
        "watch": "Watch a run that is being played.",
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
"""The commands with the first sentence of their own help, in the order a newcomer needs them. Each
is the function of that name in the module of that name, with ``_`` for ``-``.
"""
COMMANDS = tuple(name for section in SECTIONS.values() for name in section)
HIDDEN = {
    "perft": "arena.cli.perft",
    "audit-leaks": "tests.match.audit_leaks",
    "bench": "tests.bench.command",
}
"""The modules of the commands for those who change the arena or write another one. They are not in
the help, and those of tests/ exist in a checkout only.
"""

MACHINE_ERRORS = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room in your quota",
    errno.EROFS: "name a folder that you can write to",
    errno.EMFILE: "allow more open files with 'ulimit -n', or ask for fewer --jobs",
    errno.ENFILE: "close other programs: this machine cannot open more files",
    errno.ENOMEM: "close other programs, or ask for fewer --jobs",
    errno.EIO: "look for a failing disk or terminal",
}
"""Errors of the machine that are nobody's fault here, each with its cure."""


class CommandTable(click.Group):
    """The commands, of which only the one that is called is imported."""

    # Click's signatures.
    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands that the help shows."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in (*COMMANDS, *HIDDEN):
            near = did_you_mean(cmd_name, COMMANDS).rstrip()
            if near:
                ctx.fail(f"No such command {cmd_name!r}. {near[0].upper()}{near[1:]}")
            return None
        name = cmd_name.replace("-", "_")
        module = HIDDEN.get(cmd_name, f"arena.cli.{name}")
        if module.startswith("tests."):
            _add_checkout(cmd_name)
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        command_is_loaded()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands in sections, without importing any."""
        widest = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{widest}}", text) for name, text in commands.items()])


def _add_checkout(command: str) -> None:
    """Makes tests/ importable. Raises UserError where the arena is installed without it."""
    root = Path(__file__).parents[2]
    if not (root / "tests" / "bench").is_dir():
        raise UserError(
            f"expected a checkout of qin-arena for 'arena {command}', got {root}",
            "clone the repository and run 'pip install -e .' there",
        )
    sys.path.insert(0, str(root))


# Click's signature.
def show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    """Prints versions and exits."""
    if value:
        # Only here: every other command would wait for them too.
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
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show versions and native parts.",
)
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
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
    arena run                              let all bots play each other
    arena standings                        show the table again
    """  # noqa: D301 - \b is click's mark for lines to keep
    ctx.obj = find_home() if home is None else home
    ctx.color = colours_wanted()


def run_command(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    try:
        result: Any = arena.main(arguments, prog_name="arena", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except (UserError, Void) as error:
        show_error(error)
        return FAILED
    except OSError as error:
        if error.errno == errno.EPIPE:
            return _closed_pipe()
        if error.errno in MACHINE_ERRORS:
            _silence_stdout()
            show_error(
                UserError(f"expected a working machine, got {error}", MACHINE_ERRORS[error.errno])
            )
            return FAILED
        return _bug()
    # Whatever is left is a bug, and is reported as one.
    except Exception:  # noqa: BLE001
        return _bug()
    return result if isinstance(result, int) else DONE


def show_error(error: ArenaError) -> None:
    """Prints an error and its cure to stderr, and where to read the rule that it names."""
    width = columns_of(sys.stderr)
    click.echo(folded(f"error: {error}", width), err=True)
    if error.hint:
        click.echo(folded(f"hint: {error.hint}", width), err=True)
    # Where the rules are not loaded no error names one; and that they cannot be loaded may be the
    # error.
    if "arena.rules" in sys.modules:
        from arena.rules.rulebook import where_to_read  # noqa: PLC0415

        if "arena rules" not in error.hint and (reading := where_to_read(f"{error} {error.hint}")):
            click.echo(f"hint: '{reading}' explains the rule", err=True)


def _closed_pipe() -> int:
    """Whoever read our output has gone (``| head``): nothing more
    to say, on stdout least of all.
    """
    _silence_stdout()
    return FAILED


def _silence_stdout() -> None:
    """What is still to be written to stdout cannot be; without this, Python would fail over it
    while it exits.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug() -> int:
    traceback.print_exc()
    click.echo("this is a bug in arena: please report it with the lines above", err=True)
    return BUG
