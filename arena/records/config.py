"""The settings of a run, as run.json keeps them. What a setting may be by itself is declared here;
which settings fit together is checked in `arena.tournament.consistency`.
"""

from math import floor, log10
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from arena.records.league import Drawn
from arena.records.record import DEALS
from arena.records.timing import Timing
from arena.values import MAX_MS, OPTION_NAME, ClockKind, Value, value_text

Players = Annotated[int, Meta(ge=2, le=4)]
Deals = Annotated[int, Meta(ge=1, le=DEALS)]
LineUpCount = Annotated[int, Meta(ge=1)]
LimitMs = Annotated[int, Meta(ge=1, le=MAX_MS)]
Increment = Annotated[int, Meta(ge=0, le=MAX_MS)]
HalfWidth = Annotated[float, Meta(gt=0)]
Chance = Annotated[float, Meta(gt=0, lt=0.5)]
Seatings = Literal["rotations", "all", "single"]
Basis = Literal["wins", "margin"]
RESOLUTION = 3
"""The number of digits to which a tuned float is rounded, as a part of its range."""
Finite = Annotated[float, Meta(ge=-1e15, le=1e15)]
USUAL = Timing()
"""The time control if the user gives none."""
# A run.json can come from anybody, and `len` fails for ranges of 2**63 and more.
DealCount = Annotated[int, Meta(ge=0, le=2**53)]


class Comparison(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run compares: two of its bots, whose opponents are the others, and the question that
    the blocks answer: two hypotheses, their error rates, and whether wins or margins count.
    """

    new: str
    old: str
    elo0: float = 0.0
    elo1: float = 10.0
    alpha: Chance = 0.05
    beta: Chance = 0.05
    by: Basis = "wins"


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """An option that is tuned between ``low`` and ``high``, and its value at the start."""

    name: Annotated[str, Meta(pattern=f"^{OPTION_NAME.pattern}$")]
    type: Literal["int", "float"]
    low: Finite
    high: Finite
    start: Finite

    @property
    def width(self) -> float:
        """The length of the option's range."""
        return self.high - self.low

    def unit(self, value: float) -> float:
        """The place of a value on a scale from 0 (``low``) to 1 (``high``)."""
        return (value - self.low) / self.width

    def nearest(self, unit: float, lot: float = 0.5) -> float:
        """The value to play at a place of the scale from 0 to 1. Between two whole numbers,
        ``lot``, a random number from 0 to 1, decides; one half is ordinary rounding.
        """
        exact = min(max(self.low + unit * self.width, self.low), self.high)
        if self.type == "int":
            return float(min(max(floor(exact + lot), self.low), self.high))
        return min(max(round(exact, RESOLUTION - floor(log10(self.width))), self.low), self.high)

    def value(self, number: float) -> Value:
        """A number in the type of the option, as the bot gets it."""
        return int(number) if self.type == "int" else number

    def text(self, number: float) -> str:
        """A number as it stands in a label."""
        return value_text(self.value(number))


class Tuning(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run tunes. ``bot`` is the bot's label with the options that are not tuned; the search
    takes a step after ``step`` deals on every board.
    """

    bot: str
    parameters: Annotated[list[Parameter], Meta(min_length=1, max_length=100)]
    step: Annotated[int, Meta(ge=1, le=1_000_000)]


class LeagueTerms(Struct, frozen=True, forbid_unknown_fields=True):
    """The bots whose new versions join a league automatically: those with these ``names``, or all
    bots in bots/ if there are none.
    """

    names: list[str] = []


class OneGame(Struct, frozen=True, forbid_unknown_fields=True):
    """The only game of a run, which a person played: the bots by seat, and the number of its deal,
    or of its match.
    """

    seats: list[str]
    deal: Annotated[int, Meta(ge=0, lt=DEALS)] = 0


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """What decides which games a run has and how they are played: what the user asked for, and what
    the run has decided since. Times are in ms.

    ``bots``        the labels of the bots that play
    ``seed``        the text from which every deck and every bot's seed follows; empty in a request
                    that leaves the choice to the arena
    ``players``     the number of seats at a table
    ``boards``      the names of the boards
    ``match``       the boards of the rounds that count together (R8.3), one entry per round; empty
                    if games count singly
    ``deals``       the number of deals on each board, or of deals for each match
    ``seatings``    in which orders a line-up plays each deal
    ``tables``      the number of line-ups to choose; None: all line-ups play
    ``challenger``  the bot that sits at every table; None: none has to
    ``in_process``  whether all bots are built in, with no processes, sandbox or time limits
    ``line_ups``    the line-ups that ``tables`` has chosen; None: all line-ups play
    ``compare``     the question of a run that asks whether one bot is better than another
    ``tune``        what a run tunes; its two ``bots`` are one bot with settings that differ by deal
    ``league``      which bots join a league; its games are those ``drawn`` so far
    ``drawn``       the line-ups that a league has drawn, with the deals that each of them plays
    ``until``       the error in Elo, half of an interval, at which the run may end
    ``allotted``    the deals to play before the next look at the ratings; None: all deals
    ``settled``     the number of deals after which the run's question was answered; None: it has no
                    answer yet, or no question
    ``game``        the only game, or match, of a run that a person played; None: a tournament
    """

    bots: list[str]
    seed: str
    players: Players = 2
    boards: list[str] = msgspec.field(default_factory=lambda: ["bird"])
    match: list[str] = []
    deals: Deals = 10
    seatings: Seatings = "rotations"
    tables: LineUpCount | None = None
    challenger: str | None = None
    move_ms: LimitMs = USUAL.move_ms
    game_ms: LimitMs | None = USUAL.game_ms
    increment_ms: Increment = USUAL.increment_ms
    startup_ms: LimitMs = USUAL.startup_ms
    clock: ClockKind = "wall"
    in_process: bool = False
    line_ups: list[list[str]] | None = None
    compare: Comparison | None = None
    tune: Tuning | None = None
    league: LeagueTerms | None = None
    drawn: list[Drawn] = []
    until: HalfWidth | None = None
    allotted: DealCount | None = None
    settled: DealCount | None = None
    game: OneGame | None = None

    @property
    def is_open(self) -> bool:
        """Whether this is a comparison, or a run with ``until``, that has not been settled, so that
        its number of games still depends on the results.
        """
        return self.settled is None and not (self.compare is None and self.until is None)

    @property
    def has_own_decks(self) -> bool:
        """Whether no two games have the same deck."""
        return self.seatings == "single"

    @property
    def repeats_deals(self) -> bool:
        """Whether processes play deals that occur in other games, too, so that bots could tell each
        other about them.
        """
        return not (self.in_process or self.has_own_decks)

    @property
    def rounds(self) -> list[str]:
        """The boards of the games that a line-up plays on one deal in one seating."""
        return self.match or self.boards

    @property
    def pool(self) -> list[str]:
        """The bots that are not compared themselves, sorted."""
        compared = (self.compare.new, self.compare.old) if self.compare else ()
        return sorted(set(self.bots).difference(compared))

    @property
    def timing(self) -> Timing:
        """The time control of the bots whose labels set no limits."""
        return Timing(self.move_ms, self.game_ms, self.increment_ms, self.startup_ms, self.clock)


DEFAULTS: dict[str, Any] = {
    name: value
    for form in (RunConfig(bots=[], seed=""), Comparison("", ""))
    for name, value in msgspec.structs.asdict(form).items()
}
"""The default of each setting, and of each part of a comparison's question."""
