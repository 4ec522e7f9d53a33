"""Runs `arena check`: tries the steps in `arena.match.steps` on a bot, until all are tried, several
have failed, or the time is over.

A third of a check is waiting: for a line that must not come, or in a pause that the bot has to
bear. So steps with processes of their own are tried beside the games of the bot's usual process.
Results come in the order of the table all the same.
"""

import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Self

from arena.errors import BotFolderError, BusyMachineError, Void, counted
from arena.match.bench import Bench, CheckTimeOver, Failed
from arena.match.steps import NO_FIGURES, STEPS, Figures, TableStep
from arena.players.crashes import with_own_paths
from arena.players.folder import Bot, bot_files
from arena.players.sandbox.readable import interpreter_paths
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.rules.explain import where_to_read

FILES = "bot.toml, files, program and build"
MAX_FAILURES = 4
THREADS = 2
"""How many steps are tried at a time beside the games of the usual process. On two cores more make
a check no shorter.
"""
STDERR_LINES = 8
DIGITS = re.compile(r"\d+")
"""A regular expression for numbers in messages; two failures that have one cause differ in
numbers.
"""
TEXT_FIELDS = ("problem", "expected", "got", "kind")


class StepResult(NamedTuple):
    """The result of one step of a check, or one result for several steps that were not tried.

    ``name``      the name of the step
    ``problem``   what is wrong, a sentence; empty if the step passed or was left out
    ``cure``      what to do about it; empty if nothing is wrong
    ``detail``    what else to show, such as how a game ended; for steps left out, the reason
    ``stderr``    the last lines of the bot's stderr, if it failed
    ``left_out``  the number of steps that were not tried, if this result stands for them; else 0
    ``expected``  if the step failed, what it expected
    ``got``       if the step failed, what happened instead
    ``kind``      the kind of fault, if the bot forfeited a game; else empty
    ``figures``   what was measured
    ``ms``        how long the step took, in ms by the wall clock
    ``is_busy``   whether the machine was too busy to judge the bot
    ``sign``      a text that two failures with one cause have in common; empty if that is not known
    ``repeats``   the name of an earlier step that failed in the same way; empty if there is none
    """

    name: str
    problem: str = ""
    cure: str = ""
    detail: str = ""
    stderr: tuple[str, ...] = ()
    left_out: int = 0
    expected: str = ""
    got: str = ""
    kind: str = ""
    figures: Figures = NO_FIGURES
    ms: float = 0.0
    is_busy: bool = False
    sign: str = ""
    repeats: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether the bot passed the step; None if the result stands for steps that were not
        tried.
        """
        return None if self.left_out else not self.problem


def check_bot(bot: Bot, move_ms: int, sandbox: Sandbox) -> Iterator[StepResult]:
    """Tries the steps of `arena.match.steps.STEPS` on the bot, and yields their results in that
    order, after a first result about the bot's files and their build. The bot gets ``move_ms`` ms
    for a move, and plays in ``sandbox``.

    After several failures, after one that makes all later steps pointless, or when the time for the
    check is over, the last result says how many steps were left out.
    """
    try:
        with staged_for_a_while(bot, sandbox=sandbox) as [staged]:
            files = counted(len(bot_files(staged.folder)), "file")
            # The bot's command may give it access to more paths than other bots have: they are
            # shown.
            is_open = sandbox.tier == "none"
            named = [] if is_open else [staged.command[0], *staged.manifest.programs]
            paths = list[str]()
            for name in named:
                paths += interpreter_paths(name, staged.folder)
            more = f"; its command lets it read {', '.join(paths)}" if paths else ""
            yield StepResult(FILES, detail=f"{' '.join(bot.command)}, {files}{more}")
            bench = Bench(staged, move_ms, sandbox)
            try:
                yield from try_steps(bench)
            finally:
                bench.player.stop()
    except BotFolderError as error:
        yield StepResult(
            FILES,
            str(error),
            error.hint or "see protocol/SPEC.md, P10",
            expected="a bot that can be built and started",
            got=str(error),
        )
        yield _left_out(len(STEPS), "they need a bot that can be started")


def try_steps(bench: Bench) -> Iterator[StepResult]:
    """Yields the results of the steps of `arena.match.steps.STEPS` for the bot of ``bench``, which
    has been built. If the check ends early, the last result is one that stands for all steps left
    out.
    """
    failed = list[StepResult]()
    with StepsApart(bench) as apart:
        for number, entry in enumerate(STEPS):
            try:
                bench.expect_time()
                step = apart.result(entry) if entry.is_apart else run_step(entry, bench)
            except CheckTimeOver as over:
                names = "; ".join(left.name for left in STEPS[number:])
                yield _left_out(len(STEPS) - number, f"not tried, because {over}: {names}")
                return
            if step.problem:
                step = _without_repetition(step, failed)
                failed.append(step)
            yield step
            why = _why_to_end(entry, failed) if step.problem else ""
            left_out = len(STEPS) - number - 1
            if left_out and why:
                yield _left_out(left_out, why)
                return


class StepsApart:
    """Tries those steps of `arena check` that are ``is_apart`` in threads, each with processes of
    its own, beside the games of the bot's usual process; use it as a context manager. The first
    call of `result` begins all of these steps, so the step that measures the bot's start must have
    been run before. At the end of the block, steps that have not begun are dropped, and those being
    tried are waited for.

    If time is measured by the wall clock, a bot could be late because of its other processes. Then
    each step is tried only when its result is asked for.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._threads = ThreadPoolExecutor(THREADS)
        self._results: dict[TableStep, Future[StepResult]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bench.is_over = True
        self._threads.shutdown(cancel_futures=True)

    def result(self, entry: TableStep) -> StepResult:
        """The result of ``entry``, a step that is ``is_apart``, after waiting for it. Raises
        CheckTimeOver.
        """
        if self._bench.player.clock != "cpu":
            return run_step(entry, self._bench)
        if not self._results:
            for each in STEPS:
                if each.is_apart:
                    self._results[each] = self._threads.submit(run_step, each, self._bench)
        return self._results[entry].result()


def _without_repetition(step: StepResult, failed: Sequence[StepResult]) -> StepResult:
    """The failed ``step``; if one of the steps that ``failed`` before failed in the same way, it is
    shortened to a reference to that step.
    """
    for earlier in failed:
        if earlier.sign and earlier.sign == step.sign:
            problem = f"it fails in the same way as {earlier.name!r}"
            return step._replace(problem=problem, cure="", stderr=(), repeats=earlier.name)
    return step


def _why_to_end(entry: TableStep, failed: Sequence[StepResult]) -> str:
    """Why no step is tried after ``entry``, whose result is the last one in ``failed``; empty if
    the check continues.
    """
    if failed[-1].is_busy:
        return "the machine is too busy"
    if entry.needed_for:
        return entry.needed_for
    earlier = failed[-1].repeats
    if earlier:
        return f"not tried: fix what {earlier!r} shows, then check again"
    return "fix these first, then check again" if len(failed) == MAX_FAILURES else ""


def _left_out(number: int, why: str) -> StepResult:
    """The result that stands for ``number`` steps that are not tried; ``why`` is the reason."""
    return StepResult(f"the other {number} steps", detail=why, left_out=number)


def run_step(entry: TableStep, bench: Bench) -> StepResult:
    """Runs the step ``entry`` of the table on the bot of ``bench`` and measures how long it takes.
    A failure of the bot, or of the machine, becomes the result. Raises CheckTimeOver.
    """
    began = time.monotonic()
    try:
        result = entry.run(bench)
        detail, figures = (result, NO_FIGURES) if isinstance(result, str) else result
        step = StepResult(entry.name, detail=detail, figures=figures)
    except Failed as failure:
        reading = where_to_read(failure.problem)
        stderr = with_own_paths(bench.bot.base, bench.bot.folder, failure.stderr)
        cures = (failure.cure or entry.cure, reading and f"'{reading}' explains the rule")
        step = StepResult(
            entry.name,
            failure.problem,
            "; ".join(filter(None, cures)),
            stderr=tuple(stderr.rstrip().splitlines()[-STDERR_LINES:]),
            expected=failure.expected or entry.name,
            got=failure.got or failure.problem,
            kind=failure.kind or "",
            sign=DIGITS.sub("", f"{failure.kind}: {failure.got}") if failure.kind else "",
        )
    except (Void, BusyMachineError) as error:
        step = StepResult(
            entry.name,
            f"{error}; this is not the bot's fault",
            error.hint or "check again when the machine is less busy",
            expected="a machine that starts bots and does not stall",
            got=str(error),
            is_busy=isinstance(error, BusyMachineError),
        )
    return step._replace(ms=round((time.monotonic() - began) * 1000, 1))


def check_object(
    bot: Bot, move_ms: int, sandbox: Sandbox, steps: Sequence[StepResult]
) -> dict[str, Any]:
    """The results ``steps`` of a check of ``bot``, with ``move_ms`` ms for a move and in
    ``sandbox``, as an object for JSON. ``passed`` is True in it if every step was tried and none
    failed.
    """
    return {
        "bot": bot.label,
        "version": str(bot.manifest.version),
        "sha256": bot.sha256,
        "passed": all(step.passed for step in steps),
        "move_ms": move_ms,
        "sandbox": sandbox.text([bot.label]),
        "ms": round(sum(step.ms for step in steps), 1),
        "steps": list(map(_step_object, steps)),
    }


def _step_object(step: StepResult) -> dict[str, Any]:
    """The result of one step of a check as an object for JSON."""
    return {
        "name": step.name,
        "passed": step.passed,
        "detail": step.detail,
        **{key: getattr(step, key) or None for key in TEXT_FIELDS},
        "hint": step.cure or None,
        "stderr": list(step.stderr),
        "left_out": step.left_out,
        "ms": step.ms,
        "measured": dict(step.figures),
    }
