"""league.jsonl: the events of a league in their order, one per line: for example which versions
joined, how their status changed, which games were drawn, how the scale was fixed, which ratings
versions had when they were placed, and which regression tests began.

A league plays the games that its *draws* name, and a draw's line is on disk before its games are
played. Any arena of the user may append a line under a lock, for example a command that retires a
bot while another arena plays.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.record import DEALS, Deal, name_of, version_key
from arena.records.regular import LineFile, read_regular

LEAGUE_FILE = "league.jsonl"
MAX_BYTES = 256 << 20
"""The most bytes of a league.jsonl that is read; two million draws fit."""
MAX_ELO = 100_000.0
"""The largest rating in the file, in Elo; larger than games can show."""
Status = Literal["candidate", "benchmark", "retired", "aside", "withdrawn"]
STATUS_TEXT: dict[Status, str] = {
    "candidate": "candidate",
    "benchmark": "benchmark",
    "retired": "retired",
    "aside": "set aside",
    "withdrawn": "withdrawn",
}
"""The words that are shown for each status."""
PLAYS = ("candidate", "benchmark")
"""The statuses of members that games are drawn for."""
DrawnDeals = Annotated[int, Meta(ge=1, lt=DEALS)]
Elo = Annotated[float, Meta(ge=-MAX_ELO, le=MAX_ELO)]
HalfWidthElo = Annotated[float, Meta(ge=0)]
Weight = Annotated[float, Meta(gt=0, le=1)]


class Joined(Struct, frozen=True, omit_defaults=True, tag="joined", tag_field="event"):
    """The version with the label ``bot`` became a member with this status. ``when`` is a time in
    UTC.
    """

    bot: str
    status: Status
    when: str


class StatusChanged(Struct, frozen=True, omit_defaults=True, tag="status", tag_field="event"):
    """The member ``bot`` got another status, at the time ``when`` in UTC. ``by`` is who decided
    that: ``arena``, or the name of a user; ``why`` is the reason, which may be empty.
    """

    bot: str
    status: Status
    when: str
    by: str
    why: str = ""


class Scaled(Struct, frozen=True, omit_defaults=True, tag="scale", tag_field="event"):
    """The founders of the league fix its scale from this event on: ``elo`` has, by label, the
    rating in Elo of each founder, and ``weights`` its share in the mean that fixes the scale. The
    weights add up to 1 but for rounding. ``when`` is a time in UTC.

    Earlier versions of the arena wrote no weights, and one such event for each group of benchmarks
    that was added to the scale later; only the first group are founders.
    """

    when: str
    elo: dict[str, Elo]
    weights: dict[str, Weight] = {}


class PlaceFound(Struct, frozen=True, omit_defaults=True, tag="placed", tag_field="event"):
    """The candidate ``bot`` has been placed, at the time ``when`` in UTC: its rating ``elo`` at
    that time, the ``error``, which is half the width of its 95 % interval in Elo (None if the games
    give no interval), and its number of ``games``. ``gain`` is its rating minus that of the version
    before it, and ``gain_error`` half the width of the 95 % interval of the gain; both are None if
    unknown, and in leagues played by earlier versions of the arena.
    """

    bot: str
    when: str
    elo: Elo
    error: HalfWidthElo | None
    games: Annotated[int, Meta(ge=0)]
    gain: float | None = None
    gain_error: HalfWidthElo | None = None

    @property
    def is_worse(self) -> bool:
        """Whether the version was clearly worse than the version before it when it was placed."""
        if self.gain is None or self.gain_error is None:
            return False
        return self.gain < -self.gain_error


class Drawn(Struct, frozen=True, omit_defaults=True, tag="drawn", tag_field="event"):
    """A draw of a league: the line-up (the labels of its bots joined by ``+``) plays ``deals``
    deals on every board, beginning with deal number ``first``. ``tested`` is the label of the
    version whose regression test the games belong to; empty for all other draws.
    """

    line_up: str
    first: Deal
    deals: DrawnDeals
    tested: str = ""


class RegressionRule(Struct, frozen=True, tag="regression_rule", tag_field="event"):
    """From the time ``when`` in UTC on, the league plays a regression test after every ``every``
    accepted versions of a bot, over ``games`` games; no tests if ``every`` is 0. ``by`` is the name
    of the user who decided it.
    """

    every: Annotated[int, Meta(ge=0)]
    games: Annotated[int, Meta(ge=1)]
    when: str
    by: str


class RegressionBegun(Struct, frozen=True, tag="regression_test", tag_field="event"):
    """The regression test of the version ``bot`` against the earlier version ``old`` of the same
    bot, over ``games`` games, began at the time ``when`` in UTC.
    """

    bot: str
    old: str
    games: Annotated[int, Meta(ge=1)]
    when: str


LeagueEvent = (
    Joined | StatusChanged | Scaled | PlaceFound | Drawn | RegressionRule | RegressionBegun
)
_decode = msgspec.json.Decoder(LeagueEvent).decode
_encode = msgspec.json.Encoder().encode


class Member(Struct):
    """A version in a league, with the label ``bot``. ``joined`` and ``since`` are the times in UTC
    at which it joined and got its present status; ``by`` and ``why`` say who gave it this status
    and for which reason. ``placed`` is None for a version that has not been placed.
    """

    bot: str
    status: Status
    joined: str
    since: str
    by: str = "arena"
    why: str = ""
    placed: PlaceFound | None = None

    @property
    def plays(self) -> bool:
        """Whether games are drawn for the member: it is a candidate or a benchmark."""
        return self.status in PLAYS

    @property
    def is_waiting(self) -> bool:
        """Whether the member is a candidate that has not been placed yet."""
        return self.status == "candidate" and self.placed is None


class LeagueScale(Struct, frozen=True):
    """What fixes the scale of a league, by label: ``elo`` are the ratings of its founders, and
    ``weights`` their shares in the mean that keeps its level. A founder that is no longer a
    benchmark stays a founder, because its games still count.

    Without founders, no bot fixes the scale yet. Founders without weights come from an earlier
    version of the arena; their shares follow from the precision of their present ratings.
    """

    elo: Mapping[str, float] = {}
    weights: Mapping[str, float] = {}

    def __bool__(self) -> bool:
        """Whether there are founders."""
        return bool(self.elo)


class League(Struct):
    """The state of a league after its events: its ``members`` by label, in the order in which they
    joined; the ``drawn`` games; the ``scale``; the ``regression_rule``, None if no user has set
    one; and ``regressions``, the regression tests that have begun, by the label of the tested
    version.
    """

    members: dict[str, Member] = msgspec.field(default_factory=dict)
    drawn: list[Drawn] = msgspec.field(default_factory=list)
    scale: LeagueScale = LeagueScale()
    regression_rule: RegressionRule | None = None
    regressions: dict[str, RegressionBegun] = msgspec.field(default_factory=dict)

    def add(self, event: LeagueEvent) -> None:
        """Updates the league by ``event``. Raises ValueError for an event that cannot follow the
        earlier ones, such as a second joining of one bot.
        """
        match event:
            case Joined(bot, status, when):
                if bot in self.members:
                    raise ValueError(f"{bot} joins twice")
                self.members[bot] = Member(bot, status, when, when)
            case StatusChanged():
                member = self._member(event.bot)
                member.status = event.status
                member.since = event.when
                member.by = event.by
                member.why = event.why
            case Scaled():
                self._set_scale(event)
            case PlaceFound():
                self._member(event.bot).placed = event
            case Drawn():
                self._draw(event)
            case RegressionRule():
                self.regression_rule = event
            case RegressionBegun():
                for bot in (event.bot, event.old):
                    self._member(bot)
                self.regressions[event.bot] = event

    def _set_scale(self, scaled: Scaled) -> None:
        """Makes the bots of ``scaled`` the founders, if there are none, and freezes their weights,
        if they are not frozen. Raises ValueError for a bot that has not joined.
        """
        for bot in (*scaled.elo, *scaled.weights):
            self._member(bot)
        elo = self.scale.elo or scaled.elo
        if not self.scale.weights:
            weights = {bot: weight for bot, weight in scaled.weights.items() if bot in elo}
            self.scale = LeagueScale(elo, weights)

    def _member(self, bot: str) -> Member:
        """The member with the label ``bot``. Raises ValueError if no such bot has joined."""
        if bot not in self.members:
            raise ValueError(f"{bot} has not joined before")
        return self.members[bot]

    def _bot(self, bot: str) -> str:
        """Returns the label ``bot`` if a member has that label; else raises ValueError."""
        return self._member(bot).bot

    def _draw(self, drawn: Drawn) -> None:
        """Adds ``drawn`` to the drawn games. Raises ValueError if its first deal is not the next
        one, or if its line-up is not sorted, names a bot twice or one that has not joined.
        """
        if drawn.first != self.deals:
            raise ValueError(f"expected deals from {self.deals} on, got {drawn.first}")
        bots = [self._bot(bot) for bot in drawn.line_up.split("+")]
        if bots != sorted({*bots}):
            raise ValueError(f"expected each bot once in a line-up, sorted, got {drawn.line_up}")
        self.drawn.append(drawn)

    @property
    def deals(self) -> int:
        """The number of deals drawn so far, which is the number of the next deal to draw."""
        return self.drawn[-1].first + self.drawn[-1].deals if self.drawn else 0

    def with_status(self, *statuses: Status) -> list[str]:
        """The labels of the members that have one of these statuses, in the order in which they
        joined.
        """
        return [bot for bot, member in self.members.items() if member.status in statuses]


def read_league(run: Path) -> League:
    """Reads the league.jsonl in a run's folder and returns the state of the league after its last
    event. Raises RunError with the number of a line that is not an event, or that cannot follow the
    lines before it.
    """
    league = League()
    for number, line in enumerate(_lines(run), 1):
        try:
            league.add(_decode(line))
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise RunError(
                f"{run / LEAGUE_FILE}, line {number}: expected an event of the league, got"
                f" {line[:60]!r}: {error}",
                "something else changed the file: restore it; the games are safe in the journal",
            ) from None
    return league


def _lines(run: Path) -> Sequence[bytes]:
    """The complete lines of a run's league.jsonl. Bytes after the last newline are left out:
    another arena is writing them, or a crash interrupted it. Raises RunError.
    """
    try:
        return read_regular(run, LEAGUE_FILE, MAX_BYTES).split(b"\n")[:-1]
    except FileNotFoundError:
        raise RunError(
            f"{run / LEAGUE_FILE} is missing beside the run.json of a league",
            "restore the file: it says who plays, and which games were drawn",
        ) from None
    except OSError as error:
        raise RunError(f"cannot read {run / LEAGUE_FILE}: {error}") from error


def events_file(run: Path) -> LineFile:
    """Opens the league.jsonl of a run for appending, and locks it until it is closed; waits while
    another arena has it locked. Raises RunError.
    """
    return LineFile(run, LEAGUE_FILE, "events", waits=True)


def lines_of(events: Iterable[LeagueEvent]) -> bytes:
    """Encodes ``events`` as lines of league.jsonl."""
    return b"".join(_encode(event) + b"\n" for event in events)


def size_of(run: Path) -> int:
    """The present size of a run's league.jsonl in bytes, 0 without the file. A larger size than
    before means new events, because lines are only appended.
    """
    return (run / LEAGUE_FILE).stat().st_size if (run / LEAGUE_FILE).exists() else 0


def is_league(run: Path) -> bool:
    """Whether the folder ``run`` is that of a league, which has a league.jsonl."""
    return os.path.lexists(run / LEAGUE_FILE)


def version_chains(members: Mapping[str, Member]) -> list[list[str]]:
    """The labels of the versions of each bot, the one with the lowest number first, no matter which
    joined first. Versions with different options are in different lists.
    """
    by_name: dict[tuple[str, str], list[str]] = {}
    for bot in members:
        by_name.setdefault((name_of(bot), bot.partition(":")[2]), []).append(bot)
    return [sorted(versions, key=version_key) for versions in by_name.values()]


def versions_before(members: Mapping[str, Member]) -> dict[str, str]:
    """For each member that has an earlier version, the label of that version: the version with the
    next lower number of the same bot with the same options. Versions that were set aside are
    skipped, because a gain over them means nothing.
    """
    before_of: dict[str, str] = {}
    for versions in version_chains(members):
        before = ""
        for bot in versions:
            if before:
                before_of[bot] = before
            before = before if members[bot].status == "aside" else bot
    return before_of
