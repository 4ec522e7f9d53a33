"""How many deals each line-up gets, in runs that decide this while they play: until ratings are
precise, or where more games help most.

All allotted deals are played before more are allotted. So a decision depends only on the games on
the deals allotted so far, and not on the number of workers. It is written to run.json before it is
played, and an interrupted run continues from there. Pure: no files.
"""

from collections.abc import Mapping
from math import ceil

import msgspec

from arena.errors import ConfigError
from arena.tournament.config import RunConfig
from arena.tournament.lineups import line_ups_of

DEALS_AT_ONCE = 10
"""A look at the ratings gives a line-up at least this many deals."""
PART = 10
"""A line-up that gets more deals gets `DEALS_AT_ONCE`, or one for every ``PART`` that it has, if
that is more.
"""
MOST_LINE_UPS = 20_000
"""The most line-ups whose deals are decided one by one: each look at the ratings weighs them all,
and writes them into run.json.
"""
WORTH = 0.5
"""Line-ups that promise less than this fraction of the best one's promise get no more deals for
now.
"""


def fix_allotment(config: RunConfig, known: RunConfig | None) -> RunConfig:
    """The configuration with deals for every line-up: those of the known run, and a first allotment
    for new line-ups.

    A run with a fixed number of deals first gives half of them equally to all, because error bars
    based on only a few deals are often too narrow. A run that continues ``until`` its error bars
    are narrow needs no such minimum. A run that has grown is no longer settled. Configurations
    whose line-ups all play the same deals are returned unchanged. Raises ConfigError if there are
    too many line-ups.
    """
    if not config.adaptive and config.until is None:
        return config
    line_ups = line_ups_of(config)
    if len(line_ups) > MOST_LINE_UPS:
        raise ConfigError(
            f"expected at most {MOST_LINE_UPS:,} line-ups with --until or --adaptive, got"
            f" {len(line_ups):,}",
            f"choose some of them: --tables {MOST_LINE_UPS // 10}",
        )
    before = known.allotted or {} if known else {}
    first = (
        ceil(config.deals / 2)
        if config.until is None
        else min(DEALS_AT_ONCE, ceil(config.deals / 2))
    )
    allotted = {name: before.get(name, first) for name in map("+".join, line_ups)}
    is_same = known is not None and (known.allotted, known.deals, known.until) == (
        allotted,
        config.deals,
        config.until,
    )
    return msgspec.structs.replace(
        config, allotted=allotted, settled=known.settled if known and is_same else None
    )


def next_allotment(config: RunConfig, promises: Mapping[str, float]) -> dict[str, int] | None:
    """More deals for the most promising line-ups or, unless the run is adaptive, for all; None if
    no deals are left.

    The total to give away is ``deals`` times the number of line-ups. ``promises`` are by line-up,
    its names joined by ``+``.
    """
    assert config.allotted is not None, "a run that allots"
    allotted = dict(config.allotted)
    left = config.deals * len(allotted) - sum(allotted.values())
    for name in _promising(promises) if config.adaptive else _fewest(allotted):
        room = left if config.adaptive else config.deals - allotted[name]
        more = max(0, min(max(DEALS_AT_ONCE, allotted[name] // PART), room, left))
        allotted[name] += more
        left -= more
    return allotted if allotted != config.allotted else None


def _promising(promises: Mapping[str, float]) -> list[str]:
    best = max(promises.values())
    return sorted(
        (name for name in promises if promises[name] >= WORTH * best),
        key=lambda name: (-promises[name], name),
    )


def _fewest(allotted: Mapping[str, int]) -> list[str]:
    least = min(allotted.values())
    return sorted(name for name in allotted if allotted[name] == least)
