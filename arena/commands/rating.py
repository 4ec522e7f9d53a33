"""The tables of a run with how complete it is. Pandas is loaded here."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.errors import ConfigError
from arena.ratings.tables import Opinion, Tables, run_tables
from arena.records.runfile import read_run
from arena.tournament.session import Completeness, Session, completeness, schedule_of


def rated_run(
    folder: Path,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    without: Sequence[str] = (),
    by: Opinion = "wins",
) -> tuple[Tables, Completeness | None]:
    """The tables of a run, and how complete it is (None if this version cannot read the plan). The
    notes mention both.
    """
    info = read_run(folder)
    tables = run_tables(folder, prior, anchors, match, info, without, by)
    try:
        plan = completeness(schedule_of(info), tables.blocks)
    except ConfigError as error:
        unknown = f"it is not known whether games are missing: {error}"
        return tables._replace(notes=[unknown, *tables.notes]), None
    return _with_note(tables, plan), plan


def rated_session(session: Session, prior: float | None = None) -> tuple[Tables, Completeness]:
    """The same for a run that has just been played."""
    tables = run_tables(session.folder, prior, info=session.info)
    plan = completeness(session.schedule, tables.blocks)
    return _with_note(tables, plan), plan


def _with_note(tables: Tables, plan: Completeness) -> Tables:
    """The tables with a note on missing games, if there are any."""
    if not plan.missing:
        return tables
    note = _missing_note(plan, is_match=bool(tables.match))
    return tables._replace(notes=[note, *tables.notes])


def _missing_note(plan: Completeness, *, is_match: bool) -> str:
    blocks = (
        ""
        if is_match
        else (
            "; incomplete blocks, which count with the games played so far:"
            f" {plan.incomplete_blocks}"
        )
    )
    return f"{plan.missing} of the {plan.games} planned games are missing{blocks}"
