"""arena bench: how fast the arena is on this machine."""

import importlib
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from arena.cli.options import as_json
from arena.exports.grid import columns_text
from tests.bench.figures import Figure

PARTS = ("rules", "referee", "startup", "tables", "ratings", "memory", "hints")


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(PARTS), metavar="[PART]...")
@click.option(
    "--quick",
    is_flag=True,
    help="Use small sizes, to see that everything works; the figures mean little.",
)
@as_json
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Measure tables in turn with another version, a checkout in which make has been run.",
)
def bench(parts: tuple[str, ...], *, quick: bool, as_json: bool, against: Path | None) -> None:
    """Measure the arena on this machine, each figure next to a reference. All parts together take a
    few minutes.

    PART is rules, referee, startup, tables, ratings, memory or hints.

    \b
    arena bench
    arena bench rules referee --json
    arena bench tables --against ../qin-arena-before

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
    tables    what people wait for. Processor time of whole commands:
              tables.bots_s, sdk_s, run_20_s and standings_20_s (20
              games), runs_s (1,000 runs), pairs_few_s,
              standings_many_s, report_few_s and report_many_s (100
              and 300 bots), check_s, next to reference_s, which
              imports numpy and pandas; run_20_wall_s and
              check_wall_s by the wall clock; standings_many_mb the
              peak memory, report_few_size and report_many_size the
              reports in MB; start_c_s and start_python_s the
              wall time until a bot in bubblewrap writes a line; look_percent the share of a
              core that the keeper of an idle bot takes beside 300
              processes; home_few_s and home_many_s a request for the
              first page of arena serve (10 and 1,000 runs).
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
    if against and parts != ("tables",):
        raise click.UsageError("--against measures tables only: arena bench tables --against DIR")
    figures: list[Figure] = []
    for part in parts or PARTS:
        click.echo(f"measuring {part}", err=True)
        more = {"against": against} if against else {}
        measure = importlib.import_module(f"tests.bench.{part}").measure
        figures += measure(quick=quick, **more)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_by_key(figures)), indent=2))
    else:
        heads = ["Key", "What", "Measured", "Unit", "Aim"]
        rows = [
            [figure.key, figure.name, _shown(figure.value), figure.unit, figure.aim]
            for figure in figures
        ]
        if against:
            heads += ["Reference", "Ratio"]
            pairs = zip(rows, figures, strict=True)
            rows = [[*row, *_compared(figure)] for row, figure in pairs]
        click.echo(columns_text(heads, rows, left=("Key", "What", "Unit", "Aim")))


def _by_key(figures: Sequence[Figure]) -> dict[str, float]:
    """The values by key; those of the other version have ``.reference`` after it."""
    found: dict[str, float] = {}
    for figure in figures:
        found[figure.key] = round(figure.value, 4)
        if figure.reference is not None:
            found[f"{figure.key}.reference"] = round(figure.reference, 4)
    return found


def _compared(figure: Figure) -> list[str]:
    """The cells for the other version: its value, and the new value divided by it."""
    if not figure.reference:
        return ["", ""]
    return [_shown(figure.reference), f"{figure.value / figure.reference:.2f}"]


def _shown(value: float) -> str:
    """Three digits or more."""
    return (
        f"{value:,.0f}"
        if abs(value) >= 1000
        else f"{value:.1f}"
        if abs(value) >= 10
        else f"{value:.3f}"
    )
