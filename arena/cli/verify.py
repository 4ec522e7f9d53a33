"""arena verify: checks a run against its plan and the rules."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from arena.cli import DONE, FAILED
from arena.cli.numbers import WholeNumber
from arena.cli.options import as_json, check_utf8, prior_option, run_argument, tell_json
from arena.cli.terminal import say, tell
from arena.commands.runs import named_run
from arena.errors import printable
from arena.records.journal import COMPRESSED

if TYPE_CHECKING:
    from arena.exports.verify import CheckedRun


SHOWN_DIFFERENCES = 20
"""The most differences that are printed."""
SAMPLED = (
    "note: {} games were not replayed; for these, only the format, ids, places in the plan, bots,"
    " decks, and evidence of faults were checked, and that no game is there twice"
)
"""Printed if only a sample of the games was replayed."""


@click.command()
@run_argument
@click.option(
    "--sample",
    type=WholeNumber(1),
    metavar="N",
    help="Replay only N games, chosen at random.  [default: all]",
)
@click.option(
    "--seed",
    callback=check_utf8,
    metavar="TEXT",
    help="Determines the sample: the same text gives the same games.  [default: 1]",
)
@prior_option
@as_json
@click.pass_obj
def verify(
    home: Path,
    /,
    run: str | None,
    sample: int | None,
    seed: str | None,
    prior: float | None,
    *,
    as_json: bool,
) -> int:
    """Check a run against its plan and the rules. Every game of the run, by default the newest
    one, is replayed, and everything in its folder that can be checked is checked.

    This checks records against their schema, ids against the plan, decks against the seed, results
    against the moves, faults against their evidence, the copies of the bots against their hashes,
    and each table in the folder against the journal. If the tables were written with a --prior
    other than the default, use the same one here. Values that follow from nothing else, such as
    times, are only compared with the tables. The exit status is 1 if anything differs.

    With --sample, only the chosen games are replayed; everything else is checked as usual. If one
    game in a hundred is wrong, a sample of 500 misses all of them in fewer than one case in a
    hundred. Nobody who writes a run can know which games a new --seed will choose.

    \b
    arena verify
    arena verify league --json
    arena verify league --sample 1000 --seed "$(date)"
    """  # noqa: D301 - \b is click's mark for lines to keep
    # Pandas is slow to load, and --help does not need it; so in review.
    from arena.exports.verify import Sample, verify_run  # noqa: PLC0415

    if seed is not None and sample is None:
        raise click.UsageError("--seed needs --sample: without --sample every game is replayed")
    opened = named_run(home, run)
    say(f"run {opened.folder}")
    journal = opened.journal
    # the decompressed journal is longer
    size = journal.stat().st_size if journal.exists() and journal.suffix != COMPRESSED else None
    tqdm.monitor_interval = 0
    with tqdm(total=size, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        chosen = None if sample is None else Sample(sample, seed or "1")
        verdict = verify_run(opened, prior, lambda size: bar.update(size - bar.n), chosen)
    if as_json:
        differences = [difference._asdict() for difference in verdict.differences]
        tell_json({**verdict._asdict(), "differences": differences})
    else:
        _show_verdict(verdict, is_sample=sample is not None)
    return FAILED if verdict.differences else DONE


def _show_verdict(verdict: "CheckedRun", *, is_sample: bool) -> None:
    """Prints the differences, the notes and a summary."""
    for difference in verdict.differences[:SHOWN_DIFFERENCES]:
        tell(printable(str(difference)))
    if len(verdict.differences) > SHOWN_DIFFERENCES:
        tell(f"and {len(verdict.differences) - SHOWN_DIFFERENCES} more; use --json to list them")
    for note in verdict.notes:
        tell(f"note: {printable(note)}")
    if is_sample:
        tell(SAMPLED.format(verdict.games - verdict.replayed))
    count = f"{len(verdict.differences)} differences" if verdict.differences else "no difference"
    compared = f"{verdict.bots} bots and {len(verdict.tables)} tables compared"
    tell(f"{verdict.replayed} games replayed, {compared}: {count}")
