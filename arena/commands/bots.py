"""Finds the bots that a user names (by label, by path, or built in, each with options), and makes
the requests of `run`, `compare` and `tune` to play with them.
"""

import os
import shlex
from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena.commands.home import bots_folder
from arena.errors import BotFolderError, ConfigError, did_you_mean, printable
from arena.players.folder import Bot, bot_at, from_inside, home_of_script, renamed, with_options
from arena.players.labels import MAX_TEXT, copy_name, settings_text, split_options, timing_for
from arena.players.manifest import MANIFEST_FILE
from arena.players.player import NAME, NAMES, built_in_bot, is_built_in
from arena.players.registry import Registry, ladder
from arena.players.staging import check_programs, lack
from arena.records.config import Comparison, Tuning, games_of_block
from arena.records.record import DUEL
from arena.records.timing import BEST_CLOCK, Timing
from arena.tournament.next_games import deals_for
from arena.tournament.runs import Request, boards_of, choose_folder, make_request
from arena.tournament.settings import GivenOptions, Named, default_of
from arena.tournament.tuning import BLOCKS_A_STEP, TunedOption, parameters_of
from arena.tournament.tuning import deals_for as deals_of_search

Tell = Callable[[str], object]
"""A callback that takes a sentence for the user."""
LONGEST_VALUE = 12
"""The most characters that the value of a tuned option takes in a label, including the ``=`` before
it and the comma after it.
"""
OPPONENTS = ("greedy", "careful", "random", "greedy-4")
"""The built-in bots that an error suggests to a user who named too few bots."""


def registry_of(home: Path) -> Registry:
    """The registry of a home: the bots in its bots/, then the bundled bots. If the environment
    variable ``ARENA_LADDER`` is ``off``, there are no bundled bots.
    """
    return Registry(bots_folder(home), {} if os.environ.get("ARENA_LADDER") == "off" else ladder())


def note_same_files(registry: Registry, bot: Bot, tell: Tell) -> None:
    """Tells the user if another bot of the registry has the same files as this bot."""
    other = registry.same_files(bot)
    if other:
        tell(
            f"note: {printable(bot.label)} has the same files as {printable(other)}: they are one"
            " program with two names"
        )


def bot_finder(home: Path, tell: Tell, *, in_process: bool = False) -> Callable[[str], Bot]:
    """A function that takes the text with which a user names a bot, and returns the bot. It raises
    UserError if there is none. The name of a built-in bot always means the built-in bot; other
    texts are for `find_bot`. With ``in_process``, only built-in bots are found.
    """
    registry = registry_of(home)

    def find(text: str) -> Bot:
        """The bot that the text names. Raises UserError."""
        name, options = _split(text)
        if in_process or NAME.fullmatch(name):
            bot = built_in_bot(name)
            if not in_process:
                _tell_of_namesake(registry, name, tell)
            if options is not None:
                raise ConfigError(
                    f"{name} is built in and takes no options, got {options!r}",
                    "greedy-N and careful-N are the built-in bots that look at N moves",
                )
            return bot
        try:
            return find_bot(registry, text, tell)
        except BotFolderError as error:
            is_there = Path(name).is_file() or (Path(name) / MANIFEST_FILE).is_file()
            if name not in registry.labels() and not is_there:
                error.hint = _hint_for(name, error.hint, registry.labels())
            raise

    return find


def _tell_of_namesake(registry: Registry, name: str, tell: Tell) -> None:
    """Tells the user that ``name`` means the built-in bot, if the registry or the current folder
    also has a bot of that name, and what to type for the latter: its label with a version, or its
    path.
    """
    here = Path(name)
    if name in registry.labels():
        folder = registry.root / name
        try:
            other = f"{name}@{registry.get(name).manifest.version}"
        except BotFolderError:
            other = str(folder)
    elif here.is_file() or (here / MANIFEST_FILE).is_file():
        folder = here
        other = f"./{name}"
    else:
        return
    tell(f"note: {name} means the built-in bot; write {other} for the one in {folder}")


def _split(text: str) -> tuple[str, str | None]:
    """Splits ``text`` into a bot's name or path and the text of its options, which is None without
    options. A text that is an existing path has no options, even if it contains a ``:``.
    """
    # False, too, for what is too long for a path.
    return (text, None) if os.path.exists(text) else split_options(text)  # noqa: PTH110


def _hint_for(text: str, hint: str, labels: Sequence[str]) -> str:
    """The hint for a bot that was not found under the name or path ``text``. It names the labels
    nearest to that name, or keeps ``hint`` for a path, and adds the built-in bots. If ``text`` is
    inside a bot's folder, or a folder without bot.toml, the hint says only that.
    """
    inside = from_inside(text)
    if inside:
        return inside
    if Path(text).is_dir():
        return (
            f"the folder {text} has no {MANIFEST_FILE}: name the bot's script in it, or write one"
        )
    if not (hint and "/" in text):
        name = Path(text).name
        near = did_you_mean(name, [*labels, *NAMES]) if name else ""
        hint = f"{near}'arena bots --all' lists what there is" if near else hint
    built_in = f"built in are {', '.join(NAMES)}, greedy-N and careful-N"
    if not hint:
        return built_in
    return f"{hint}{' ' if hint.endswith('?') else '; '}{built_in}"


def find_bot(registry: Registry, text: str, tell: Tell) -> Bot:
    """The bot that ``text`` names by label or by path, with the options that the text sets. A label
    of the registry comes before a path; the user is told if the path has a bot with other files.
    Raises BotFolderError, ConfigError.
    """
    name, options = _split(text)
    bot = registry.find(name)
    here = Path(name)
    if name not in registry.labels():
        _tell_of_folder(here, bot, tell)
    elif here.exists() and not here.samefile(bot.folder):
        try:
            differs = bot_at(here, name=bot.manifest.name).sha256 != bot.sha256
        except BotFolderError:
            differs = True
        if differs:
            tell(
                f"note: {name} means the registered bot, version {bot.manifest.version} in"
                f" {bot.folder}; the folder here has other content: write ./{name} for that one"
            )
    return bot if options is None else with_options(bot, options)


def bot_in(
    path: Path, tell: Tell, *, name: str | None = None, command: list[str] | None = None
) -> Bot:
    """The bot in a folder or script at ``path``. A script in a folder with a bot.toml stands for
    the bot of that folder, unless ``command`` says how to start it. ``name`` is the bot's name,
    None for the one in its bot.toml or the name of its file. Raises BotFolderError.
    """
    folder = None if command else home_of_script(path)
    bot = bot_at(folder or path, name=name, command=command)
    _tell_of_folder(path, bot, tell)
    return bot


def bot_to_check(home: Path, text: str, tell: Tell) -> Bot:
    """The bot at the path ``text`` if that exists, else the bot with the label ``text`` in the
    home's bots/ or among the bundled bots. Raises BotFolderError, ConfigError.
    """
    path = Path(text)
    return bot_in(path, tell) if path.exists() else find_bot(registry_of(home), text, tell)


def _tell_of_folder(path: Path, bot: Bot, tell: Tell) -> None:
    """Tells the user, if ``path`` is a file in the bot's folder, that the whole
    folder is the bot.
    """
    if path.is_file() and bot.folder != path:
        whole = f"using the whole folder {bot.folder}"
        tell(f"note: {path} is part of the bot {bot.manifest.name}: {whole}")


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
