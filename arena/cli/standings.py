"""arena standings: the table of a run."""

from pathlib import Path
from typing import Literal

import click

from arena.cli.options import (
    SCORING,
    anchor_option,
    match_option,
    prior_option,
    run_argument,
    without_option,
)
from arena.cli.showing import Showing, showing_options
from arena.cli.terminal import say
from arena.commands.folders import run_folder
from arena.errors import UserError


@click.command()
@run_argument
@showing_options
@match_option(SCORING)
@anchor_option
@without_option
@prior_option
@click.option(
    "--by",
    type=click.Choice(("wins", "ranks")),
    default="wins",
    show_default=True,
    help="What the ratings go by: who won, or, as a second opinion, all ranks.",
)
@click.pass_obj
def standings(
    home: Path,
    /,
    run: str | None,
    match: list[str] | None,
    anchors: dict[str, float],
    without: tuple[str, ...],
    prior: float | None,
    by: Literal["wins", "ranks"],
    *,
    showing: Showing,
) -> None:
    """Show the standings of a run, by default the newest one. They are computed from its journal,
    even while it is being played.

    A match counts once all its rounds have been played: the same bots in the same seats on the same
    deal, one game for each of the boards.

    With --by ranks, the ratings also use who came second, third and so on, with three and four
    players. That is a second opinion, with notes on where it differs, and goes into no CSV file.

    \b
    arena standings
    arena standings league --wide --pairs
    arena standings league --csv league.csv
    arena standings league --anchor greedy-python=1500
    arena standings league --match bird,lion
    arena standings league --by ranks
    arena standings league --without random-python
    arena standings --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    if by == "ranks" and showing.csv_path:
        raise click.UsageError("expected --csv without --by ranks: standings in files go by wins")
    # Late: pandas is slow to load, and --help does not need it.
    from arena.cli.tables import rate_run, show_tables  # noqa: PLC0415

    folder = run_folder(home, run)
    own = folder / "standings.csv"
    if without and showing.csv_path and Path(showing.csv_path).resolve() == own.resolve():
        raise UserError(
            f"expected another file than {own} for a table without {', '.join(without)}",
            "standings.csv of a run counts all its games",
        )
    tables, plan = rate_run(folder, prior, anchors, match, without, by)
    say(f"run {folder}")
    beside = {"plan": plan and plan._asdict(), **({"by": by} if by == "ranks" else {})}
    show_tables(tables, beside, showing)
