"""Says which versions of a league are due for a regression test. Uses no clock and no files.

Each accepted version is better than the one before it only by what chance let it show. A regression
test shows what a chain of such steps really gained: the newest version plays a fixed number of
games against the version ``every`` accepted versions back.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from arena.records.league import League, Member, RegressionBegun, version_chains
from arena.tournament.schedule import Schedule


def is_accepted(member: Member) -> bool:
    """Whether a member counts among the accepted versions of its bot: it has been placed, or is a
    benchmark, was not clearly worse than the version before it when it was placed, and has not been
    set aside or withdrawn since.
    """
    if member.status in ("aside", "withdrawn"):
        return False
    if member.placed is None:
        return member.status == "benchmark"
    return not member.placed.is_worse


def due_regressions(league: League) -> Iterator[tuple[str, str]]:
    """The regression tests that are due in ``league`` by its rule, as pairs of labels: the newest
    accepted version of a bot, and the accepted version to test it against. A test is due if
    ``every`` versions have been accepted since the last tested version or, before the first test,
    since the first accepted version. None are due if the league has no rule.
    """
    rule = league.regression_rule
    if rule is None or rule.every == 0:
        return
    for versions in version_chains(league.members):
        accepted = [bot for bot in versions if is_accepted(league.members[bot])]
        tested = [index for index, bot in enumerate(accepted) if bot in league.regressions]
        since = tested[-1] if tested else 0
        newest = len(accepted) - 1
        if newest - since >= rule.every:
            yield accepted[newest], accepted[newest - rule.every]


def open_regressions(league: League, tested: Mapping[str, int]) -> list[RegressionBegun]:
    """The regression tests of ``league`` for which games can still be drawn: neither of their two
    versions has been set aside or withdrawn. ``tested`` has the number of games drawn for each
    test so far, by the label of the tested version; a test that is not in it has no games.
    """
    tests = []
    for test in league.regressions.values():
        statuses = {league.members[test.bot].status, league.members[test.old].status}
        can_play = statuses.isdisjoint({"aside", "withdrawn"})
        if can_play and tested.get(test.bot, 0) < test.games:
            tests.append(test)
    return tests


def tested_games(schedule: Schedule) -> Counter[str]:
    """The number of games drawn for each regression test of a league with this schedule, by the
    label of the tested version.
    """
    games = Counter[str]()
    for drawn in schedule.config.drawn:
        if drawn.tested:
            games[drawn.tested] += schedule.drawn_games(drawn)
    return games
