"""A judge of few deals, for tests in which a number from a judge does not matter. Whoever imports
this module judges the chances in a game from few deals, too.
"""

from functools import partial

from msgspec.structs import replace

from arena.commands import hints
from arena.match import chances

DEALS = min(100, hints.JUDGE.deals)
"""So many that a bad move still costs more than the error of that figure."""
JUDGE = replace(hints.JUDGE, deals=DEALS)

chances.step_chances = partial(chances.step_chances, deals=min(40, DEALS))


def judged_step(*given):
    """What a server asks of its process for grades, which imports this module for it."""
    return chances.judged_step(*given)
