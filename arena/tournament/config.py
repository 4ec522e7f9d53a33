"""What a tournament is: the settings, where they come from, and whether a run that exists may go on with them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from arena import __version__
from arena.errors import ConfigError
from arena.match.clock import Timing
from arena.players.folder import Bot
from arena.players.manifest import check_name
from arena.players.messages import PROTOCOL
from arena.players.sandbox.tiers import Mode
from arena.records.runfile import BotInfo, RunInfo
from arena.rules import CORE
from arena.rules.boards import BUILT_IN, Board, built_in, read_board
from arena.rules.terms import REVISION

MAX_MS = 86_400_000
MOST_DEALS = 10_000_000
GROWING = ("deals", "tables")
OWN_RULES = ("bots", "seed", "line_ups", "settled", "allotted")
"""Settings that a run may not simply be asked to have again."""
Milliseconds = Annotated[int, Meta(ge=1, le=MAX_MS)]
Seatings = Literal["rotations", "all"]


Chance = Annotated[float, Meta(gt=0, lt=0.5)]


class Comparison(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run compares: two of its bots, the others being their opponents, and the question put to the blocks.

    ``elo0`` and ``elo1`` are the hypotheses, ``alpha`` and ``beta`` how often either may be missed.
    """

    new: str
    old: str
    elo0: float = 0.0
    elo1: float = 10.0
    alpha: Chance = 0.05
    beta: Chance = 0.05


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings that decide which games a run has and how they are played.

    ``boards``      names; ``match`` those of the rounds that count together (R8.3), each as often as it is played; none: games count singly
    ``deals``       on each board, or of the match; ``tables`` the number of line-ups, None for all of them
    ``challenger``  a gauntlet: only line-ups with this bot
    ``game_ms``     the bank of each seat for a game, None without one
    ``in_process``  all bots are those of `arena.players.builtin`, without processes, walls or limits of time
    ``seed``        text from which every deck and every bot's seed is derived
    ``line_ups``    those that ``tables`` chose, kept so that further bots or tables only add to them; None: all there are
    ``compare``     the run asks whether one bot is better than another
    ``until``       the run ends when the 95 % interval of every bot's rating reaches no further than so many Elo to either side
    ``adaptive``    line-ups get as many of the deals as they help the ranking, not all the same
    ``allotted``    the deals that each line-up, its names joined by ``+``, was given so far; None: all the same, ``deals``
    ``settled``     the deals after which what the run asks was answered; None: not yet, or it asks nothing
    """

    bots: list[str]
    seed: str
    players: Annotated[int, Meta(ge=2, le=4)] = 2
    boards: list[str] = msgspec.field(default_factory=lambda: ["bird"])
    match: list[str] = msgspec.field(default_factory=list)
    deals: Annotated[int, Meta(ge=1, le=MOST_DEALS)] = 10
    seatings: Seatings = "rotations"
    tables: Annotated[int, Meta(ge=1)] | None = None
    challenger: str | None = None
    move_ms: Milliseconds = 1000
    game_ms: Milliseconds | None = None
    increment_ms: Annotated[int, Meta(ge=0, le=MAX_MS)] = 0
    startup_ms: Milliseconds = 10_000
    in_process: bool = False
    line_ups: list[list[str]] | None = None
    compare: Comparison | None = None
    until: Annotated[float, Meta(gt=0)] | None = None
    adaptive: bool = False
    allotted: dict[str, int] | None = None
    settled: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether it depends on the results how much will be played."""
        return self.settled is None and (self.compare is not None or self.until is not None or self.adaptive)

    @property
    def rounds(self) -> list[str]:
        """The boards of the games that every line-up plays in each seating of a deal."""
        return self.match or self.boards

    @property
    def pool(self) -> list[str]:
        """The bots that are not compared, sorted."""
        return sorted(set(self.bots) - ({self.compare.new, self.compare.old} if self.compare else set()))

    @property
    def timing(self) -> Timing:
        """The time control."""
        return Timing(self.move_ms, self.game_ms, self.increment_ms, self.startup_ms)


class FileConfig(Struct, frozen=True, forbid_unknown_fields=True, rename={"board_files": "board"}):
    """arena.toml: the options of ``arena run`` under the same names, with underscores; every one may be left out.

    Paths, which have a '/' where a name could stand, are relative to the file.
    """

    bots: list[str] | None = None
    seed: str | int | None = None
    players: int | None = None
    boards: list[str] | None = None
    board_files: list[str] | None = None
    match: list[str] | None = None
    deals: int | None = None
    seatings: Seatings | None = None
    tables: int | None = None
    challenger: str | None = None
    move_ms: int | None = None
    game_ms: int | None = None
    increment_ms: int | None = None
    startup_ms: int | None = None
    until: float | None = None
    adaptive: bool | None = None
    in_process: bool | None = None
    jobs: Annotated[int, Meta(ge=1)] | None = None
    cluster: str | None = None
    tls_ca_file: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    sandbox: Mode | None = None
    trust: list[str] | None = None
    out: str | None = None


def read_config_file(path: Path) -> dict[str, Any]:
    """The settings in an arena.toml that are there. Raises ConfigError."""
    try:
        config = msgspec.toml.decode(path.read_bytes(), type=FileConfig)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}", "its keys are the options of 'arena run' with '_' for '-'") from None
    settings = {name: value for name in config.__struct_fields__ if (value := getattr(config, name)) is not None}
    files = ["board_files", "tls_ca_file", "tls_cert", "tls_key"]
    if settings.get("cluster", "").endswith(".json"):
        files.append("cluster")
    for name in ("bots", "challenger", "out", *files):
        if name in settings:
            settings[name] = _beside(path, settings[name], always=name in files)
    return settings


def _beside(file: Path, texts: str | list[str], *, always: bool) -> Any:
    """Paths in a configuration file are relative to it; without ``always``, what has no '/' is a name."""
    if isinstance(texts, list):
        return [_beside(file, text, always=always) for text in texts]
    return str(file.parent / texts) if always or "/" in texts else texts


def make_config(settings: Mapping[str, Any]) -> RunConfig:
    """The settings checked. Raises ConfigError."""
    try:
        config = msgspec.convert(dict(settings), type=RunConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"settings: {error}") from None
    if len(set(config.bots)) < len(config.bots):
        twice = next(name for name in config.bots if config.bots.count(name) > 1)
        cure = "careful-8 and careful-16 differ" if config.in_process else "give a bot by path another name with 'arena submit --name'"
        raise ConfigError(f"expected each bot once, got {twice!r} twice", cure)
    if config.compare is not None:
        _check_comparison(config, config.compare)
    if config.match:
        _check_match(config)
    if len(config.bots) < config.players:
        raise ConfigError(
            f"expected at least {config.players} bots for a table of that size, got {', '.join(config.bots) or 'none'}",
            "name more bots, such as the built-in greedy and careful, or fewer players",
        )
    if config.challenger is not None and config.challenger not in config.bots:
        raise ConfigError(f"expected the challenger to be one of {', '.join(config.bots)}, got {config.challenger!r}")
    if config.increment_ms and config.game_ms is None:
        raise ConfigError(
            "expected --game-ms with --increment-ms: an increment is added to a bank", "add --game-ms, or leave the increment out"
        )
    if config.in_process and config.timing != Timing():
        raise ConfigError(
            "expected no limits of time where all bots are built in, whose time is only measured, got some",
            "leave --move-ms, --game-ms, --increment-ms and --startup-ms out, or add a bot that is not built in",
        )
    return config


def _check_match(config: RunConfig) -> None:
    """Raises ConfigError."""
    if config.compare is not None:
        raise ConfigError("expected a comparison to count games singly, got a match", "leave --match out")
    if set(config.match) != set(config.boards):
        raise ConfigError(
            f"expected the boards of the match, {_shown(config.match)}, got {_shown(config.boards)}",
            "leave --boards out: --match says what is played; name each --board file in it",
        )
    rounds = max(map(config.match.count, config.match))
    if config.deals * rounds > MOST_DEALS:
        raise ConfigError(
            f"expected at most {MOST_DEALS:,} deals on a board, got {config.deals:,} for each of {rounds} rounds", "ask for fewer --deals"
        )


def _check_comparison(config: RunConfig, compare: Comparison) -> None:
    """Raises ConfigError."""
    opponents, least = len(config.pool), config.players - 1
    if not compare.elo0 < compare.elo1:
        raise ConfigError(f"expected --elo0 below --elo1, got {compare.elo0:g} and {compare.elo1:g}", "for example --elo0 0 --elo1 10")
    if opponents < least and (opponents or least > 1):
        raise ConfigError(
            f"expected at least {least} opponents for a table of {config.players}, got {', '.join(config.pool) or 'none'}",
            "name them with --pool A,B",
        )


def find_boards(names: Sequence[str], files: Sequence[Path]) -> dict[str, Board]:
    """The boards of a run by name. Raises BoardError, ConfigError."""
    boards = {name: built_in(name) for name in names}
    for path in files:
        board = read_board(path)
        check_name(board.name, str(path))
        if board.name in boards or board.name in BUILT_IN:
            raise ConfigError(f"{path}: expected a board name other than {', '.join(sorted({*boards, *BUILT_IN}))}", "rename the file")
        boards[board.name] = board
    return boards


def describe_run(config: RunConfig, boards: Mapping[str, Board], bots: Sequence[Bot], *, sandbox: str, started: str) -> RunInfo:
    """The run.json of a run with these settings."""
    return RunInfo(
        arena=__version__,
        protocol=PROTOCOL,
        rules_core=CORE,
        rules_revision=REVISION,
        config=msgspec.to_builtins(config),
        boards={name: list(boards[name].rows) for name in config.boards},
        bots=[info_of(bot) for bot in bots],
        seed=config.seed,
        sandbox=sandbox,
        started=started,
    )


def info_of(bot: Bot) -> BotInfo:
    """What run.json says of a bot."""
    return BotInfo(bot.label, str(bot.manifest.version), bot.sha256, bot.command)


def extended(known: RunInfo, wanted: RunInfo) -> RunInfo:
    """The run.json of a run that goes on: what is known of it stays, deals, bots and line-ups may be more."""
    there = {bot.name: bot for bot in known.bots}
    return msgspec.structs.replace(known, config=wanted.config, bots=[there.get(bot.name, bot) for bot in wanted.bots])


def differences(known: RunInfo, wanted: RunInfo) -> list[str]:
    """Why a run may not go on as wanted, a line each; more deals, tables and further bots are no difference."""
    versions = (
        ("protocol", known.protocol, wanted.protocol),
        ("rules revision", known.rules_revision, wanted.rules_revision),
        ("seed", known.seed, wanted.seed),
    )
    found = [f"{what}: the run has {there}, now it is {here}" for what, there, here in versions if there != here]
    for key, here in wanted.config.items():
        there = known.config.get(key)
        if key in GROWING and isinstance(there, int) and isinstance(here, int):
            if here < there:
                found.append(f"{key}: the run has {there}, asked for {here}; a run can only grow")
        elif key == "until" and there and here:
            if here > there:
                found.append(f"until: the run has {there:g}, asked for {here:g}; a run can only grow")
        elif key == "in_process":
            found += _kind_difference(is_built_in=bool(there), wanted=here)
        elif isinstance(there, dict) and isinstance(here, dict):
            found += [f"{part}: the run has {there.get(part)}, asked for {here[part]}" for part in here if there.get(part) != here[part]]
        elif key not in OWN_RULES and (there or None) != (here or None):
            cure = "; 'arena standings --match' shows a run by another scoring" if key == "match" else ""
            found.append(f"{key}: the run has {_shown(there)}, asked for {_shown(here)}{cure}")
    if wanted.config["compare"] and (further := {bot.name for bot in wanted.bots} - {bot.name for bot in known.bots}):
        found.append(f"pool: {', '.join(sorted(further))} not in the run; who is compared against whom stays as it began")
    changed = (name for name in known.boards.keys() & wanted.boards.keys() if known.boards[name] != wanted.boards[name])
    found += [f"board {name}: its rows are not those the run was played on" for name in changed]
    return found + _bot_differences(known.bots, wanted.bots)


def _kind_difference(*, is_built_in: bool, wanted: bool) -> list[str]:
    """What keeps a run of built-in bots alone apart from one that has processes too."""
    if is_built_in == wanted:
        return []
    if is_built_in:
        return ["in_process: all bots of the run are built in; with others among them it would be a run of its own"]
    return ["in_process: the run has bots that are processes; built-in ones alone would be a run of its own"]


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) and value else str(value or "none")


def _bot_differences(known: Sequence[BotInfo], wanted: Sequence[BotInfo]) -> list[str]:
    found, now = [], {bot.name: bot for bot in wanted}
    for bot in known:
        if bot.name not in now:
            found.append(f"bot {bot.name}: in the run, but not asked for; a run can only grow")
        elif now[bot.name].sha256 != bot.sha256:
            found.append(
                f"bot {bot.name}: its content changed from {bot.version} ({bot.sha256[:12]}) "
                f"to {now[bot.name].version} ({now[bot.name].sha256[:12]})"
            )
    return found
