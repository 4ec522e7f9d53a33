"""arena runs: lists the runs of a home."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.cli.options import as_json, tell_json
from arena.cli.terminal import announced_if_slow, columns_of, say
from arena.commands.home import results_folder
from arena.commands.runs import Rated, every_run, leader_of, run_state
from arena.errors import UserError, counted
from arena.exports.grid import MISSING, columns_text
from arena.exports.moments import title_of
from arena.tournament.run import Run

HEADS = ("Run", "Started", "Players", "Boards", "Bots", "Games", "State", "Leader", "Elo")
"""The heads of the table of runs."""


@click.command()
@as_json
@click.pass_obj
def runs(home: Path, /, *, as_json: bool) -> None:
    """List the runs in results/. The oldest comes first, and for each you see when it was started,
    what it plays, its progress, and who leads by its latest tables. For a game of yours you see how
    it ended. The runs of a league with several numbers of players come last, with names such as
    league-2/2-players.

    \b
    arena runs
    arena runs --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    rows = list[dict[str, Any]]()
    table = list[tuple[str, ...]]()
    found = every_run(results_folder(home))
    # A timer is a thread, so one for each run would make a list of 1,000 runs slow.
    with announced_if_slow(f"counting the games of {counted(len(found), 'run')}"):
        for name, (folder, info) in found.items():
            try:
                run = Run(folder, info)
                played, planned = run.progress()
                of_person = run.person_game()
            except UserError as error:
                say(f"warning: {name} is left out: {error}")
                continue
            leader = None if of_person else leader_of(run, played, planned)
            row = _row(name, run, played, planned, leader)
            row["title"] = title_of(*of_person) if of_person else None
            rows.append(row)
            table.append(_texts(row, leader))
    if as_json:
        tell_json(rows)
    elif not rows:
        say(f"no runs in {results_folder(home)}: start one with 'arena run'")
    else:
        texts = ("Started", "Boards", "State", "Leader")
        spare = ("Players", "Started", "Boards", "Bots", "State")
        width = columns_of(sys.stdout)
        click.echo(columns_text(HEADS, table, texts, width, names=("Run", "Leader"), spare=spare))


def _row(name: str, run: Run, played: int, planned: int, leader: Rated | None) -> dict[str, Any]:
    """What ``--json`` says about the run called ``name``, of whose ``planned`` games ``played``
    have been played.
    """
    info = run.info
    return {
        "run": name,
        "started": info.started,
        "players": info.counting.players,
        "boards": list(info.boards),
        "bots": info.bot_names,
        "games": played,
        "planned": planned,
        "state": run_state(run.folder, played, planned),
        "leader": leader and leader.object(),
    }


def _texts(row: dict[str, Any], leader: Rated | None) -> tuple[str, ...]:
    """The cells of the table for the run that ``row`` describes, see `_row`. A game that a person
    played has its result, ``title``, in place of a leader.
    """
    about = (row["run"], row["started"], str(row["players"]), "+".join(row["boards"]))
    sizes = (str(len(row["bots"])), f"{row['games']}/{row['planned']}", str(row["state"]))
    first = (leader.bot, leader.text) if leader else (row["title"] or MISSING, MISSING)
    return (*about, *sizes, *first)
