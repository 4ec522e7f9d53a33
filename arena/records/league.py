"""league.jsonl: the events of a league in their order, one per line: which versions joined, how
their status changed, and which games were drawn.

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


class Scaled(Struct, frozen=True, tag="scale", tag_field="event"):
    """From this event on, these benchmarks, too, fix the scale: ``elo`` has the rating in Elo at
    which each of them is fixed. ``when`` is a time in UTC.
    """

    when: str
    elo: dict[str, Elo]


class PlaceFound(Struct, frozen=True, tag="placed", tag_field="event"):
    """The candidate ``bot`` has been placed, at the time ``when`` in UTC: its rating ``elo`` at
    that time, the ``error``, which is half the width of its 95 % interval in Elo (None if the games
    give no interval), and its number of ``games``.
    """

    bot: str
    when: str
    elo: Elo
    error: Annotated[float, Meta(ge=0)] | None
    games: Annotated[int, Meta(ge=0)]


class Drawn(Struct, frozen=True, tag="drawn", tag_field="event"):
    """A draw of a league: the line-up (the labels of its bots joined by ``+``) plays ``deals``
    deals on every board, beginning with deal number ``first``.
    """

    line_up: str
    first: Deal
    deals: DrawnDeals


LeagueEvent = Joined | StatusChanged | Scaled | PlaceFound | Drawn
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


class League(Struct):
    """The state of a league after its events: its ``members`` by label, in the order in which they
    joined; the ``drawn`` games; and the ``scale``, the ratings in Elo at which benchmarks are
    fixed. A bot that is no longer a benchmark stays in the scale, because its games still count.
    """

    members: dict[str, Member] = msgspec.field(default_factory=dict)
    drawn: list[Drawn] = msgspec.field(default_factory=list)
    scale: dict[str, float] = msgspec.field(default_factory=dict)

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
                self.scale.update({bot: event.elo[bot] for bot in map(self._bot, event.elo)})
            case PlaceFound():
                self._member(event.bot).placed = event
            case Drawn():
                self._draw(event)

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
        """The labels of the members with one of these statuses, in the order in which they
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


def versions_before(members: Mapping[str, Member]) -> dict[str, str]:
    """For each member that has an earlier version, the label of that version: the version with the
    next lower number of the same bot with the same options, no matter which joined first. Versions
    that were set aside are skipped, because a gain over them means nothing.
    """
    by_name: dict[tuple[str, str], list[str]] = {}
    for bot in members:
        by_name.setdefault((name_of(bot), bot.partition(":")[2]), []).append(bot)
    before_of: dict[str, str] = {}
    for versions in by_name.values():
        before = ""
        for bot in sorted(versions, key=version_key):
            if before:
                before_of[bot] = before
            before = before if members[bot].status == "aside" else bot
    return before_of
