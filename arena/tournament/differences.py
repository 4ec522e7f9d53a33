"""Whether a run can continue with the settings that are asked for; if not, why, and the cure."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from arena.errors import ConfigError
from arena.players.options import split_options
from arena.players.sandbox.grants import NOTHING
from arena.records.runfile import BotInfo, RunInfo
from arena.tournament.config import shown
from arena.tournament.parameters import Parameter

GROWING = ("deals", "tables")
OWN_RULES = ("bots", "seed", "line_ups", "settled", "allotted", "drawn", "keep_stderr")
"""Settings that are not simply compared with those of the run."""
BEFORE = {"clock": "wall", "by": "wins"}
"""What a run.json means that was written before it had the setting."""
KINDS = {
    "compare": "a comparison by 'arena compare'",
    "tune": "a search by 'arena tune'",
    "league": "a league by 'arena league run'",
}
TOURNAMENT = "a tournament by 'arena run'"
OTHER_RUN = "start another run with --out NAME"
OTHER_LEAGUE = "start another league: 'arena league run NAME'"


def refuse_differences(folder: Path, known: RunInfo, wanted: RunInfo) -> None:
    """Raises ConfigError with every difference that stops a run from continuing."""
    there, here = _kind_of(known), _kind_of(wanted)
    if there != here:
        raise ConfigError(f"{folder} is not {here}, but {there}", _another(wanted))
    found = differences(known, wanted)
    if found:
        raise ConfigError(
            f"expected the settings of the run in {folder}, got others:\n  " + "\n  ".join(found),
            _cure(folder, known, wanted),
        )


def _kind_of(info: RunInfo) -> str:
    return next((kind for key, kind in KINDS.items() if info.config.get(key)), TOURNAMENT)


def _another(wanted: RunInfo) -> str:
    return OTHER_LEAGUE if wanted.config.get("league") else OTHER_RUN


def _cure(folder: Path, known: RunInfo, wanted: RunInfo) -> str:
    """What helps: where only grants differ, those of the run."""
    there, tuning = {bot.name: bot.grants for bot in known.bots}, known.config.get("tune")
    then = [replace(bot, grants=there.get(bot.name, bot.grants)) for bot in wanted.bots]
    if differences(known, replace(wanted, bots=then)):
        return f"use the command that started the run, or {_another(wanted)}"
    needed = {
        split_options(tuning["bot"] if tuning else bot.name)[0]: bot.grants or [NOTHING]
        for bot, now in zip(then, wanted.bots, strict=True)
        if bot.grants or now.grants
    }
    allowed = [f"{base}={','.join(grants)}" for base, grants in needed.items()]
    words = shlex.join(word for text in allowed for word in ("--allow", text))
    if _kind_of(known) != TOURNAMENT or has_grown(known, wanted):
        return f"repeat the command with just this --allow: {words}"
    return f"go on with it by: arena run --finish {shlex.quote(folder.name)} {words}"


def has_grown(known: RunInfo, wanted: RunInfo) -> bool:
    """Whether more is asked for than the run has: deals, tables, bots, or smaller errors."""
    names = {bot.name for bot in known.bots}
    return any(bot.name not in names for bot in wanted.bots) or any(
        wanted.config[key] != known.config.get(key) for key in (*GROWING, "until")
    )


def differences(known: RunInfo, wanted: RunInfo) -> list[str]:
    """Why a run cannot continue with the wanted settings, one line each; more deals, tables or bots
    are not a difference.
    """
    versions = (
        ("protocol", known.protocol, wanted.protocol),
        ("rules revision", known.rules_revision, wanted.rules_revision),
        ("seed", known.seed, wanted.seed),
    )
    found = [
        f"{what}: the run has {there}, now it is {here}"
        for what, there, here in versions
        if there != here
    ]
    for key, here in wanted.config.items():
        there = known.config.get(key, BEFORE.get(key))
        if key in GROWING and isinstance(there, int) and isinstance(here, int):
            if here < there:
                found.append(
                    f"{key}: the run has {there}, asked for {here}; a run can only be extended"
                )
        elif key == "until" and there and here:
            if here > there:
                found.append(
                    f"until: the run has {there:g}, asked for {here:g}; a run can only be extended"
                )
        elif key == "in_process":
            found += _kind_difference(is_built_in=bool(there), wanted=here)
        elif isinstance(there, dict) and isinstance(here, dict):
            found += _part_differences(there, here)
        elif key not in OWN_RULES and (there or None) != (here or None):
            cure = (
                "; use 'arena standings --match' to see a run under another scoring"
                if key == "match"
                else ""
            )
            found.append(f"{key}: the run has {shown(there)}, asked for {shown(here)}{cure}")
    if wanted.config["compare"] and (
        further := {bot.name for bot in wanted.bots} - {bot.name for bot in known.bots}
    ):
        found.append(
            f"pool: {', '.join(sorted(further))} not in the run; the opponents of a comparison"
            " cannot change"
        )
    changed = (
        name
        for name in known.boards.keys() & wanted.boards.keys()
        if known.boards[name] != wanted.boards[name]
    )
    found += [f"board {name}: its rows differ from those the run was played on" for name in changed]
    return found + _bot_differences(*_bots_to_compare(known, wanted))


def _bots_to_compare(
    known: RunInfo, wanted: RunInfo
) -> tuple[Sequence[BotInfo], Sequence[BotInfo]]:
    """The bots of both. For two searches it is the one that the run tunes, under the name that the
    user knows: the sides are two names of it.
    """
    tuning = known.config.get("tune")
    if not (tuning and wanted.config["tune"]):
        return known.bots, wanted.bots
    first, second = (
        [replace(bot, name=tuning["bot"]) for bot in info.bots[:1]] for info in (known, wanted)
    )
    return first, second


def _part_differences(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """The differences between two settings that have parts, such as a comparison's question."""
    cure = {"by": "; a test keeps to what it counts, so compare by the other in a run of its own"}
    return [
        f"{part}: the run has {_part_text(there)}, asked for {_part_text(here)}{cure.get(part, '')}"
        for part, here in wanted.items()
        if (there := known.get(part, BEFORE.get(part))) != here
    ]


def _part_text(value: Any) -> str:
    """A part for people; the parameters of a search each with its range and where it starts."""
    if not isinstance(value, list):
        return str(value)
    try:
        parameters = msgspec.convert(value, list[Parameter])
    except msgspec.ValidationError:  # from a run.json that something else changed
        return str(value)
    return ", ".join(
        f"{one.name}={one.text(one.low)}..{one.text(one.high)} from {one.text(one.start)}"
        for one in parameters
    )


def _kind_difference(*, is_built_in: bool, wanted: bool) -> list[str]:
    """The difference between a run of built-in bots alone and one that has processes too."""
    if is_built_in == wanted:
        return []
    here, there = "all bots of the run are built in", "the run has bots that are processes"
    if is_built_in:
        return [f"in_process: {here}; with others among them it would be a run of its own"]
    return [f"in_process: {there}; built-in ones alone would be a run of its own"]


def _bot_differences(known: Sequence[BotInfo], wanted: Sequence[BotInfo]) -> list[str]:
    found, now = [], {bot.name: bot for bot in wanted}
    for bot in known:
        if bot.name not in now:
            found.append(
                f"bot {bot.name}: in the run, but not asked for; a run can only be extended"
            )
        elif now[bot.name].sha256 != bot.sha256:
            found.append(
                f"bot {bot.name}: its content changed from {bot.version} ({bot.sha256[:12]}) "
                f"to {now[bot.name].version} ({now[bot.name].sha256[:12]})"
            )
        elif now[bot.name].grants != bot.grants:
            found.append(
                f"bot {bot.name}: the run allowed it {shown(bot.grants)}, now it is allowed"
                f" {shown(now[bot.name].grants)}"
            )
    return found
