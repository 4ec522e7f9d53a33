"""The settings of a run, as run.json stores them. The types here limit each setting by itself;
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
Luck = Literal["names", "roles"]
RESOLUTION = 3
"""A tuned float is rounded to about this many significant digits of the width of its range; see
`Parameter.nearest`.
"""
Finite = Annotated[float, Meta(ge=-1e15, le=1e15)]
USUAL = Timing()
"""The time control of a run for which the user gives none."""
# A run.json can come from anybody, and `len` fails for ranges of 2**63 and more.
DealCount = Annotated[int, Meta(ge=0, le=2**53)]


class Comparison(Struct, frozen=True, forbid_unknown_fields=True):
    """The question of a run that compares the bots ``new`` and ``old``; the other bots of the run
    are their opponents.

    ``elo0``, ``elo1``   the two hypotheses about how many Elo ``new`` is stronger than ``old``
    ``alpha``, ``beta``  the probability of deciding for ``elo1`` if ``elo0`` is true, and for
                         ``elo0`` if ``elo1`` is true
    ``by``               what is compared: shares of the win (``wins``) or margins (``margin``)
    ``luck``             what the seeds of bots follow from: the bots' labels (``names``, in
                         comparisons made by older versions), or only their places in the run's
                         list of bots (``roles``)
    """

    new: str
    old: str
    elo0: float = 0.0
    elo1: float = 10.0
    alpha: Chance = 0.05
    beta: Chance = 0.05
    by: Basis = "wins"
    luck: Luck = "names"


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """An option of a bot that a run tunes: its name and type, the range from ``low`` to ``high``,
    and its value at the ``start``.
    """

    name: Annotated[str, Meta(pattern=f"^{OPTION_NAME.pattern}$")]
    type: Literal["int", "float"]
    low: Finite
    high: Finite
    start: Finite

    @property
    def width(self) -> float:
        """The length of the option's range, ``high - low``."""
        return self.high - self.low

    def unit(self, value: float) -> float:
        """Converts a value of the option to a scale on which ``low`` is 0 and ``high`` is 1."""
        return (value - self.low) / self.width

    def nearest(self, unit: float, lot: float = 0.5) -> float:
        """Converts ``unit``, a place on the scale from 0 (``low``) to 1 (``high``), to a value that
        a bot can play with, within the range. A float is rounded. For an int, ``lot``, a random
        number from 0 to 1, decides between the two nearest whole numbers in proportion to their
        distance; 0.5 is ordinary rounding.
        """
        exact = min(max(self.low + unit * self.width, self.low), self.high)
        if self.type == "int":
            return float(min(max(floor(exact + lot), self.low), self.high))
        return min(max(round(exact, RESOLUTION - floor(log10(self.width))), self.low), self.high)

    def value(self, number: float) -> Value:
        """Converts ``number`` to the type of the option, int or float, as the bot gets it; for an
        int, it must be whole.
        """
        return int(number) if self.type == "int" else number

    def text(self, number: float) -> str:
        """Writes ``number`` as the option's value appears in a bot's label."""
        return value_text(self.value(number))


class Tuning(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run tunes: ``bot`` is the bot's label with the options that stay fixed, ``parameters``
    are the options to tune. After every ``step`` deals on each board, the search takes a step to
    new values.
    """

    bot: str
    parameters: Annotated[list[Parameter], Meta(min_length=1, max_length=100)]
    step: Annotated[int, Meta(ge=1, le=1_000_000)]


class LeagueTerms(Struct, frozen=True, forbid_unknown_fields=True):
    """Which bots' new versions join a league automatically: the bots in bots/ with these ``names``,
    or all bots in bots/ if ``names`` is empty.
    """

    names: list[str] = []


class OneGame(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The only game, or match, of a run that a person played: the labels of the bots by seat
    (``seats``), and the number of its ``deal``.

    A game that goes on from a game of another run also has its ``deck`` in draw order, because the
    seed of the other run, from which the deck follows, may have to stay secret; and ``first``, the
    number of moves, including passes, that were not the person's own: those before they sat down.
    """

    seats: list[str]
    deal: Annotated[int, Meta(ge=0, lt=DEALS)] = 0
    deck: Annotated[str, Meta(pattern=r"^(([RYB][RYB]){72})?$")] = ""
    first: Annotated[int, Meta(ge=0, le=1000)] = 0


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a run: what the user asked for, and what the arena has decided since.
    Together with the run's bots they determine which games are played, and how. Times are in ms.

    ``bots``        the labels of the bots that play
    ``seed``        the text from which every deck and every bot's seed follows; empty in a request
                    that leaves the choice to the arena
    ``players``     the number of seats in a game
    ``boards``      the names of the boards
    ``match``       the boards of the rounds that count together (R8.3), one entry per round; empty
                    if games count singly
    ``deals``       the number of deals on each board, or of deals for each match
    ``seatings``    in which orders a line-up plays each deal: ``rotations``, ``all`` orders, or a
                    ``single`` one, each game with its own deck
    ``tables``      the number of line-ups to choose; None: all line-ups play
    ``challenger``  the bot that plays in all line-ups; None: line-ups need no particular bot
    ``move_ms``     the time for one answer
    ``game_ms``     the time bank for a whole game; None: no bank
    ``increment_ms`` what is added to the bank after each move
    ``startup_ms``  the time that a bot's process has to answer hello
    ``clock``       ``cpu`` or ``wall``, by which a bot's time is measured
    ``in_process``  whether all bots are built in, with no processes, sandbox or time limits
    ``line_ups``    the line-ups that were chosen because of ``tables``; None: all line-ups play
    ``compare``     the question of a run that asks whether one bot is better than another
    ``tune``        what a run tunes; its first two ``bots``, the sides of the search, are one bot
                    with settings that differ by deal, and the others are the opponents of both
    ``league``      which bots join a league; its games are those in ``drawn``
    ``drawn``       the line-ups that a league has drawn so far, with the deals that each of them
                    plays
    ``until``       the error in Elo, half of a 95 % interval, at which the run may end; None: the
                    run plays all its deals
    ``allotted``    the deals to play before the ratings are computed again to decide how to
                    continue; None: all deals
    ``settled``     the number of deals after which the run's question was answered; None: not
                    answered yet, or the run has no question
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
    def taken_over(self) -> int:
        """The number of moves of all seats, including passes, before the person of this run sat
        down at the game; 0 if they played from the start, and for any run that is not the game of a
        person.
        """
        return self.game.first if self.game else 0

    @property
    def is_open(self) -> bool:
        """Whether the number of games still depends on the results: the run is a comparison or has
        ``until``, and it is not settled.
        """
        return self.settled is None and not (self.compare is None and self.until is None)

    @property
    def deck_of_game(self) -> str:
        """The deck, in draw order, of a person's game whose tiles do not follow from the run's
        seed; empty for all other runs.
        """
        return self.game.deck if self.game else ""

    @property
    def has_own_decks(self) -> bool:
        """Whether each game has a deck of its own, which is so for ``seatings`` ``single``."""
        return self.seatings == "single"

    @property
    def repeats_deals(self) -> bool:
        """Whether games of the run may share a deal between bots with processes, which could pass
        on what they saw of it. False if all bots are built in, or if each game has a deck of its
        own.
        """
        return not (self.in_process or self.has_own_decks)

    @property
    def rounds(self) -> list[str]:
        """The boards of the games that a line-up plays on one deal in one seating: those of the
        match, else all boards.
        """
        return self.match or self.boards

    @property
    def pool(self) -> list[str]:
        """The opponents of the two bots that are compared, or of the two sides of a search, sorted;
        all bots of the run if it does neither.
        """
        apart = self.bots[:2] if self.tune else []
        if self.compare:
            apart = [self.compare.new, self.compare.old]
        return sorted(set(self.bots).difference(apart))

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two bots that play the same deals against the same opponents, or each other: the bots
        of a comparison, or the sides of a search that has opponents. None if the run has no such
        pair.
        """
        if self.compare:
            return self.compare.new, self.compare.old
        if self.tune and self.pool:
            return self.bots[0], self.bots[1]
        return None

    @property
    def luck(self) -> Luck:
        """What the seeds of bots follow from, see `Comparison`."""
        if self.compare:
            return self.compare.luck
        return "roles" if self.pair else "names"

    @property
    def games_a_block(self) -> int:
        """In a comparison or a search, the number of games in a block: all games of both bots on
        one deal of a board.
        """
        return games_of_block(self.players, has_pool=bool(self.pool))

    @property
    def timing(self) -> Timing:
        """The time control for bots whose labels set no limits of their own."""
        return Timing(self.move_ms, self.game_ms, self.increment_ms, self.startup_ms, self.clock)


def games_of_block(players: int, *, has_pool: bool) -> int:
    """The number of games in a block of a comparison or a search with this number of ``players`` in
    a game: two bots play each other once from each seat or, with a pool of opponents, each of the
    two plays once from each seat.
    """
    return 2 * players if has_pool else players


DEFAULTS: dict[str, Any] = {
    **msgspec.structs.asdict(RunConfig(bots=[], seed="")),
    **msgspec.structs.asdict(Comparison("", "")),
}
"""By name, the default of each field of `RunConfig` and of `Comparison`."""
