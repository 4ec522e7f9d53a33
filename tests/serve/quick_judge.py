"""A judge of few deals, for tests in which a number from a judge does not matter."""

from functools import partial

from msgspec.structs import replace

from arena.commands import hints
from arena.match import chances

DEALS = min(100, hints.JUDGE.deals)
"""So many that a bad move still costs more than the error of that figure."""
JUDGE = replace(hints.JUDGE, deals=DEALS)
step_chances = partial(chances.step_chances, deals=min(40, DEALS))


def judged_step(*given):
    """What a server asks of its process for grades; the chances are from few deals, too."""
    chances.step_chances = step_chances
    return chances.judged_step(*given)
