"""Whether a run can continue as the user asks for it now; if not, why, and what the user can do."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import ConfigError
from arena.players.labels import split_options
from arena.players.sandbox.grants import NOTHING
from arena.records.config import Parameter, RunConfig
from arena.records.runfile import BotInfo, RunInfo
from arena.tournament.consistency import shown
from arena.tournament.settings import DECLARED

IntOrFloat = int | float
IDENTITY = {"protocol": "protocol", "rules revision": "rules_revision", "seed": "seed"}
"""The fields of run.json that never change, by their names for people."""
STATE = ("bots", "seed", "line_ups", "settled", "allotted", "drawn", "in_process", "luck")
"""Settings that a run decides by itself, or that are compared in another way than the others."""
CURES = {
    "match": "; use 'arena standings --match' to see a run under another scoring",
    "by": "; a test keeps to what it counts, so compare by the other in a run of its own",
}
KINDS = {
    "compare": "a comparison by 'arena compare'",
    "tune": "a search by 'arena tune'",
    "league": "a league by 'arena league run'",
}
"""The settings by which runs of other kinds than tournaments are known, each with the kind in words
and the command that plays such runs.
"""
TOURNAMENT = "a tournament by 'arena run'"
OTHER_RUN = "start another run with --out NAME"


def refuse_differences(folder: Path, known: RunInfo, wanted: RunInfo) -> None:
    """Raises ConfigError, with all differences, if the run in ``folder`` cannot continue as
    ``wanted``.
    """
    there = _kind_of(known)
    here = _kind_of(wanted)
    other = (
        OTHER_RUN if here != KINDS["league"] else "start another league: 'arena league run NAME'"
    )
    if there != here:
        raise ConfigError(f"{folder} is not {here}, but {there}", other)
    if lines := differences(known, wanted):
        raise ConfigError(
            f"the run in {folder} has other settings:\n  " + "\n  ".join(lines),
            _cure(shlex.quote(folder.name), known, wanted, other),
        )


def _kind_of(info: RunInfo) -> str:
    """The kind of a run in words, with the command that plays such runs."""
    config = _settings_of(info)
    return next((kind for key, kind in KINDS.items() if getattr(config, key)), TOURNAMENT)


def _settings_of(info: RunInfo) -> RunConfig:
    """The settings of a run. They must have been checked before: this version can read them."""
    assert info.config is not None, "settings that this version knows"
    return info.config


def _cure(run: str, known: RunInfo, wanted: RunInfo, other: str) -> str:
    """What to do about the differences: use the grants of the run, finish it with its copies of
    bots, use the command that started it, or ``other``.
    """
    is_tournament = _kind_of(known) == TOURNAMENT
    known_bots = known.bots_by_name
    has_changed = False
    with_old_grants = []
    for bot in wanted.bots:
        before = known_bots.get(bot.name, bot)
        has_changed = has_changed or before.sha256 != bot.sha256
        with_old_grants.append(replace(bot, grants=before.grants))
    if differences(known, replace(wanted, bots=with_old_grants)):
        if is_tournament and has_changed:
            finish = f"'arena run --finish {run}' plays the rest with the bots as they were"
            return f"{finish}; for those of now, {OTHER_RUN}"
        return f"use the command that started the run, or {other}"
    tuning = _settings_of(known).tune
    needed = {}
    for then, now in zip(with_old_grants, wanted.bots, strict=True):
        if then.grants or now.grants:
            base, _ = split_options(tuning.bot if tuning else then.name)
            needed[base] = ",".join(then.grants or [NOTHING])
    options = []
    for base, grants in needed.items():
        options += ["--allow", f"{base}={grants}"]
    words = shlex.join(options)
    if not is_tournament or has_grown(known, wanted):
        return f"repeat the command with just this --allow: {words}"
    return f"continue it with: arena run --finish {run} {words}"


def has_grown(known: RunInfo, wanted: RunInfo) -> bool:
    """Whether ``wanted`` has a bot that ``known`` does not have, or another number of deals or
    line-ups, or another ``until``. If `differences` finds nothing, it has more of them, or a
    smaller ``until``.
    """
    if _new_names(known, wanted):
        return True
    before = _settings_of(known)
    now = _settings_of(wanted)
    may_grow = [key for key, each in DECLARED.items() if each.change in ("more", "less")]
    return any(getattr(now, key) != getattr(before, key) for key in may_grow)


def differences(known: RunInfo, wanted: RunInfo) -> list[str]:
    """Why the run ``known`` cannot continue as the run ``wanted``, one reason a line; an empty list
    if it can. More deals, line-ups or bots are no reason, nor is a smaller ``until``; but more
    opponents in a comparison or a search are.
    """
    lines = []
    for what, field in IDENTITY.items():
        there = getattr(known, field)
        here = getattr(wanted, field)
        if there != here:
            lines.append(f"{what}: the run has {there}, now it is {here}")
    before = _settings_of(known)
    now = _settings_of(wanted)
    lines += _setting_differences(before, now)
    if before.in_process != now.in_process:
        lines.append(
            "in_process: the run has bots that are processes; built-in ones alone would be a run of"
            " its own"
            if now.in_process
            else "in_process: all bots of the run are built in; with others among them it would be"
            " a run of its own"
        )
    further = _new_names(known, wanted)
    if now.tune:
        further = [bot for bot in now.pool if bot not in before.pool]
    if (now.compare or now.tune) and further:
        what = "comparison" if now.compare else "search"
        lines.append(
            f"pool: {', '.join(further)} not in the run; the opponents of a {what} cannot change"
        )
    for name in known.boards.keys() & wanted.boards.keys():
        if known.boards[name] != wanted.boards[name]:
            lines.append(f"board {name}: its rows differ from those the run was played on")
    there_bots = known.bots
    here_bots = wanted.bots
    if before.tune and now.tune:
        # The sides of a search are two names of the bot that it tunes, which the user knows.
        there_bots = _with_sides_as(before.tune.bot, there_bots)
        here_bots = _with_sides_as(before.tune.bot, here_bots)
    return lines + _bot_differences(there_bots, {bot.name: bot for bot in here_bots})


def _setting_differences(before: RunConfig, now: RunConfig) -> list[str]:
    """The differences between the settings of the run (``before``) and those asked for ``now``."""
    lines = []
    for key in RunConfig.__struct_fields__:
        there = getattr(before, key)
        here = getattr(now, key)
        if isinstance(there, Struct) and isinstance(here, Struct):
            for part in here.__struct_fields__:
                lines += _difference(part, getattr(there, part), getattr(here, part), str)
        else:
            lines += _difference(key, there or None, here or None, shown)
    return lines


def _new_names(known: RunInfo, wanted: RunInfo) -> list[str]:
    """The names of the bots of ``wanted`` that the run ``known`` does not have, sorted."""
    return sorted(set(wanted.bot_names).difference(known.bot_names))


def _with_sides_as(name: str, bots: Sequence[BotInfo]) -> list[BotInfo]:
    """The ``bots`` of a search, with the tuned bot under its ``name`` in place of the two sides."""
    return [replace(bots[0], name=name), *bots[2:]]


def _difference(key: str, there: Any, here: Any, text: Callable[[Any], str]) -> list[str]:
    """The difference in the setting ``key`` between the run (``there``) and the request (``here``),
    written by ``text``; an empty list if it does not stop the run from continuing.
    """
    change = DECLARED[key].change if key in DECLARED else "nothing"
    if (
        change in ("more", "less")
        and isinstance(there, IntOrFloat)
        and isinstance(here, IntOrFloat)
    ):
        if (here >= there) if change == "more" else (here <= there):
            return []
        before = f"{there:g}" if isinstance(there, float) else there
        now = f"{here:g}" if isinstance(here, float) else here
        return [f"{key}: the run has {before}, asked for {now}; a run can only be extended"]
    if key in STATE or there == here:
        return []
    if key == "parameters":
        return [f"{key}: the run has {_ranges(there)}, asked for {_ranges(here)}"]
    before = text(msgspec.to_builtins(there))
    now = text(msgspec.to_builtins(here))
    return [f"{key}: the run has {before}, asked for {now}{CURES.get(key, '')}"]


def _ranges(parameters: Sequence[Parameter]) -> str:
    """The parameters of a search as a text, each with its range and its first value."""
    texts = []
    for one in parameters:
        ends = f"{one.text(one.low)}..{one.text(one.high)}"
        texts.append(f"{one.name}={ends} from {one.text(one.start)}")
    return ", ".join(texts)


def _bot_differences(known: Sequence[BotInfo], now: Mapping[str, BotInfo]) -> list[str]:
    """One line for each bot of a run (``known``) that is missing ``now`` or has other files or
    grants.
    """
    lines = []
    for bot in known:
        here = now.get(bot.name)
        if here is None:
            what = "in the run, but not asked for; a run can only be extended"
        elif here.sha256 != bot.sha256:
            what = (
                f"its content changed from {bot.version} ({bot.sha256[:12]}) to {here.version}"
                f" ({here.sha256[:12]})"
            )
        elif here.grants != bot.grants:
            what = f"the run allowed it {shown(bot.grants)}, now it is allowed {shown(here.grants)}"
        else:
            continue
        lines.append(f"bot {bot.name}: {what}")
    return lines
