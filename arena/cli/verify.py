"""arena verify: whether a run's folder is what its plan, the rules and its journal make of it."""

from pathlib import Path

import click
import msgspec

from arena.cli.main import DONE, FAILED
from arena.cli.options import as_json, prior_option, run_argument, run_folder
from arena.errors import printable

SHOWN = 20
SAMPLED = (
    "note: of {} games the moves and the result were not replayed; compared were their form, ids, places in the plan, bots, decks, "
    "evidence of faults, and that none is there twice"
)


@click.command(short_help="Check a run against its plan and the rules.")
@run_argument
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Replay only N games, drawn at random.  [default: all]")
@click.option("--seed", metavar="TEXT", help="Decides which games the sample has: the same text, the same games.  [default: 1]")
@prior_option
@as_json
@click.pass_obj
def verify(home: Path, /, run: str | None, sample: int | None, seed: str | None, prior: float | None, *, as_json: bool) -> int:
    """Replay every game of a run, the newest by default, by the rules, and compare all that follows from something else.

    Records with their schema, ids with the plan, decks with the seed, results with the moves, faults with their evidence, the copies of the
    bots with their hashes, and each table in the folder with the one that the journal gives. Tables written with another --prior than the
    default need the same one here. What nothing else follows from, such as times, can only be compared with the tables. Exit status 1
    when anything differs.

    With --sample only the games drawn are replayed; all else is compared as ever. A run in which one game in a hundred is wrong passes
    with 500 games drawn in fewer than one case in a hundred, since whoever wrote the run cannot know which games a new --seed draws.

    \b
    arena verify
    arena verify league --json
    arena verify league --sample 1000 --seed "$(date)"
    """  # noqa: D301 - \b is click's mark for lines to keep
    from tqdm import tqdm  # noqa: PLC0415 - help must not wait for these

    from arena.exports.verify import Sample, verify_run  # noqa: PLC0415
    from arena.records.journal import COMPRESSED, journal_of  # noqa: PLC0415

    if seed is not None and sample is None:
        raise click.UsageError("expected --sample with --seed: without it every game is replayed")
    folder = run_folder(home, run)
    click.echo(f"run {folder}", err=True)
    journal = journal_of(folder)
    size = journal.stat().st_size if journal.exists() and journal.suffix not in COMPRESSED else None  # what is unpacked is longer
    tqdm.monitor_interval = 0
    with tqdm(total=size, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        verdict = verify_run(folder, prior, lambda size: bar.update(size - bar.n), None if sample is None else Sample(sample, seed or "1"))
    if as_json:
        content = {**verdict._asdict(), "differences": [difference._asdict() for difference in verdict.differences]}
        click.echo(msgspec.json.format(msgspec.json.encode(content), indent=2))
        return FAILED if verdict.differences else DONE
    for difference in verdict.differences[:SHOWN]:
        click.echo(printable(str(difference)))
    if len(verdict.differences) > SHOWN:
        click.echo(f"and {len(verdict.differences) - SHOWN} more; --json lists them")
    for note in verdict.notes:
        click.echo(f"note: {printable(note)}")
    if sample is not None:
        click.echo(SAMPLED.format(verdict.games - verdict.replayed))
    compared = f"{verdict.replayed} games replayed, {verdict.bots} bots and {len(verdict.tables)} tables compared"
    click.echo(f"{compared}: " + (f"{len(verdict.differences)} differences" if verdict.differences else "no difference"))
    return FAILED if verdict.differences else DONE
