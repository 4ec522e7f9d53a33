"""What a record says about the machine a game was played on: its
name, and on a cluster its speed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from statistics import median

DIFFERENT = 1.25
"""If one machine is more than this many times as fast as another, equal times do not give bots
equal computing power.
"""
SPEED = re.compile(r"(.*) @ ([1-9][0-9]{0,8})/s", re.DOTALL)


def host_text(name: str, speed: int) -> str:
    """``name @ 1200/s``."""
    return f"{name} @ {speed}/s"


def split_host(text: str) -> tuple[str, int | None]:
    """The name, and the speed if it was measured."""
    found = SPEED.fullmatch(text)
    return (found[1], int(found[2])) if found else (text, None)


def unlike(machines: Iterable[tuple[str, int | None]]) -> tuple[str, str, float] | None:
    """The slowest machine, the fastest, and the ratio of their speeds; None unless the ratio is too
    large.

    A machine that was measured more than once counts with its median speed.
    """
    measured = defaultdict[str, list[int]](list)
    for name, speed in machines:
        if speed is not None:
            measured[name].append(speed)
    known = sorted((median(speeds), name) for name, speeds in measured.items())
    if not known or known[-1][0] <= DIFFERENT * known[0][0]:
        return None
    return known[0][1], known[-1][1], known[-1][0] / known[0][0]
