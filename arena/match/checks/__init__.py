"""Whether one bot plays by the protocol, step by step; each step is a dialogue with a real process.

`table` lists the steps, `variants` are ways of speaking that the protocol allows, `bench` is what the steps work with.
"""

from arena.match.checks.run import check_bot
from arena.match.checks.step import Step

__all__ = ["Step", "check_bot"]
