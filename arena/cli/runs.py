"""arena runs: lists the runs of a home."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.cli.options import as_json, tell_json
from arena.cli.terminal import announced_if_slow, columns_of, say
from arena.commands.home import results_folder
from arena.commands.runs import leader_of, run_state
from arena.errors import UserError
from arena.exports.grid import MISSING, columns_text
from arena.tournament.run import Run
from arena.tournament.runs import list_runs

HEADS = ("Run", "Started", "Players", "Boards", "Bots", "Games", "State", "Leader", "Elo")
"""The heads of the table of runs."""


@click.command()
@as_json
@click.pass_obj
def runs(home: Path, /, *, as_json: bool) -> None:
    """List the runs in results/. The oldest comes first, and for each you see when it was started,
    what it plays, its progress, and who leads by its latest tables.

    \b
    arena runs
    arena runs --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    rows = list[dict[str, Any]]()
    table = list[tuple[str, ...]]()
    for folder in list_runs(results_folder(home)):
        try:
            run = Run(folder)
            with announced_if_slow(f"counting the games of {folder.name}"):
                played, planned = run.progress()
        except UserError as error:
            say(f"warning: {folder.name} is left out: {error}")
            continue
        leader = leader_of(run, played, planned)
        info = run.info
        row = {
            "run": run.name,
            "started": info.started,
            "players": info.counting.players,
            "boards": list(info.boards),
            "bots": [bot.name for bot in info.bots],
            "games": played,
            "planned": planned,
            "state": run_state(folder, played, planned),
            "leader": leader and leader.object(),
        }
        rows.append(row)
        about = (folder.name, info.started, str(row["players"]), "+".join(info.boards))
        sizes = (str(len(info.bots)), f"{played}/{planned}", str(row["state"]))
        table.append((*about, *sizes, *((leader.bot, leader.text) if leader else (MISSING,) * 2)))
    if as_json:
        tell_json(rows)
    elif not rows:
        say(f"no runs in {results_folder(home)}: start one with 'arena run'")
    else:
        texts = ("Started", "Boards", "State", "Leader")
        spare = ("Players", "Started", "Boards", "Bots", "State")
        width = columns_of(sys.stdout)
        click.echo(columns_text(HEADS, table, texts, width, names=("Run", "Leader"), spare=spare))
