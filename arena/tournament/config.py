"""The settings of a run once they are settled, as run.json keeps them, and what cannot be."""

from collections.abc import Mapping
from math import floor, log10
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from arena.errors import ConfigError
from arena.match.referee import Timing
from arena.players.labels import has_odds
from arena.players.manifest import OPTION_NAME, Value, value_text
from arena.players.messages import ClockKind
from arena.records.league import Drawn
from arena.records.record import DUEL
from arena.tournament.settings import (
    MAX_DEALS,
    Basis,
    Chance,
    Deals,
    HalfWidth,
    Increment,
    LimitMs,
    LineUpCount,
    Players,
    Seatings,
    default_of,
)

RESOLUTION = 3
"""A float is tuned in steps of this many digits of its range."""
Finite = Annotated[float, Meta(ge=-1e15, le=1e15)]
# A run.json can come from anybody, and `len` fails for ranges of 2**63 and more.
DealCount = Annotated[int, Meta(ge=0, le=2**53)]


class Comparison(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run compares: two of its bots (the others are their opponents), and the question that
    the blocks answer: two hypotheses, the error rates allowed for each, and what they are judged
    by.
    """

    new: str
    old: str
    elo0: float = default_of("elo0")
    elo1: float = default_of("elo1")
    alpha: Chance = default_of("alpha")
    beta: Chance = default_of("beta")
    by: Basis = default_of("by")


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """An option that is tuned between ``low`` and ``high``, and the value it starts at."""

    name: Annotated[str, Meta(pattern=f"^{OPTION_NAME.pattern}$")]
    type: Literal["int", "float"]
    low: Finite
    high: Finite
    start: Finite

    @property
    def width(self) -> float:
        """From one end of the range to the other."""
        return self.high - self.low

    def unit(self, value: float) -> float:
        """A value on the scale from 0 to 1."""
        return (value - self.low) / self.width

    def nearest(self, unit: float, lot: float = 0.5) -> float:
        """The value to play at a place of the scale. A place between two integers is one or the
        other, by a ``lot`` from 0 to 1; one half is ordinary rounding.
        """
        exact = min(max(self.low + unit * self.width, self.low), self.high)
        if self.type == "int":
            return float(min(max(floor(exact + lot), self.low), self.high))
        return min(max(round(exact, RESOLUTION - floor(log10(self.width))), self.low), self.high)

    def value(self, number: float) -> Value:
        """A number as the bot gets it."""
        return int(number) if self.type == "int" else number

    def text(self, number: float) -> str:
        """A number as it is written in the name of a bot."""
        return value_text(self.value(number))


class Tuning(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run tunes. ``bot`` is its name, with the options that stay as they are; the path moves
    after ``step`` deals on every board.
    """

    bot: str
    parameters: Annotated[list[Parameter], Meta(min_length=1, max_length=100)]
    step: Annotated[int, Meta(ge=1, le=1_000_000)]


class LeagueTerms(Struct, frozen=True, forbid_unknown_fields=True):
    """The bots whose versions join a league by themselves: those with these ``names``, or all bots
    in bots/ if there are none.
    """

    names: list[str] = []


class OneGame(Struct, frozen=True, forbid_unknown_fields=True):
    """The only game of a run, which somebody played: the bots by seat, and the number of its deal,
    or of its match.
    """

    seats: list[str]
    deal: Annotated[int, Meta(ge=0, lt=MAX_DEALS)] = 0


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """What decides which games a run has and how they are played: `Settings`, and what the run
    itself decided.

    ``match``       the boards of the rounds that count together (R8.3), one entry per round
    ``in_process``  all bots are built in, with no processes, sandbox or time limits
    ``seed``        text from which every deck and bot's seed follows; empty in a request: any
    ``line_ups``    those chosen by ``tables``, so that more only add to them; None: all
    ``compare``     the run asks whether one bot is better than another
    ``tune``        its two ``bots``, up and down, are one, with settings that differ by deal
    ``league``      members join, and what is played next is ``drawn``, each on deals of its own
    ``allotted``    the deals to play before the next look at the ratings; None: all
    ``settled``     the deals after which its question was answered; None: not yet, or it has none
    ``game``        the only game, or match, that somebody played; None: a tournament
    """

    bots: list[str]
    seed: str
    players: Players = default_of("players")
    boards: list[str] = msgspec.field(default_factory=lambda: list(default_of("boards")))
    match: list[str] = msgspec.field(default_factory=list)
    deals: Deals = default_of("deals")
    seatings: Seatings = default_of("seatings")
    tables: LineUpCount | None = default_of("tables")
    challenger: str | None = default_of("challenger")
    move_ms: LimitMs = default_of("move_ms")
    game_ms: LimitMs | None = default_of("game_ms")
    increment_ms: Increment = default_of("increment_ms")
    startup_ms: LimitMs = default_of("startup_ms")
    clock: ClockKind = "wall"
    in_process: bool = default_of("in_process")
    line_ups: list[list[str]] | None = None
    compare: Comparison | None = None
    tune: Tuning | None = None
    league: LeagueTerms | None = None
    drawn: list[Drawn] = []
    until: HalfWidth | None = default_of("until")
    allotted: DealCount | None = None
    settled: DealCount | None = None
    game: OneGame | None = None

    @property
    def is_open(self) -> bool:
        """Whether the number of games depends on the results."""
        return self.settled is None and not (self.compare is None and self.until is None)

    @property
    def has_own_decks(self) -> bool:
        """Whether no two games have the same deck."""
        return self.seatings == "single"

    @property
    def repeats_deals(self) -> bool:
        """Whether processes play deals that other games have too, and could tell each other."""
        return not (self.in_process or self.has_own_decks)

    @property
    def rounds(self) -> list[str]:
        """The boards of the games that every line-up plays in each seating of a deal."""
        return self.match or self.boards

    @property
    def pool(self) -> list[str]:
        """The bots that are not compared, sorted."""
        compared = (self.compare.new, self.compare.old) if self.compare else ()
        return sorted(set(self.bots).difference(compared))

    @property
    def timing(self) -> Timing:
        """The time control of bots that name no limits of their own."""
        return Timing(self.move_ms, self.game_ms, self.increment_ms, self.startup_ms, self.clock)


DEFAULTS: dict[str, Any] = {
    name: value
    for form in (RunConfig(bots=[], seed=""), Comparison("", ""))
    for name, value in msgspec.structs.asdict(form).items()
}
"""What a setting, or a part of a comparison's question, is where nothing is said."""


def make_config(settings: Mapping[str, Any]) -> RunConfig:
    """The settings out of a request or a run.json, checked. Raises ConfigError."""
    try:
        config = msgspec.convert(dict(settings), type=RunConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"settings: {error}") from None
    for check in (_bots, _question, _tuning, _boards, _seats, _times):
        check(config)
    return config


def _refuse(is_wrong: object, text: str, hint: str = "") -> None:
    """Raises ConfigError where something is wrong."""
    if is_wrong:
        raise ConfigError(text, hint)


DAMAGED = "something else changed run.json: restore it"


def _bots(config: RunConfig) -> None:
    for name in config.bots:
        _refuse(
            config.bots.count(name) > 1,
            f"expected each bot once, got {name!r} twice",
            "built-in bots such as careful-8 and careful-16 are different bots"
            if config.in_process
            else "to give a bot another name, use 'arena submit --name'",
        )


def _question(config: RunConfig) -> None:
    compare = config.compare
    opponents = len(config.pool)
    least = config.players - 1
    if compare is None:
        return
    _refuse(
        config.has_own_decks,
        "expected a comparison to play each deal in several seatings, got single ones: without"
        " them it compares nothing",
        "leave out the seatings; 'arena run --seatings single' plays a tournament",
    )
    _refuse(
        not compare.elo0 < compare.elo1,
        f"expected --elo0 below --elo1, got {compare.elo0:g} and {compare.elo1:g}",
        "for example --elo0 0 --elo1 10",
    )
    _refuse(
        opponents < least and (opponents or least > 1),
        f"expected at least {least} opponents for a table of {config.players}, got"
        f" {', '.join(config.pool) or 'none'}",
        "name them with --pool A,B",
    )
    _refuse(
        config.match,
        "expected a comparison to count games singly, got a match",
        "leave out --match",
    )


def _tuning(config: RunConfig) -> None:
    if config.tune is None:
        return
    for one in config.tune.parameters:
        low, high, start = map(one.text, (one.low, one.high, one.start))
        _refuse(
            not one.low < one.high,
            f"expected a range of more than one value for {one.name}, got {low} to {high}",
            f"for example --param {one.name}={low}..{one.text(one.low + 1)}",
        )
        _refuse(
            not one.low <= one.start <= one.high,
            f"expected the search for {one.name} to start in its range, {low} to {high}, got"
            f" {start}",
            "the search starts at the value the bot has: name the bot with another one, or search"
            " a wider range",
        )
    _refuse(
        len(config.bots) != DUEL or config.players != DUEL or config.seatings != "rotations",
        "expected a run that tunes a bot to have two sides, in both seatings of each deal, got"
        f" {shown(config.bots)}, {config.players} players and {config.seatings}",
        DAMAGED,
    )


def _boards(config: RunConfig) -> None:
    match = config.match
    boards = config.boards
    _refuse(
        match and set(match) != set(boards),
        f"expected the boards of the match, {shown(match)}, got {shown(boards)}",
        "leave out --boards, because --match lists the boards; name each --board file there",
    )
    rounds = max(map(match.count, match), default=1)
    _refuse(
        match and config.deals * rounds > MAX_DEALS,
        f"expected at most {MAX_DEALS:,} deals on a board, got {config.deals:,} for each of"
        f" {rounds} rounds",
        "use fewer --deals",
    )
    _refuse(
        not boards,
        "expected at least one board, got none",
        f"name boards, such as bird or lion, or leave them out for {default_of('boards')[0]}",
    )


def _seats(config: RunConfig) -> None:
    bots = config.bots
    game = config.game
    challenger = config.challenger
    _refuse(
        len(bots) < config.players,
        f"expected at least {config.players} bots for a table of that size, got"
        f" {', '.join(bots) or 'none'}",
        "name more bots, such as the built-in greedy and careful, or fewer players",
    )
    _refuse(
        challenger is not None and challenger not in bots,
        f"expected the challenger to be one of {', '.join(bots)}, got {challenger!r}",
    )
    _refuse(
        game and (sorted(game.seats) != sorted(bots) or len(game.seats) != config.players),
        f"expected the seats of the game to be those of {shown(bots)}, got"
        f" {shown(game and game.seats)}",
        DAMAGED,
    )


def _times(config: RunConfig) -> None:
    _refuse(
        config.increment_ms and config.game_ms is None,
        "expected --game-ms with --increment-ms: an increment is added to the bank",
        "add --game-ms, or leave out the increment",
    )
    _refuse(
        config.in_process and config.timing != Timing(clock=config.clock),
        "expected no time limits where all bots are built in, whose time is only measured, got"
        " some",
        "leave out --move-ms, --game-ms, --increment-ms and --startup-ms, or add a bot that is not"
        " built in",
    )
    for label in config.bots:
        config.timing.of(label)
        _refuse(
            config.in_process and has_odds(label),
            f"expected no limits for {label}: a built-in bot's time is only measured",
            "leave them out, or add a bot that is not built in",
        )


def shown(value: Any) -> str:
    """A setting for people: a list joined by commas; ``none`` for nothing."""
    return ",".join(map(str, value)) if isinstance(value, list) and value else str(value or "none")
