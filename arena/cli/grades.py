"""The grades of a review: made with a bar, and shown. Pandas is loaded here: `arena review` imports
this when called.
"""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from arena.cli.estimate import LONG_S, duration_text
from arena.cli.showing import tell_json
from arena.cli.terminal import columns_of, say, tell_with_commands
from arena.commands.review import DEFAULT_JUDGE, Review, make_judge
from arena.errors import counted, printable
from arena.exports.files import csv_text
from arena.exports.review import review_object, review_text
from arena.records.regular import write_durably
from arena.tournament.review import Adviser


def graded(
    folder: Path,
    adviser: Adviser | None,
    jobs: int | None,
    *,
    judge: str,
    deals: int,
    seed: int,
    **extent: Any,
) -> Review:
    """A review of which nothing is missing; its ``extent`` is as in `Review`. Raises UserError,
    RunError.
    """
    finisher = make_judge(DEFAULT_JUDGE if adviser else judge, deals, seed)
    found = Review(folder, finisher, adviser=adviser, **extent)
    if found.held_back:
        say(
            f"note: {counted(found.held_back, 'game')} left out, because their deals are still"
            " being played"
        )
    _grade(found, jobs)
    return found


def show_grades(
    found: Review, folder: Path, worst: int, csv_path: str | None, *, as_json: bool
) -> None:
    """Prints what was found out, and writes it to a CSV file if asked to."""
    decisions, bots, held_back = found.result()
    if csv_path == "-":
        click.echo(csv_text(decisions), nl=False)
    elif as_json:
        content = review_object(folder.name, found.judge, bots, decisions, held_back)
        tell_json(content)
    elif decisions.empty:
        click.echo("no decisions to grade")
    else:
        width = columns_of(sys.stdout)
        shown = review_text(folder.name, found.judge, bots, decisions, worst, width)
        tell_with_commands(printable(shown, keep="\n"))
    if csv_path and csv_path != "-":
        write_durably(Path(csv_path), csv_text(decisions).encode())
        say(f"decisions: {csv_path}")


def _grade(found: Review, jobs: int | None) -> None:
    """Grades what is missing, with a progress bar on stderr."""
    tqdm.monitor_interval = 0
    if not found.todo:
        return
    seconds = found.estimated_s(jobs)
    if seconds > LONG_S:
        say(
            f"{counted(found.decisions, 'decision')} to grade, about {duration_text(seconds)};"
            " --games N grades fewer games, and what is graded is kept"
        )
    total, done = found.decisions, 0
    try:
        with (
            closing(found.grade(jobs)) as grades,
            tqdm(grades, total=total, unit="decision", disable=None, leave=False) as bar,
        ):
            for _ in bar:
                done += 1
    except KeyboardInterrupt:
        say(
            f"{done} of {counted(total, 'decision')} graded; the same command goes on with the game"
            " it was at"
        )
        raise
