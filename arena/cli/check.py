"""arena check: checks whether a bot follows the protocol."""

from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli import DONE, FAILED
from arena.cli.estimate import LONG_S, duration_text
from arena.cli.options import as_json, move_ms_option, sandbox_options
from arena.cli.showing import tell_json
from arena.cli.terminal import say, tell
from arena.commands.allowing import SandboxChoice
from arena.commands.bots import bot_to_check
from arena.errors import printable
from arena.match.checks.bench import FULL_MOVES, MOVES, SHORT_MS
from arena.match.checks.run import check_bot, check_object
from arena.match.checks.step import StepResult
from arena.players.folder import Bot
from arena.players.odds import odds_of
from arena.players.process import adopt_orphans
from arena.players.sandbox.tiers import Sandbox

NEW_LINE = "\n"


@click.command()
@click.argument("path", metavar="PATH|BOT")
@move_ms_option
@sandbox_options
@as_json
@click.pass_obj
def check(home: Path, /, path: str, move_ms: int, *, choice: SandboxChoice, as_json: bool) -> int:
    """Check a bot step by step. The steps, about forty, are its start, games on both boards in
    every seat, everything the protocol may send, and a clean end.

    PATH is a bot's folder or script, or the name of a bot in bots/. You see one line per step, with
    the cure below each failure. The exit status is 1 if any step fails.

    One game is played at --move-ms, the others at 20 ms a move, or more if the bot needs it. A bot
    that always uses all its time is done in about 20 seconds, most bots in a few.

    With --json, each step says whether it passed, what was expected, what came, the cure and how
    long it took.

    \b
    arena check my-bot
    arena check my-bot/bot.py --move-ms 100
    """  # noqa: D301 - \b is click's mark for lines to keep
    bot = bot_to_check(home, path, say)
    sandbox = choice.sandbox_for([bot])
    if not as_json:
        return DONE if run_checks(bot, move_ms, sandbox, only_failures=False) else FAILED
    shown = check_object(bot, move_ms, sandbox, list(_steps(bot, move_ms, sandbox)))
    tell_json(shown)
    return DONE if shown["passed"] else FAILED


def run_checks(bot: Bot, move_ms: int, sandbox: Sandbox, *, only_failures: bool) -> bool:
    """Prints the steps of a check; returns whether all passed."""
    passed = failed = 0
    for step in _steps(bot, move_ms, sandbox):
        passed += step.passed is True
        failed += step.passed is False
        if step.passed is not True or not only_failures:
            _show(step)
    if not only_failures:
        tell(f"{bot.label}: {passed} steps passed, {failed} failed")
    return failed == 0


def _steps(bot: Bot, move_ms: int, sandbox: Sandbox) -> Iterator[StepResult]:
    """The steps, after a word on how long they may take."""
    adopt_orphans()
    full_ms = odds_of(bot.label).move_ms or move_ms
    seconds = (MOVES * min(full_ms, SHORT_MS) + FULL_MOVES * full_ms) / 1000
    if seconds > LONG_S:
        say(f"this may take {duration_text(seconds)}, if the bot uses all its time")
    return check_bot(bot, move_ms, sandbox)


def _show(step: StepResult) -> None:
    detail = f": {printable(step.detail)}" if step.detail else ""
    if step.left_out:
        tell(f"{click.style('left out', fg='yellow')}  {step.name}{detail}", "      ")
        return
    if step.passed:
        tell(f"{click.style('ok', fg='green')}    {step.name}{detail}", "      ")
        return
    problem = printable(step.problem, keep=NEW_LINE)
    tell(f"{click.style('FAIL', fg='red')}  {step.name}\n      {problem}", "")
    for line in step.stderr:
        tell(f"      stderr: {printable(line)}", "")
    if step.cure:
        tell(f"      cure: {printable(step.cure, keep=NEW_LINE)}", "")
