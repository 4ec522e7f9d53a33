"""Runs the steps in the table against one bot."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from arena.errors import BotFolderError, Void, counted
from arena.match.checks.bench import Bench
from arena.match.checks.step import Failed, StepResult
from arena.match.checks.table import FILES, STEPS, TableStep
from arena.players.folder import Bot, bot_files
from arena.players.sandbox.programs import interpreter_paths
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.rules.rulebook import where_to_read

MOST_FAILURES = 4
STDERR_LINES = 8


def check_bot(bot: Bot, move_ms: int, sandbox: Sandbox) -> Iterator[StepResult]:
    """Runs the steps one after another.

    After several failures, or one that makes the rest pointless, the last step says how many were
    left out.
    """
    try:
        with staged_for_a_while(bot, sandbox=sandbox) as [staged]:
            files = bot_files(staged.folder)
            yield StepResult(
                FILES,
                detail=(
                    f"{' '.join(bot.command)}, "
                    f"{counted(len(files), 'file')}{_also_read(staged, sandbox)}"
                ),
            )
            yield from _check_staged(Bench(staged, move_ms, sandbox))
    except BotFolderError as error:
        yield StepResult(
            FILES,
            str(error),
            error.hint or "see protocol/SPEC.md, P10",
            expected="a bot that can be built and started",
            got=str(error),
        )
        yield _left_out(len(STEPS), "they need a bot that can be started")


def check_object(
    bot: Bot, move_ms: int, sandbox: Sandbox, steps: Sequence[StepResult]
) -> dict[str, Any]:
    """A check for JSON. The bot passed if no step failed."""
    return {
        "bot": bot.label,
        "version": str(bot.manifest.version),
        "sha256": bot.sha256,
        "passed": all(step.passed is not False for step in steps),
        "move_ms": move_ms,
        "sandbox": sandbox.text([bot.label]),
        "ms": round(sum(step.ms for step in steps), 1),
        "steps": [_step_object(step) for step in steps],
    }


def _step_object(step: StepResult) -> dict[str, Any]:
    return {
        "name": step.name,
        "passed": step.passed,
        "detail": step.detail,
        "problem": step.problem or None,
        "expected": step.expected or None,
        "got": step.got or None,
        "kind": step.kind or None,
        "hint": step.cure or None,
        "stderr": list(step.stderr),
        "left_out": step.left_out,
        "ms": step.ms,
        "measured": dict(step.figures),
    }


def _also_read(bot: Bot, sandbox: Sandbox) -> str:
    """What the bot's command lays open to it besides what every bot may read."""
    paths = [] if sandbox.tier == "none" else interpreter_paths(bot.command[0], bot.folder)
    return f"; its command lets it read {', '.join(paths)}" if paths else ""


def _check_staged(bench: Bench) -> Iterator[StepResult]:
    failures = 0
    try:
        for number, entry in enumerate(STEPS, 1):
            step = run_step(entry, bench)
            failures += bool(step.problem)
            yield step
            rest = len(STEPS) - number
            if step.problem and rest and (entry.is_vital or failures == MOST_FAILURES):
                yield _left_out(
                    rest,
                    entry.needed_for if entry.is_vital else "fix these first, then check again",
                )
                return
    finally:
        bench.player.stop()


def run_step(entry: TableStep, bench: Bench) -> StepResult:
    """One step of the table, with the time it took."""
    began = time.monotonic()
    step = _tried(entry, bench)
    return step._replace(ms=round((time.monotonic() - began) * 1000, 1))


def _tried(entry: TableStep, bench: Bench) -> StepResult:
    try:
        found = entry.run(bench)
        if isinstance(found, str):
            return StepResult(entry.name, detail=found)
        return StepResult(entry.name, detail=found.detail, figures=found.figures)
    except Failed as failure:
        stderr = tuple(failure.stderr.rstrip().splitlines()[-STDERR_LINES:])
        reading = where_to_read(failure.problem)
        cure = "; ".join(
            filter(None, (failure.cure or entry.cure, reading and f"'{reading}' explains the rule"))
        )
        return StepResult(
            entry.name,
            failure.problem,
            cure,
            stderr=stderr,
            expected=failure.expected or entry.name,
            got=failure.got or failure.problem,
            kind=failure.kind or "",
        )
    except Void as void:
        return StepResult(
            entry.name,
            f"{void}; this is not the bot's fault",
            "check again when the machine is less busy",
            expected="a machine that does not stall",
            got=str(void),
        )


def _left_out(number: int, why: str) -> StepResult:
    return StepResult(f"the other {number} steps", detail=why, left_out=number)
