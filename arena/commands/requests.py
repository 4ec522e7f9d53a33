"""Makes the requests of `run`, `compare` and `tune` from the bots and options that a user names,
and chooses the folder of the run.
"""

import shlex
from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena.commands.bots import Tell, bot_finder, registry_of
from arena.errors import ConfigError, printable
from arena.players.folder import Bot, renamed
from arena.players.labels import MAX_TEXT, copy_name, settings_text, split_options, timing_for
from arena.players.player import NAME, NAMES, is_built_in
from arena.players.staging import check_programs, lack
from arena.records.config import Comparison, Tuning, games_of_block
from arena.records.record import DUEL
from arena.records.timing import BEST_CLOCK, Timing
from arena.tournament.next_games import deals_for
from arena.tournament.runs import Request, boards_of, choose_folder, make_request
from arena.tournament.settings import GivenOptions, Named, default_of
from arena.tournament.tuning import BLOCKS_A_STEP, TunedOption, parameters_of
from arena.tournament.tuning import deals_for as deals_of_search

LONGEST_VALUE = 12
"""The most characters that the value of a tuned option takes in a label, including the ``=`` before
it and the comma after it.
"""
OPPONENTS = ("greedy", "careful", "random", "greedy-4")
"""The built-in bots that an error suggests to a user who named too few bots."""


def request_run(home: Path, options: GivenOptions, tell: Tell) -> Request:
    """The request for a tournament with these options. Without ``bots`` among the options, the
    newest version of every bot in bots/ and of every bundled bot plays, or all built-in bots if the
    options say ``in_process``. Raises UserError.
    """
    find = bot_finder(home, tell, in_process=options.get("in_process", False))
    names = options.get("bots") or (NAMES if options.get("in_process") else ())
    bots = list(map(find, names)) or _newest_bots(home, tell)
    if "challenger" in options:
        label = _seat_challenger(find, str(options["challenger"]), bots)
        options = {**options, "challenger": label}
    _refuse_second_names(bots)
    _refuse_too_few(bots, options)
    return _request(bots, options, tell)


def _request(bots: list[Bot], options: GivenOptions, tell: Tell, **kind: Any) -> Request:
    """The request for a run of these bots with these options; ``kind`` has the ``compare`` or
    ``tune`` of a comparison or a search. Raises UserError, also if a program that a bot needs is
    missing on this machine.
    """
    for bot in bots:
        if not is_built_in(bot):
            check_programs(bot)
    if all(map(is_built_in, bots)):
        options = {**options, "in_process": True}
    request = make_request(with_clock(options, tell), boards_of(options), bots, **kind)
    _warn_about_times(bots, request.config.timing, tell)
    return request


def _newest_bots(home: Path, tell: Tell) -> list[Bot]:
    """The newest version of each bot in the home's bots/, and the bundled bots. Bots that cannot be
    read or started here are left out, and the user is told about each of them. Raises ConfigError
    if no bot is left.
    """

    def leave_out(label: str, reason: object) -> None:
        """Tells the user that the bot with this label does not play, and the reason."""
        tell(f"warning: {printable(label)} is left out: {printable(str(reason))}")

    startable = []
    registry = registry_of(home)
    for bot in registry.newest(leave_out):
        reason, cure = lack(bot)
        if reason:
            leave_out(bot.label, f"{reason}; {cure}")
        else:
            startable.append(_beside_built_in(bot, tell))
    if not startable:
        raise ConfigError(
            f"there are no bots in {registry.root}",
            "'arena new my-bot' makes your first bot; then 'arena run ./my-bot greedy careful'"
            " plays it against built-in ones",
        )
    return startable


def _beside_built_in(bot: Bot, tell: Tell) -> Bot:
    """The bot itself; or, if a built-in bot has the same name, a copy with its version in the
    label.
    """
    if not NAME.fullmatch(bot.label):
        return bot
    label = f"{bot.label}@{bot.manifest.version}"
    tell(f"note: {bot.label} means the built-in bot; {bot.folder} plays as {label}")
    return replace(bot, label=label)


def _refuse_second_names(bots: Sequence[Bot]) -> None:
    """Raises ConfigError if two of the ``bots`` have different labels, but are in one folder and
    play with the same options.
    """
    for one, other in combinations(bots, 2):
        if is_built_in(one) or one.label == other.label or not one.plays_as(other):
            continue
        if one.folder.resolve() == other.folder.resolve():
            raise ConfigError(
                f"{one.label} and {other.label} are one bot in {one.folder} with the same options",
                "name it once, or set other options for one of the two",
            )


def _refuse_too_few(bots: Sequence[Bot], options: GivenOptions) -> None:
    """Raises ConfigError if there are fewer bots than a game has players. The hint is a command
    that names enough bots.
    """
    usual: int = default_of("players")
    players = options.get("players", usual)
    named = options.get("bots") or ()
    if len(bots) >= players:
        return
    labels = [bot.label for bot in bots]
    further = [name for name in OPPONENTS if name not in labels][: max(2, players - len(bots))]
    table = ["--players", str(players)] if players > usual else []
    raise ConfigError(
        f"a game of {players} needs at least {players} bots, got {', '.join(labels)}",
        "name opponents too; built-in ones are always there:"
        f" '{shlex.join(['arena', 'run', *(named or labels), *further, *table])}'",
    )


def _seat_challenger(find: Callable[[str], Bot], text: str, bots: list[Bot]) -> str:
    """The label of the challenger, the bot that the user named by ``text``. If that bot is not in
    the list ``bots`` yet, it is appended there. Raises ConfigError if another bot of the list has
    its label.
    """
    labels = [bot.label for bot in bots]
    if text in labels:
        return text
    challenger = find(text)
    if challenger.label not in labels:
        bots.append(challenger)
    elif challenger.sha256 != bots[labels.index(challenger.label)].sha256:
        raise ConfigError(
            f"{text} and another bot are both named {challenger.label}",
            "give one of them another name",
        )
    return challenger.label


def request_comparison(
    home: Path, compare: Comparison, options: GivenOptions, tell: Tell, *, max_blocks: int
) -> Request:
    """The request for a comparison of the two bots that ``compare`` names, of at most
    ``max_blocks`` blocks. The bots of the request are the new one, the old one, then the opponents
    (``bots`` in the options). Without opponents, the two play each other; in games of three and
    four, both play against copies of the old one. Raises UserError.
    """
    find = bot_finder(home, tell, in_process=options.get("in_process", False))
    new, old = _find_pair(find, compare, tell)
    pool = list(map(find, options.get("bots", ()))) or _copies(old, options)
    bots = [new, old, *pool]
    compare = replace(compare, new=new.label, old=old.label, luck="roles")
    request = _request(bots, options, tell, compare=compare)
    deals = deals_for(request.config, max_blocks)
    return replace(request, config=replace(request.config, deals=deals))


def _copies(old: Bot, options: GivenOptions) -> list[Bot]:
    """The opponents in a comparison or a search without a pool: in games of more than two players,
    as many copies of the bot ``old`` as a game has further seats. Raises ConfigError for a built-in
    bot.
    """
    count = options.get("players", default_of("players")) - 1
    if count == 1:
        return []
    if is_built_in(old):
        raise ConfigError(
            f"a game of {count + 1} needs at least {count} opponents, and the built-in bot"
            f" {old.label} cannot play against copies of itself",
            "name opponents of about its strength with --pool A,B",
        )
    return [renamed(old, copy_name(old.base, number)) for number in range(1, count + 1)]


def blocks_of(games: int, options: GivenOptions) -> int:
    """The smallest number of blocks with which a comparison with these options has at least
    ``games`` games.
    """
    return ceil(games / games_a_block(options))


def games_a_block(options: GivenOptions) -> int:
    """The number of games in a block of a comparison or a search with these options."""
    players: int = options.get("players", default_of("players"))
    return games_of_block(players, has_pool=bool(options.get("bots")) or players > DUEL)


def request_tuning(
    home: Path,
    bot: Bot,
    tuned_options: Sequence[TunedOption],
    options: GivenOptions,
    tell: Tell,
    *,
    games: int,
    step: int | None,
) -> Request:
    """The request for tuning options of a bot, with at most ``games`` games in all. ``step`` is the
    number of deals on each board before each step of the search, None for the usual number. The
    first two bots of the run are the two sides of the search, up and down; then come the opponents
    (``bots`` in the options). Without opponents the two sides play each other; in games of three
    and four, both play against copies of the bot. Raises UserError.
    """
    if is_built_in(bot):
        raise ConfigError(
            f"{bot.label} is built in and has no options to tune",
            "name a bot whose bot.toml declares [options]",
        )
    parameters = parameters_of(tuned_options, bot.manifest.options, bot.options, bot.base)
    boards = len(boards_of(options))
    tuning = Tuning(bot.label, parameters, step or max(1, BLOCKS_A_STEP // boards))
    sides = _sides(bot, {parameter.name for parameter in parameters})
    find = bot_finder(home, tell)
    pool = list(map(find, options.get("bots", ()))) or _copies(bot, options)
    request = _request([*sides, *pool], options, tell, tune=tuning)
    deals = deals_of_search(games, boards, games_a_block(options))
    return replace(request, config=replace(request.config, deals=deals))


def _sides(bot: Bot, tuned: Collection[str]) -> list[Bot]:
    """The two bots of a search, whose names end in ``up`` and ``down``. Both have the bot's
    settings except those that are ``tuned``. Raises ConfigError if a label with all tuned options
    would be too long.
    """
    kept = {name: value for name, value in bot.settings.items() if name not in tuned}
    length = len(settings_text(kept)) + sum(len(name) + LONGEST_VALUE for name in tuned)
    if length > MAX_TEXT:
        raise ConfigError(
            f"{len(tuned)} options are too many to tune at once: the name of the tuned bot would"
            f" have more than {MAX_TEXT} characters",
            "tune those that matter most, then the others",
        )
    sign = "-" if "@" in bot.base else "@"
    side = replace(bot, settings=kept)
    return [renamed(side, f"{bot.base}{sign}up"), renamed(side, f"{bot.base}{sign}down")]


def _find_pair(find: Callable[[str], Bot], pair: Comparison, tell: Tell) -> tuple[Bot, Bot]:
    """The new and the old bot of a comparison. If their labels are equal, the old one gets its
    version in the label, and the user is told so. Raises UserError, also if they are the same bot.
    """
    old = find(pair.old)
    new = find(pair.new)
    if new.plays_as(old):
        raise ConfigError(
            f"{pair.new} and {pair.old} are the same program with the same options",
            _cure_for_same(pair, new),
        )
    if new.label == old.label:
        old = renamed(old, f"{old.base}@{old.manifest.version}")
        tell(f"note: {pair.old} is called {old.label} here, and {pair.new} {new.label}")
    return new, old


def _cure_for_same(pair: Comparison, bot: Bot) -> str:
    """The hint for a comparison whose two names stand for this one bot."""
    name = bot.manifest.name
    if is_built_in(bot):
        return (
            "a built-in bot has one version: name two different ones, as in 'arena compare"
            " careful-4 careful-2'"
        )
    if split_options(pair.new)[1] or split_options(pair.old)[1]:
        settings = settings_text(bot.settings) or "the defaults of all options"
        return f"both play with {settings}: set another value for one of the two"
    return (
        f"change the bot, 'arena submit' it again, and compare {name} {name}@1; or compare the"
        f" changed folder by its path, as in './{name} {name}'"
    )


def _warn_about_times(bots: Sequence[Bot], timing: Timing, tell: Tell) -> None:
    """Warns the user about each bot that gets less time for a move, or for its start, than its
    bot.toml asks for.
    """
    for bot in bots:
        bot_timing = timing_for(bot.label, timing)
        for key in ("move_ms", "startup_ms"):
            needed = getattr(bot.manifest, key)
            given = getattr(bot_timing, key)
            if needed is not None and needed > given:
                tell(
                    f"warning: {bot.label} was made for at least {needed} ms ({key}), and gets"
                    f" {given}"
                )


def with_clock(options: GivenOptions, tell: Tell) -> GivenOptions:
    """The options, completed by ``clock``, the best clock of this machine for bots' times: ``cpu``
    (CPU time) on Linux, otherwise ``wall`` (wall clock), and then ``tell`` gets a note on it. If
    they name a clock already, or the bots play in process, they stay as they are.
    """
    if options.get("in_process") or "clock" in options:
        return options
    if BEST_CLOCK == "wall":
        tell(
            "note: time is measured by the wall clock here, because only Linux counts processor"
            " time reliably"
        )
    return {**options, "clock": BEST_CLOCK}


def results_path(
    results: Path,
    out: Named | None,
    request: Request,
    tell: Tell,
    *,
    finished: bool = False,
    prefix: str = "",
) -> Path:
    """The folder for the run of a request. If ``out`` is given, the folder is that path or, if
    ``out`` has no slash, the folder of that name in ``results``. Otherwise `choose_folder` chooses
    it, with ``finished`` and ``prefix``, and the user is told about an unfinished run that was not
    chosen.
    """
    if out is not None:
        return Path(out) if "/" in str(out) else results / out
    folder, passed_over = choose_folder(results, request, finished=finished, prefix=prefix)
    if passed_over:
        name = shlex.quote(passed_over.name)
        cures = (
            f"'arena run --finish {name}' plays the rest, 'arena remove --run {name}' removes it"
        )
        tell(printable(f"note: {name} is unfinished: {cures}"))
    return folder
