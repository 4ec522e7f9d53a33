"""The settings of a tournament: what they are, and their defaults."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from arena import __version__
from arena.errors import ConfigError, did_you_mean
from arena.match.clock import Timing
from arena.players.folder import Bot
from arena.players.messages import PROTOCOL, ClockKind
from arena.players.odds import has_odds
from arena.players.options import MOST_MS
from arena.records.league import Drawn
from arena.records.record import DUEL
from arena.records.runfile import BotInfo, RunInfo
from arena.rules import CORE
from arena.rules.boards import Board
from arena.rules.terms import REVISION
from arena.tournament.tuning import Tuning, check_tuning

MOST_DEALS = 10_000_000
DEFAULT_BOARDS = ("bird",)
UNSAID = Timing()
NO_GRANTS: Mapping[str, list[str]] = {}
Players = Annotated[int, Meta(ge=2, le=4)]
Deals = Annotated[int, Meta(ge=1, le=MOST_DEALS)]
Tables = Annotated[int, Meta(ge=1)]
Milliseconds = Annotated[int, Meta(ge=1, le=MOST_MS)]
Increment = Annotated[int, Meta(ge=0, le=MOST_MS)]
HalfWidth = Annotated[float, Meta(gt=0)]
Chance = Annotated[float, Meta(gt=0, lt=0.5)]
# A run.json can come from anybody, and `len` fails for ranges of 2**63 and more.
DealCount = Annotated[int, Meta(ge=0, le=2**53)]
Seatings = Literal["rotations", "all", "single"]
Basis = Literal["wins", "margin"]


class Comparison(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run compares: two of its bots (the others are their opponents), and the question that
    the blocks answer.

    ``elo0`` and ``elo1`` are the two hypotheses, ``alpha`` and ``beta`` the error rates allowed for
    each. ``by`` is what the blocks are judged by.
    """

    new: str
    old: str
    elo0: float = 0.0
    elo1: float = 10.0
    alpha: Chance = 0.05
    beta: Chance = 0.05
    by: Basis = "wins"


class LeagueTerms(Struct, frozen=True, forbid_unknown_fields=True):
    """Who joins a league by itself: every version of the bots with these ``names``, or of all in
    bots/ without any.
    """

    names: list[str] = []


class OneGame(Struct, frozen=True, forbid_unknown_fields=True):
    """The only game of a run, which somebody played: the bots by seat, and the number of its deal,
    or of its match.
    """

    seats: list[str]
    deal: Annotated[int, Meta(ge=0, lt=MOST_DEALS)] = 0


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings that decide which games a run has and how they are played.

    ``boards``      names; ``match`` has the boards of the rounds that count together (R8.3), one
                    entry per round; empty: games count singly
    ``seatings``    of each deal: its rotations, all, or a single one, with a deck for each game
    ``deals``       on each board, or per match; ``tables`` is the number of line-ups, None for all
                    of them
    ``challenger``  a gauntlet: only line-ups with this bot
    ``clock``       what a bot's time is measured by; runs from before there was a choice used the
                    wall clock
    ``game_ms``     each seat's bank for a game, None without one
    ``in_process``  all bots are those of `arena.players.builtin`, with no processes, sandbox or
                    time limits
    ``seed``        text from which every deck and every bot's seed is derived; empty in a request
                    that leaves it open
    ``line_ups``    those chosen by ``tables``, kept so that more bots or tables only add to them;
                    None: all of them
    ``compare``     the run asks whether one bot is better than another
    ``tune``        the run tunes a bot: its two ``bots``, up and down, are that one with settings
                    that differ from deal to deal
    ``league``      the run goes on as long as somebody plays it: members join, and what is played
                    next is ``drawn``, line-up by line-up, each on deals of its own
    ``until``       the run ends when every rating's 95 % interval reaches at most this many Elo to
                    either side
    ``adaptive``    line-ups get more deals the more they help the ranking, instead of the same
                    number each
    ``allotted``    the deals given to each line-up so far, by its names joined by ``+``; None:
                    ``deals`` for each
    ``keep_stderr`` whose stderr is kept: that of all bots, of none, or of those with these names
    ``settled``     the number of deals after which the run's question was answered; None: not yet,
                    or it has none
    ``game``        the run is a single game, or match, that was played by itself; None: a
                    tournament
    """

    bots: list[str]
    seed: str
    players: Players = 2
    boards: list[str] = msgspec.field(default_factory=lambda: list(DEFAULT_BOARDS))
    match: list[str] = msgspec.field(default_factory=list)
    deals: Deals = 10
    seatings: Seatings = "rotations"
    tables: Tables | None = None
    challenger: str | None = None
    move_ms: Milliseconds = UNSAID.move_ms
    game_ms: Milliseconds | None = UNSAID.game_ms
    increment_ms: Increment = UNSAID.increment_ms
    startup_ms: Milliseconds = UNSAID.startup_ms
    clock: ClockKind = "wall"
    in_process: bool = False
    line_ups: list[list[str]] | None = None
    compare: Comparison | None = None
    tune: Tuning | None = None
    league: LeagueTerms | None = None
    drawn: list[Drawn] = []
    until: HalfWidth | None = None
    adaptive: bool = False
    allotted: dict[str, DealCount] | None = None
    settled: DealCount | None = None
    keep_stderr: bool | list[str] = False
    game: OneGame | None = None

    def keeps_stderr(self, label: str) -> bool:
        """Whether a bot's stderr is kept; of a label with options the name alone will do."""
        kept = self.keep_stderr
        return label in kept or label.partition(":")[0] in kept if isinstance(kept, list) else kept

    @property
    def is_open(self) -> bool:
        """Whether the number of games depends on the results."""
        return self.settled is None and (
            self.compare is not None or self.until is not None or self.adaptive
        )

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
        return sorted(
            set(self.bots) - ({self.compare.new, self.compare.old} if self.compare else set())
        )

    @property
    def timing(self) -> Timing:
        """The time control of bots that name no limits of their own."""
        return Timing(self.move_ms, self.game_ms, self.increment_ms, self.startup_ms, self.clock)


DEFAULTS: dict[str, Any] = {
    field.name: field.default_factory()
    if field.default_factory is not msgspec.NODEFAULT
    else field.default
    for form in (RunConfig, Comparison)
    for field in msgspec.structs.fields(form)
    if not field.required
}
"""What a setting, or a part of a comparison's question, is where nothing is said."""


def make_config(settings: Mapping[str, Any]) -> RunConfig:
    """The settings out of a request or a run.json, checked. Raises ConfigError."""
    try:
        config = msgspec.convert(dict(settings), type=RunConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"settings: {error}") from None
    if len(set(config.bots)) < len(config.bots):
        twice = next(name for name in config.bots if config.bots.count(name) > 1)
        cure = (
            "built-in bots such as careful-8 and careful-16 are different bots"
            if config.in_process
            else "to give a bot another name, use 'arena submit --name'"
        )
        raise ConfigError(f"expected each bot once, got {twice!r} twice", cure)
    _check_question(config)
    if config.match:
        _check_match(config)
    if not config.boards:
        raise ConfigError(
            "expected at least one board, got none",
            f"name boards, such as bird or lion, or leave them out for {DEFAULT_BOARDS[0]}",
        )
    if len(config.bots) < config.players:
        raise ConfigError(
            f"expected at least {config.players} bots for a table of that size, got"
            f" {', '.join(config.bots) or 'none'}",
            "name more bots, such as the built-in greedy and careful, or fewer players",
        )
    if config.challenger is not None and config.challenger not in config.bots:
        raise ConfigError(
            f"expected the challenger to be one of {', '.join(config.bots)}, got"
            f" {config.challenger!r}"
        )
    if config.game is not None:
        _check_game(config, config.game)
    _check_kept(config)
    if config.increment_ms and config.game_ms is None:
        raise ConfigError(
            "expected --game-ms with --increment-ms: an increment is added to the bank",
            "add --game-ms, or leave out the increment",
        )
    if config.in_process and config.timing != Timing(clock=config.clock):
        raise ConfigError(
            "expected no time limits where all bots are built in, whose time is only measured, got"
            " some",
            "leave out --move-ms, --game-ms, --increment-ms and --startup-ms, or add a bot that is"
            " not built in",
        )
    _check_odds(config)
    return config


def _check_question(config: RunConfig) -> None:
    """Raises ConfigError."""
    if config.compare is not None:
        _check_comparison(config, config.compare)
    if config.tune is not None:
        check_tuning(config.tune)
        _check_sides(config)


def _check_game(config: RunConfig, game: OneGame) -> None:
    """Raises ConfigError."""
    if sorted(game.seats) != sorted(config.bots) or len(game.seats) != config.players:
        raise ConfigError(
            f"expected the seats of the game to be those of {shown(config.bots)}, got"
            f" {shown(game.seats)}",
            "something else changed run.json: restore it",
        )


def _check_sides(config: RunConfig) -> None:
    """Raises ConfigError."""
    if len(config.bots) != DUEL or config.players != DUEL or config.seatings != "rotations":
        raise ConfigError(
            "expected a run that tunes a bot to have two sides, in both seatings of each deal, got"
            f" {shown(config.bots)}, {config.players} players and {config.seatings}",
            "something else changed run.json: restore it",
        )


def _check_odds(config: RunConfig) -> None:
    """Raises ConfigError."""
    for label in config.bots:
        config.timing.of(label)
        if config.in_process and has_odds(label):
            raise ConfigError(
                f"expected no limits for {label}: a built-in bot's time is only measured",
                "leave them out, or add a bot that is not built in",
            )


def _check_kept(config: RunConfig) -> None:
    """Raises ConfigError for a bot whose stderr is to be kept, but which does not play."""
    if config.keep_stderr and config.in_process:
        raise ConfigError(
            "expected bots with processes for --keep-stderr, got built-in ones alone, which print"
            " nothing",
            "leave it out",
        )
    known = {name for label in config.bots for name in (label, label.partition(":")[0])}
    for name in config.keep_stderr if isinstance(config.keep_stderr, list) else ():
        if name not in known:
            raise ConfigError(
                f"expected --keep-stderr to name bots that play, {', '.join(config.bots)}, got"
                f" {name!r}",
                f"{did_you_mean(name, sorted(known))}for all bots, write it last; for some,"
                " --keep-stderr=BOT,...",
            )


def _check_match(config: RunConfig) -> None:
    """Raises ConfigError."""
    if config.compare is not None:
        raise ConfigError(
            "expected a comparison to count games singly, got a match", "leave out --match"
        )
    if set(config.match) != set(config.boards):
        raise ConfigError(
            f"expected the boards of the match, {shown(config.match)}, got {shown(config.boards)}",
            "leave out --boards, because --match lists the boards; name each --board file there",
        )
    rounds = max(map(config.match.count, config.match))
    if config.deals * rounds > MOST_DEALS:
        raise ConfigError(
            f"expected at most {MOST_DEALS:,} deals on a board, got {config.deals:,} for each of"
            f" {rounds} rounds",
            "use fewer --deals",
        )


def _check_comparison(config: RunConfig, compare: Comparison) -> None:
    """Raises ConfigError."""
    opponents, least = len(config.pool), config.players - 1
    if config.has_own_decks:
        raise ConfigError(
            "expected a comparison to play each deal in several seatings, got single ones: without"
            " them it compares nothing",
            "leave out the seatings; 'arena run --seatings single' plays a tournament",
        )
    if not compare.elo0 < compare.elo1:
        raise ConfigError(
            f"expected --elo0 below --elo1, got {compare.elo0:g} and {compare.elo1:g}",
            "for example --elo0 0 --elo1 10",
        )
    if opponents < least and (opponents or least > 1):
        raise ConfigError(
            f"expected at least {least} opponents for a table of {config.players}, got"
            f" {', '.join(config.pool) or 'none'}",
            "name them with --pool A,B",
        )


def describe_run(
    config: RunConfig,
    boards: Mapping[str, Board],
    bots: Sequence[Bot],
    *,
    sandbox: str,
    started: str,
    known: RunInfo | None = None,
    grants: Mapping[str, list[str]] = NO_GRANTS,
) -> RunInfo:
    """The run.json of a run with these settings; ``known`` is what it says of the run so far, and
    ``grants`` are those of bots, by label without options.
    """
    return RunInfo(
        arena=__version__,
        protocol=PROTOCOL,
        rules_core=CORE,
        rules_revision=REVISION,
        config=msgspec.to_builtins(config),
        boards={name: list(boards[name].rows) for name in config.boards},
        bots=[
            msgspec.structs.replace(info_of(bot, known), grants=grants.get(bot.base, []))
            for bot in bots
        ],
        seed=config.seed,
        sandbox=sandbox,
        started=started,
    )


def info_of(bot: Bot, known: RunInfo | None = None) -> BotInfo:
    """A bot's entry in run.json; a run that is ``known`` may name the same content by the hash of
    earlier versions.
    """
    info = BotInfo(
        bot.label, str(bot.manifest.version), bot.sha256, bot.command, {**bot.options, **bot.limits}
    )
    there = (
        next((other for other in known.bots if other.name == bot.label), info) if known else info
    )
    return (
        msgspec.structs.replace(info, sha256=there.sha256) if bot.has_hash(there.sha256) else info
    )


def extended(known: RunInfo, wanted: RunInfo) -> RunInfo:
    """The run.json of a run that continues: it keeps what is there, and may get more deals, bots
    and line-ups.
    """
    there = {bot.name: bot for bot in known.bots}
    return msgspec.structs.replace(
        known, config=wanted.config, bots=[there.get(bot.name, bot) for bot in wanted.bots]
    )


def shown(value: Any) -> str:
    """A setting for people: a list joined by commas; ``none`` for nothing."""
    return ",".join(map(str, value)) if isinstance(value, list) and value else str(value or "none")
