"""arena standings: the table of a run."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from arena.cli.folding import columns_of, folded
from arena.cli.options import (
    SCORING,
    anchor_option,
    as_json,
    match_option,
    prior_option,
    run_argument,
    run_folder,
)
from arena.cli.playing import said_when_slow
from arena.errors import printable

if TYPE_CHECKING:
    from arena.ratings.tables import Tables
    from arena.tournament.session import Completeness


@click.command(short_help="Show the standings of a run.")
@run_argument
@click.option(
    "--csv",
    "csv_path",
    metavar="FILE|-",
    help="Write the standings as CSV to a file, or '-' for stdout.",
)
@click.option("--pairs", is_flag=True, help="Also show the results of each pair.")
@match_option(SCORING)
@anchor_option
@prior_option
@as_json
@click.pass_obj
def standings(
    home: Path,
    /,
    run: str | None,
    csv_path: str | None,
    match: list[str] | None,
    anchors: dict[str, float],
    prior: float | None,
    *,
    pairs: bool,
    as_json: bool,
) -> None:
    """Show the standings of a run, by default the newest one. They are computed from its journal,
    even while it is being played.

    A match counts once all its rounds have been played: the same bots in the same seats on the same
    deal, one game for each of the boards.

    \b
    arena standings
    arena standings league --csv league.csv
    arena standings league --anchor greedy-python=1500
    arena standings league --match bird,lion
    arena standings --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    folder = run_folder(home, run)
    tables, plan = rate_run(folder, prior, anchors, match)
    click.echo(f"run {folder}", err=True)
    show_tables(tables, {"plan": plan and plan._asdict()}, csv_path, as_json=as_json, pairs=pairs)


def show_tables(
    tables: "Tables",
    beside: Mapping[str, Any],
    csv_path: str | None,
    *,
    as_json: bool,
    pairs: bool,
    covariance: bool = False,
) -> None:
    """Prints tables, and writes the standings to a CSV file if asked to; ``beside`` goes at the
    start of the JSON.
    """
    from arena.exports.files import csv_text, write_table
    from arena.ratings.columns import file_names

    columns = file_names("standings")
    if csv_path == "-":
        click.echo(csv_text(tables.standings, columns), nl=False)
        show_notes(tables)
        return
    print_tables(tables, beside, as_json=as_json, pairs=pairs, covariance=covariance)
    if csv_path:
        write_table(Path(csv_path), tables.standings, columns)
        click.echo(f"\nstandings: {csv_path}", err=True)


def rate_run(
    folder: Path,
    prior: float | None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
) -> tuple["Tables", "Completeness | None"]:
    """The tables of a run, and how complete it is (None if this version cannot read the plan). The
    notes mention both.
    """
    from arena.errors import ConfigError
    from arena.ratings.tables import run_tables
    from arena.records.runfile import read_run
    from arena.tournament.session import completeness

    with said_when_slow(f"rating the games of {folder}"):
        tables = run_tables(folder, prior, anchors, match)
    try:
        plan = completeness(read_run(folder), tables.blocks)
    except ConfigError as error:
        return (
            tables._replace(
                notes=[f"it is not known whether games are missing: {error}", *tables.notes]
            ),
            None,
        )
    if plan.missing:
        tables = tables._replace(
            notes=[_missing_note(plan, is_match=bool(tables.match)), *tables.notes]
        )
    return tables, plan


def _missing_note(plan: "Completeness", *, is_match: bool) -> str:
    blocks = (
        ""
        if is_match
        else (
            "; incomplete blocks, which count with the games played so far:"
            f" {plan.incomplete_blocks}"
        )
    )
    return f"{plan.missing} of the {plan.games} planned games are missing{blocks}"


def print_standings(tables: "Tables", plan: "Completeness | None", *, as_json: bool) -> None:
    """Prints the standings of a run to stdout."""
    print_tables(tables, {"plan": plan and plan._asdict()}, as_json=as_json)


def print_tables(
    tables: "Tables",
    beside: Mapping[str, Any],
    *,
    as_json: bool,
    pairs: bool = False,
    covariance: bool = False,
) -> None:
    """Prints the standings, and anything else asked for, to stdout; ``beside`` goes at the start of
    the JSON.
    """
    from arena.exports.files import standings_object
    from arena.exports.text import covariance_text, noun_of, pairs_text, standings_text

    if as_json:
        content = {**beside, **standings_object(tables, pairs=pairs, covariance=covariance)}
        click.echo(msgspec.json.format(msgspec.json.encode(content), indent=2))
        return
    width = columns_of(sys.stdout)
    click.echo(folded(standings_text(tables, width), width))
    if pairs:
        click.echo(f"\n{pairs_text(tables.pairs, noun_of(tables))}")
    if covariance:
        click.echo(f"\n{covariance_text(tables.covariance)}")


def show_notes(tables: "Tables") -> None:
    """Prints the notes to stderr, for output that has no room for them."""
    for note in tables.notes:
        click.echo(f"note: {printable(note)}", err=True)
