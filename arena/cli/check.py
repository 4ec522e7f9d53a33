"""arena check: checks whether a bot follows the protocol."""

from pathlib import Path

import click

from arena.cli import DONE, FAILED
from arena.cli.estimate import LONG_S, duration_text
from arena.cli.options import (
    SandboxChoice,
    bot_in,
    find_bot,
    move_ms_option,
    registry_of,
    sandbox_options,
)
from arena.errors import printable
from arena.match.checks.bench import FULL_MOVES, MOVES, SHORT_MS
from arena.match.checks.run import check_bot
from arena.players.folder import Bot
from arena.players.process import adopt_orphans
from arena.players.sandbox.tiers import Sandbox

NEW_LINE = "\n"


@click.command()
@click.argument("path", metavar="PATH|BOT")
@move_ms_option
@sandbox_options
@click.pass_obj
def check(home: Path, /, path: str, move_ms: int, *, choice: SandboxChoice) -> int:
    """Check a bot step by step. The steps, about forty, are its start, games on both boards in
    every seat, everything the protocol may send, and a clean end.

    PATH is a bot's folder or script, or the name of a bot in bots/. You see one line per step, with
    the cure below each failure. The exit status is 1 if any step fails.

    One game is played at --move-ms, the others at 20 ms a move, or more if the bot needs it. A bot
    that always uses all its time is done in about 20 seconds, most bots in a few.

    \b
    arena check my-bot
    arena check my-bot/bot.py --move-ms 100
    """  # noqa: D301 - \b is click's mark for lines to keep
    bot = bot_in(Path(path)) if Path(path).exists() else find_bot(registry_of(home), path)
    return (
        DONE if run_checks(bot, move_ms, choice.sandbox_for([bot]), only_failures=False) else FAILED
    )


def run_checks(bot: Bot, move_ms: int, sandbox: Sandbox, *, only_failures: bool) -> bool:
    """Prints the steps of a check; returns whether all passed."""
    adopt_orphans()
    seconds = (MOVES * min(move_ms, SHORT_MS) + FULL_MOVES * move_ms) / 1000
    if seconds > LONG_S:
        click.echo(
            f"this may take {duration_text(seconds)}, if the bot uses all its time", err=True
        )
    passed = failed = 0
    for step in check_bot(bot, move_ms, sandbox):
        passed, failed = (
            passed + (not step.problem and not step.left_out),
            failed + bool(step.problem),
        )
        if step.left_out:
            click.echo(
                f"{click.style('left out', fg='yellow')}  {step.name}: {printable(step.detail)}"
            )
        elif step.problem:
            click.echo(
                f"{click.style('FAIL', fg='red')}  {step.name}\n     "
                f" {printable(step.problem, keep=NEW_LINE)}"
            )
            for line in step.stderr:
                click.echo(f"      stderr: {printable(line)}")
            if step.cure:
                click.echo(f"      cure: {printable(step.cure, keep=NEW_LINE)}")
        elif not only_failures:
            click.echo(
                f"{click.style('ok', fg='green')}    {step.name}"
                + (f": {printable(step.detail)}" if step.detail else "")
            )
    if not only_failures:
        click.echo(f"{bot.label}: {passed} steps passed, {failed} failed")
    return failed == 0
