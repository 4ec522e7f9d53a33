"""arena runs: lists the runs in results/."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.cli.options import as_json
from arena.cli.playing import said_when_slow
from arena.cli.showing import tell_json
from arena.cli.terminal import columns_of, say
from arena.commands.folders import results_folder
from arena.commands.glance import run_state
from arena.commands.rated import Rated, leader_of
from arena.errors import UserError
from arena.exports.grid import columns_text
from arena.exports.text import MISSING
from arena.records.runfile import read_run
from arena.tournament.config import make_config
from arena.tournament.session import games_of, list_runs

HEADS = ("Run", "Started", "Players", "Boards", "Bots", "Games", "State", "Leader", "Elo")


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
    rows: list[dict[str, Any]] = []
    for folder in list_runs(results_folder(home)):
        try:
            info = read_run(folder)
            with said_when_slow(f"counting the games of {folder.name}"):
                played, planned = games_of(folder, info)
        except UserError as error:
            say(f"warning: {folder.name} is left out: {error}")
            continue
        rows.append(
            {
                "run": folder.name,
                "started": info.started,
                "players": make_config(info.config).players,
                "boards": list(info.boards),
                "bots": [bot.name for bot in info.bots],
                "games": played,
                "planned": planned,
                "state": run_state(folder, played, planned),
                "leader": leader_of(folder, info, played, planned),
            }
        )
    if as_json:
        shown = [{**row, "leader": row["leader"] and row["leader"].object()} for row in rows]
        tell_json(shown)
    elif not rows:
        say(f"no runs in {results_folder(home)}: start one with 'arena run'")
    else:
        click.echo(
            columns_text(
                HEADS,
                list(map(_shown, rows)),
                ("Started", "Boards", "State", "Leader"),
                columns_of(sys.stdout),
                names=("Run", "Leader"),
                spare=("Players", "Started", "Boards", "Bots", "State"),
            )
        )


def _shown(row: dict[str, Any]) -> tuple[str, ...]:
    """A run's row of the table."""
    leader: Rated | None = row["leader"]
    return (
        row["run"],
        row["started"],
        str(row["players"]),
        "+".join(row["boards"]),
        str(len(row["bots"])),
        f"{row['games']}/{row['planned']}",
        row["state"],
        leader.bot if leader else MISSING,
        leader.text if leader else MISSING,
    )
