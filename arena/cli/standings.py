"""arena standings: shows the standings of a run."""

from pathlib import Path

import click

from arena.cli.options import OutputOptions, Rating, rating_options, run_argument, standings_options
from arena.cli.tables import rate_run, show_tables
from arena.cli.terminal import say
from arena.commands.runs import named_run
from arena.errors import UserError


@click.command()
@run_argument
@standings_options
@rating_options("match", "anchors", "without", "prior")
@click.pass_obj
def standings(home: Path, /, run: str | None, *, rating: Rating, output: OutputOptions) -> None:
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
    arena standings league --without random-python
    arena standings --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    opened = named_run(home, run)
    own = opened.folder / "standings.csv"
    without = ", ".join(rating.without)
    if without and output.csv_path and Path(output.csv_path).resolve() == own.resolve():
        raise UserError(
            f"{own} is the run's own table, not the place for a table without {without}",
            "name another file: a run's standings.csv counts all its games",
        )
    tables, plan = rate_run(opened, rating)
    say(f"run {opened.folder}")
    show_tables(tables, output, plan=plan and plan._asdict())
