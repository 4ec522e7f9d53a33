"""arena bench: how fast the arena is on this machine."""

import importlib

import click
import msgspec

from arena.cli.options import as_json
from arena.exports.grid import columns_text

PARTS = ("rules", "referee", "startup", "tables", "ratings", "memory", "hints")


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(PARTS), metavar="[PART]...")
@click.option(
    "--quick",
    is_flag=True,
    help="Use small sizes, to see that everything works; the figures mean little.",
)
@as_json
def bench(parts: tuple[str, ...], *, quick: bool, as_json: bool) -> None:
    """Measure the arena on this machine, each figure next to a reference. All parts together take a
    few minutes.

    PART is rules, referee, startup, tables, ratings, memory or hints.

    \b
    arena bench
    arena bench rules referee --json

    \b
    rules     2-player games per second of one processor, random ones but
              for rules.NAME of the built-in bots; rules.training
              .placements_per_s are a learner's steps.
              rules.CORE.games_per_s,
              .placements_per_s and .ns_per_placement for pure (move by move
              from Python), native (complete games inside the core) and
              native_calls (move by move); with the package open_spiel also
              openspiel and openspiel_calls, hex 11x11 played the same way.
              rules.ONE_to_OTHER.games and .placements are the ratios.
    referee   bots that know their moves; referee.python and referee.c.
              .us_per_decision is the time per decision, .bare_us that of the
              same bytes over bare pipes, .ratio the ratio of the two,
              .own_us_p50, _p99 and _p99_9 the time from an answer's arrival
              to the next request, .games_per_s games on one worker.
    startup   complete processes: startup.python_ms the interpreter, help_ms
              and version_ms the command, sdk_ms a bot, worker_ms a worker.
    tables    processor time of whole commands: tables.bots_s, sdk_s,
              run_20_s and standings_20_s (20 games), runs_s (1,000
              runs), pairs_few_s, standings_many_s,
              report_few_s and report_many_s (100 and 300 bots), next to
              reference_s, which imports numpy and pandas;
              standings_many_mb the peak memory, report_few_size and
              report_many_size the reports in MB.
    ratings   a million made-up games: ratings.rate_s to rate a table in
              memory, tables_s all its tables, journal_s both from a journal
              (0.8 GB of temporary files), peak_mb and journal_peak_mb the
              peak memory for that.
    memory    10,000 games on one worker: memory.main and memory.worker,
              .mb_after_1000, .mb_after_10000, and .growth_mb between them.
    hints     hints.BOARD.2_players and .3_players: 100 games of the first
              hint against the bot careful, .won; .hint_s a hint; .blunders
              of these moves by a review (a quarter of an hour in all).

    Figures are medians of several runs, which take turns with the references.
    """
    figures = []
    for part in parts or PARTS:
        click.echo(f"measuring {part}", err=True)
        figures += list(importlib.import_module(f"tests.bench.{part}").measure(quick=quick))
    if as_json:
        click.echo(
            msgspec.json.format(
                msgspec.json.encode({figure.key: round(figure.value, 3) for figure in figures}),
                indent=2,
            )
        )
    else:
        rows = [
            (figure.key, figure.name, _shown(figure.value), figure.unit, figure.aim)
            for figure in figures
        ]
        click.echo(
            columns_text(
                ("Key", "What", "Measured", "Unit", "Aim"),
                rows,
                left=("Key", "What", "Unit", "Aim"),
            )
        )


def _shown(value: float) -> str:
    """Three digits or more."""
    return (
        f"{value:,.0f}"
        if abs(value) >= 1000
        else f"{value:.1f}"
        if abs(value) >= 10
        else f"{value:.3f}"
    )
