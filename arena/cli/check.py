"""arena check: checks a bot step by step."""

from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli import DONE, FAILED
from arena.cli.completion import complete_bots
from arena.cli.options import as_json, default_option, tell_json
from arena.cli.progress import LONG_S
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.terminal import say, tell
from arena.commands.bots import bot_to_check, note_same_files, registry_of
from arena.commands.checks import remember_passed
from arena.commands.playing import SandboxChoice
from arena.errors import printable
from arena.exports.grid import duration_text
from arena.match.bench import thinking_s
from arena.match.check import StepResult, check_bot, check_object
from arena.players.crashes import without_quoted
from arena.players.folder import Bot
from arena.players.labels import odds_of
from arena.players.sandbox.tiers import Sandbox


@click.command(cls=BriefCommand)
@click.argument("path", metavar="PATH|BOT", shell_complete=complete_bots)
@default_option("move_ms")
@sandbox_options
@as_json
@click.pass_obj
def check(home: Path, /, path: str, move_ms: int, *, choice: SandboxChoice, as_json: bool) -> int:
    """Check a bot step by step. The steps, about forty, are its start, games on both boards in
    every seat, everything the protocol may send, and a clean end.

    PATH is a bot's folder or script, or the name of a bot in bots/. You see one line per step, with
    the cure below each failure. The exit status is 1 if any step fails or was not tried.

    One game is played at --move-ms, the others at 20 ms a move, or more if the bot needs it. A bot
    that always uses all its time is done in about 20 seconds, most bots in a few. After two minutes
    more the check stops, and names the steps that it did not try.

    With --json, each step says whether it passed, what was expected, what came, the cure and how
    long it took.

    \b
    arena check my-bot
    arena check my-bot/bot.py --move-ms 100
    """  # noqa: D301 - \b is click's mark for lines to keep
    bot = bot_to_check(home, path, say)
    note_same_files(registry_of(home), bot, say)
    sandbox = choice.sandbox_for([bot])
    if not as_json:
        return DONE if run_checks(home, bot, move_ms, sandbox, only_failures=False) else FAILED
    steps = list(_steps(bot, move_ms, sandbox))
    if all(step.passed for step in steps):
        remember_passed(home, bot, move_ms, sandbox)
    shown = check_object(bot, move_ms, sandbox, steps)
    tell_json(shown)
    return DONE if shown["passed"] else FAILED


def run_checks(
    home: Path, bot: Bot, move_ms: int, sandbox: Sandbox, *, only_failures: bool
) -> bool:
    """Checks ``bot`` with ``move_ms`` ms for each move, and prints the steps, or only those that
    fail or were not tried (``only_failures``). Returns whether all steps were tried and passed; if
    so, that is remembered in ``home``, so that `arena submit` need not check the bot again.
    """
    passed = failed = left_out = 0
    for step in _steps(bot, move_ms, sandbox):
        passed += step.passed is True
        failed += step.passed is False
        left_out += step.left_out
        if step.passed is not True or not only_failures:
            _show_step(step)
    if not failed and not left_out:
        remember_passed(home, bot, move_ms, sandbox)
    if not only_failures:
        untried = f", {left_out} not tried" if left_out else ""
        tell(f"{bot.label}: {passed} steps passed, {failed} failed{untried}")
    return not failed and not left_out


def _steps(bot: Bot, move_ms: int, sandbox: Sandbox) -> Iterator[StepResult]:
    """Runs a check and returns an iterator over the results of its steps. If the check may take
    long, a line says so first.
    """
    full_ms = odds_of(bot.label).move_ms or move_ms
    seconds = thinking_s(full_ms)
    if seconds > LONG_S:
        say(f"this may take {duration_text(seconds)}, if the bot uses all its time")
    return check_bot(bot, move_ms, sandbox)


def _show_step(step: StepResult) -> None:
    """Prints the result of a step."""
    if step.passed is False:
        problem = printable(step.problem, keep="\n")
        tell(f"{click.style('FAIL', fg='red')}  {step.name}\n      {problem}", "")
        for line in without_quoted(step.stderr, step.problem):
            tell(f"      stderr: {printable(line)}", "")
        if step.cure:
            tell("      cure: " + printable(step.cure, keep="\n"), "")
        return
    ok = click.style("ok", fg="green") + "  "
    mark = click.style("left out", fg="yellow") if step.left_out else ok
    detail = f": {printable(step.detail)}" if step.detail else ""
    tell(f"{mark}  {step.name}{detail}", "      ")
