"""What was found out about a run or a league, shown. Pandas is loaded here: commands import this
when called.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from arena.cli.playing import said_when_slow
from arena.cli.showing import tell_json
from arena.cli.terminal import columns_of, tell, tell_with_commands
from arena.errors import ConfigError, did_you_mean, printable
from arena.exports.analysis import analysis_object, analysis_text
from arena.exports.changes import changes_sentence, known_changes, regress_command, stages_text
from arena.exports.history import history_csv, history_object, history_text
from arena.exports.qin import qin_object, qin_text
from arena.ratings.analysis import analyse_run
from arena.ratings.history import History, read_history
from arena.ratings.qin import analyse_qin
from arena.records.regular import write_durably


def show_analysis(
    folder: Path,
    prior: float | None,
    bot: str | None,
    most: int,
    without: Sequence[str],
    *,
    named: str,
    as_json: bool,
) -> None:
    """What is behind the standings of a run, which commands call ``named``."""
    found = analyse_run(folder, prior, bot, most, without)
    width = columns_of(sys.stdout)
    _show(analysis_object(found) if as_json else analysis_text(found, named, width))


def show_qin(folder: Path, prior: float | None, without: Sequence[str], *, as_json: bool) -> None:
    """What the games of a run tell of the game."""
    found = analyse_qin(folder, prior, without)
    _show(qin_object(found) if as_json else qin_text(found, columns_of(sys.stdout)))


def _show(shown: dict[str, Any] | str) -> None:
    if isinstance(shown, str):
        tell_with_commands(printable(shown, keep="\n"))
    else:
        tell_json(shown)


def show_history(folder: Path, bot: str | None, csv_path: str | None, *, as_json: bool) -> None:
    """How the versions in a league came on, or those of one bot. Raises ConfigError."""
    with said_when_slow(f"rating the games of {folder}"):
        found = read_history(folder)
    found = found if bot is None else _history_of(found, bot, folder.name)
    told = [
        each for name, each in known_changes(folder).items() if name in {*found.table["version"]}
    ]
    if csv_path == "-":
        click.echo(history_csv(found), nl=False)
    elif as_json:
        tell_json({"league": folder.name, **history_object(found), "changes": told})
    else:
        click.echo(f"league {folder}", err=True)
        tell(history_text(found))
        for each in told if bot is not None else ():
            tell(f"\n{changes_sentence(each)}")
            tell(stages_text(each))
            click.echo(f"  {regress_command(folder.name, each.bot, each.before)}")
    if csv_path not in (None, "-"):
        write_durably(Path(csv_path), history_csv(found).encode())
        click.echo(f"\nhistory: {csv_path}", err=True)


def _history_of(found: History, bot: str, league: str) -> History:
    known = dict.fromkeys([*found.table["bot"], *found.table["version"]])
    if bot not in known:
        raise ConfigError(
            f"expected a bot of the league {league}, got {bot!r}",
            f"{did_you_mean(bot, known)}'arena league history' shows all",
        )
    return found.of(bot)
