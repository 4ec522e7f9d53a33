"""arena standings: the table of a run."""

from pathlib import Path

import click

from arena.cli.options import (
    SCORING,
    anchor_option,
    match_option,
    prior_option,
    run_argument,
    run_folder,
)
from arena.cli.showing import Showing, showing_options


@click.command()
@run_argument
@showing_options
@match_option(SCORING)
@anchor_option
@prior_option
@click.pass_obj
def standings(
    home: Path,
    /,
    run: str | None,
    match: list[str] | None,
    anchors: dict[str, float],
    prior: float | None,
    *,
    showing: Showing,
) -> None:
    """Show the standings of a run, by default the newest one. They are computed from its journal,
    even while it is being played.

    A match counts once all its rounds have been played: the same bots in the same seats on the same
    deal, one game for each of the boards.

    \b
    arena standings
    arena standings league --wide --pairs
    arena standings league --csv league.csv
    arena standings league --anchor greedy-python=1500
    arena standings league --match bird,lion
    arena standings --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    # Late: pandas is slow to load, and --help does not need it.
    from arena.cli.tables import rate_run, show_tables  # noqa: PLC0415

    folder = run_folder(home, run)
    tables, plan = rate_run(folder, prior, anchors, match)
    click.echo(f"run {folder}", err=True)
    show_tables(tables, {"plan": plan and plan._asdict()}, showing)
