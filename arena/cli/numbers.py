"""Types for numbers on the command line, which describe their range in words, in the help and in
errors.
"""

from math import isfinite
from typing import Any

import click

from arena.tournament.removed import REMOVED, SINCE


def path_of(context: click.Context) -> str:
    """The full name of the command of a context, with its groups, such as ``league run``. A command
    that was typed under a second name has its usual name here.
    """
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, context.command.name or "")
        context = context.parent
    return " ".join(names)


def refuse_value(
    value: Any, expected: str, param: click.Parameter | None, ctx: click.Context | None
) -> click.BadParameter:
    """Makes the error for a wrong value of an option: it says what was ``expected`` or, if earlier
    versions took this value, what to use instead.
    """
    text = f"expected {expected}, got {str(value)!r}"
    if ctx is not None and param is not None:
        instead = REMOVED.get(f"{path_of(ctx)} {max(param.opts, key=len)} {value}")
        if instead:
            text = f"{value} was removed in {SINCE}: {instead}"
    return click.BadParameter(text, ctx=ctx, param=param)


class WholeNumber(click.IntRange):
    """A whole number from ``min`` to ``max``; None sets no limit."""

    name = "n"

    # Click's signatures, here and below.
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; raises BadParameter for anything else."""
        try:
            number: int = super().convert(value, param, ctx)
        except click.BadParameter:
            expected = f"a whole number {self._bounds()}"
            raise refuse_value(value, expected, param, ctx) from None
        return number

    def _bounds(self) -> str:
        """The range in words, such as ``from 1 to 8``."""
        if self.max is None:
            return f"of at least {self.min}"
        return f"from {self.min} to {self.max}"

    def _describe_range(self) -> str:
        """The range in words for the help; empty if any number from 0 or 1 on is allowed, because
        the help need not say that.
        """
        return "" if self.max is None and self.min in (0, 1) else self._bounds()


class Number(click.FloatRange):
    """A number in a range, without ``nan``: click's own type accepts ``nan``, because it compares
    as neither below nor above any bound.
    """

    name = "x"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; raises BadParameter for anything else, also for ``nan`` and ``inf``."""
        try:
            number: float = super().convert(value, param, ctx)
        except click.BadParameter:
            number = float("nan")
        if not isfinite(number):
            expected = f"a number {self._describe_range()}".rstrip()
            raise refuse_value(value, expected, param, ctx)
        return number

    def _describe_range(self) -> str:
        """The range in words for the help and for errors, such as ``above 0``; empty without
        limits.
        """
        limits = []
        if self.min is not None:
            limits.append(f"above {self.min:g}" if self.min_open else f"of at least {self.min:g}")
        if self.max is not None:
            limits.append(f"below {self.max:g}" if self.max_open else f"of at most {self.max:g}")
        return " and ".join(limits)
