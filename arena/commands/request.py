"""What `run`, `compare` and `tune` are asked to play: bots and boards, by their options."""

import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from shlex import quote

from msgspec.structs import replace

from arena.commands.bots import Tell, bot_finder
from arena.commands.folders import registry_of
from arena.errors import ConfigError, printable
from arena.match.clock import Timing
from arena.players.builtin import NAMES, is_built_in
from arena.players.folder import Bot, renamed
from arena.players.options import MOST_TEXT, settings_text, split_options, value_text
from arena.players.staging import check_programs, lack
from arena.players.timekeeper import BEST_CLOCK
from arena.tournament.comparison import deals_for
from arena.tournament.config import DEFAULTS, Comparison
from arena.tournament.parameters import Wanted, parameters_of
from arena.tournament.request import Request, RunOptions, make_request
from arena.tournament.session import choose_folder
from arena.tournament.tuning import BLOCKS_A_STEP, Tuning
from arena.tournament.tuning import deals_for as deals_of_search

LONGEST_VALUE = 12
"""Signs for the value of an option that was tuned, with ``=`` and a comma."""
MOST_BLOCKS = 20_000
"""A comparison stops undecided after so many, unless told otherwise."""
OPPONENTS = ("greedy", "careful", "random", "greedy-4")
"""Built-in bots suggested to a user who named too few bots."""


def request_run(home: Path, options: RunOptions, tell: Tell) -> Request:
    """What the options of a tournament ask for. Raises UserError."""
    boards = options.find_boards()
    find = bot_finder(home, tell, in_process=bool(options.in_process))
    bots = _find_bots(home, find, options, tell)
    if options.challenger is not None:
        options = replace(options, challenger=_seat_challenger(find, options.challenger, bots))
    _refuse_too_few(bots, options)
    if all(map(is_built_in, bots)):
        options = replace(options, in_process=True)
    request = make_request(with_clock(options, tell), boards, bots)
    _warn_about_times(bots, request.config.timing, tell)
    return request


def _find_bots(
    home: Path, find: Callable[[str], Bot], options: RunOptions, tell: Tell
) -> list[Bot]:
    """The named bots, or else the newest versions of all that this machine can start, or with
    ``in_process`` one of each built-in kind.
    """
    if options.in_process:
        return [find(name) for name in options.bots or NAMES]
    if options.bots:
        return _check_programs([find(name) for name in options.bots])

    def leave_out(label: str, reason: object) -> None:
        tell(f"warning: {printable(label)} is left out: {printable(str(reason))}")

    found, registry = [], registry_of(home)
    for bot in registry.newest(leave_out):
        reason, cure = lack(bot)
        if reason:
            leave_out(bot.label, f"{reason}; {cure}")
        else:
            found.append(bot)
    if not found:
        raise ConfigError(
            f"expected bots to play, found none in {registry.root}",
            "'arena new my-bot' makes your first bot; then 'arena run ./my-bot greedy careful'"
            " plays it against built-in ones",
        )
    return found


def _refuse_too_few(bots: Sequence[Bot], options: RunOptions) -> None:
    """Raises ConfigError with a command that names enough bots."""
    usual: int = DEFAULTS["players"]
    players = options.players or usual
    if len(bots) >= players:
        return
    labels = [bot.label for bot in bots]
    further = [name for name in OPPONENTS if name not in labels][: max(2, players - len(bots))]
    table = ["--players", str(players)] if players > usual else []
    raise ConfigError(
        f"expected at least {players} bots, got {', '.join(labels)}",
        "name opponents too; built-in ones are always there:"
        f" '{shlex.join(['arena', 'run', *(options.bots or labels), *further, *table])}'",
    )


def _seat_challenger(find: Callable[[str], Bot], text: str, bots: list[Bot]) -> str:
    """The label of the challenger, which is added to the bots if it is not one of them yet."""
    labels = [bot.label for bot in bots]
    if text in labels:
        return text
    challenger = find(text)
    if challenger.label not in labels:
        bots.append(challenger)
    elif challenger.sha256 != bots[labels.index(challenger.label)].sha256:
        raise ConfigError(
            f"expected one bot named {challenger.label}, got {text} and another one",
            "give one of them another name",
        )
    return challenger.label


def request_comparison(
    home: Path, compare: Comparison, options: RunOptions, tell: Tell, *, max_blocks: int, null: bool
) -> Request:
    """What the options of a comparison ask for, between two bots that are named as the user does.
    The new one comes first, then the old one, then the pool. Raises UserError.
    """
    find = bot_finder(home, tell, in_process=bool(options.in_process))
    new, old = _find_pair(find, compare, tell, null=null)
    bots = _check_programs([new, old, *map(find, options.bots or ())])
    if all(map(is_built_in, bots)):
        options = replace(options, in_process=True)
    boards, compare = options.find_boards(), replace(compare, new=new.label, old=old.label)
    request = make_request(with_clock(options, tell), boards, bots, compare)
    deals = deals_for(request.config, max_blocks)
    _warn_about_times(bots, request.config.timing, tell)
    return replace(request, config=replace(request.config, deals=deals))


def request_tuning(
    bot: Bot,
    asked: Sequence[Wanted],
    options: RunOptions,
    tell: Tell,
    *,
    games: int,
    step: int | None,
) -> Request:
    """What tuning some options of a bot asks for: ``step`` deals on each board before the path
    moves. The two bots of the run are the sides, up and down. Raises UserError.
    """
    if is_built_in(bot):
        raise ConfigError(
            f"expected a bot with options to tune, got {bot.label}, which is built in",
            "name a bot whose bot.toml declares [options]",
        )
    _check_programs([bot])
    parameters = parameters_of(asked, bot.manifest.options, bot.options, bot.base)
    boards = options.find_boards()
    tuning = Tuning(bot.label, parameters, step or max(1, BLOCKS_A_STEP // len(boards)))
    sides = _sides(bot, {parameter.name for parameter in parameters})
    request = make_request(with_clock(options, tell), boards, sides, tune=tuning)
    _warn_about_times(sides, request.config.timing, tell)
    deals = deals_of_search(games, len(boards))
    return replace(request, config=replace(request.config, deals=deals))


def _sides(bot: Bot, tuned: Collection[str]) -> list[Bot]:
    """The two sides of a search, with the settings that it leaves as they are. Raises ConfigError
    where a name with all that are tuned would be too long.
    """
    kept = {name: value for name, value in bot.settings.items() if name not in tuned}
    length = len(settings_text(kept)) + sum(len(name) + LONGEST_VALUE for name in tuned)
    if length > MOST_TEXT:
        raise ConfigError(
            f"expected fewer options at once, got {len(tuned)}: what is found could not be written"
            f" in a name of {MOST_TEXT} signs",
            "tune those that matter most, then the others",
        )
    sign = "-" if "@" in bot.base else "@"
    return [
        renamed(replace(bot, settings=kept), f"{bot.base}{sign}{side}") for side in ("up", "down")
    ]


def _find_pair(
    find: Callable[[str], Bot], pair: Comparison, tell: Tell, *, null: bool
) -> tuple[Bot, Bot]:
    """The new bot and the old one, under names that tell them apart. Raises UserError."""
    old = find(pair.old)
    if null:
        return renamed(old, f"{old.base}-null"), old
    new = find(pair.new)
    if new.plays_as(old):
        raise ConfigError(
            f"expected two different bots, got the same content as {pair.new} and {pair.old}",
            _cure_for_same(pair, new, old),
        )
    if new.label == old.label:
        old = renamed(old, f"{old.base}@{old.manifest.version}")
        tell(f"note: {pair.old} is called {old.label} here, and {pair.new} {new.label}")
    return new, old


def _cure_for_same(pair: Comparison, new: Bot, old: Bot) -> str:
    """What to do if both names stand for the same content."""
    if is_built_in(new):
        return (
            "a built-in bot has one version: name two different ones, as in 'arena compare"
            " careful-4 careful-2'; --null plays one against itself"
        )
    if same := _options_in_vain(pair, new):
        return f"{same}: set another value for one of the two; --null plays a bot against itself"
    name, version = new.manifest.name, old.manifest.version
    if name == old.manifest.name and new.manifest.version == version:
        return (
            f"version {version} is the newest of {name}: change the bot, 'arena submit' it again,"
            f" and compare {name} {name}@{version}; or compare the changed folder by its path, as"
            f" in './{name} {name}'; --null plays the old one against itself"
        )
    return (
        "name another version, as in 'arena compare my-bot my-bot@1'; --null plays the old one"
        " against itself"
    )


def _options_in_vain(pair: Comparison, bot: Bot) -> str:
    """Why the options of two names make no difference; empty if neither has any."""
    texts = [split_options(name)[1] or "" for name in (pair.new, pair.old)]
    asked = [part.partition("=")[0].strip() for text in texts for part in text.split(",")]
    usual = [
        f"{value_text(value)} is the default of {name}"
        for name, value in bot.options.items()
        if name in asked and name not in bot.settings
    ]
    both = f"both have {settings_text(bot.settings)}" if bot.settings else ""
    return " and ".join(usual) or both


def _check_programs(bots: list[Bot]) -> list[Bot]:
    """The bots, after checking that the programs to build and start each exist. Raises
    BotFolderError.
    """
    for bot in bots:
        if not is_built_in(bot):
            check_programs(bot)
    return bots


def _warn_about_times(bots: Sequence[Bot], timing: Timing, tell: Tell) -> None:
    """Warns about bots that get less time than they were made for."""
    for bot in bots:
        own = timing.of(bot.label)
        for key in ("move_ms", "startup_ms"):
            needed, given = getattr(bot.manifest, key), getattr(own, key)
            if needed is not None and needed > given:
                tell(
                    f"warning: {bot.label} was made for at least {needed} ms ({key}), and gets"
                    f" {given}"
                )


def with_clock(options: RunOptions, tell: Tell) -> RunOptions:
    """The options with the best clock there is here, if none was asked for."""
    if options.in_process or options.clock:
        return options
    if BEST_CLOCK == "wall":
        tell(
            "note: time is measured by the wall clock here, because only Linux counts processor"
            " time reliably"
        )
    return replace(options, clock=BEST_CLOCK)


def results_path(
    results: Path,
    out: str | None,
    request: Request,
    tell: Tell,
    *,
    finished: bool = False,
    prefix: str = "",
) -> Path:
    """The folder of the run that ``--out`` names, or else the one that `session.choose_folder`
    chooses.
    """
    if out is not None:
        return Path(out) if "/" in out else results / out
    choice = choose_folder(results, request, finished=finished, prefix=prefix)
    if choice.passed_over:
        name, folder = quote(choice.passed_over.name), quote(str(choice.passed_over))
        note = (
            f"note: {name} is unfinished: 'arena run --finish {name}' plays the rest, 'rm -r"
            f" {folder}' deletes it"
        )
        tell(printable(note))
    return choice.folder
