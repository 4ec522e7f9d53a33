"""arena reproduce: checks whether a fault happens again."""

from pathlib import Path
from typing import NamedTuple

import click

from arena.cli import DONE, FAILED, NO
from arena.cli.asking import SecondAnswer, decision_text, named_game, show_stderr
from arena.cli.options import as_json, sandbox_options
from arena.cli.showing import tell_json
from arena.cli.terminal import say, tell
from arena.commands.allowing import SandboxChoice
from arena.commands.asking import bot_to_ask, note_bank
from arena.errors import RunError, printable
from arena.match.reproduce import Reproduction
from arena.match.reproduce import reproduce as repeat
from arena.players.process import adopt_orphans
from arena.records.evidence import FOLDER, KeptFault, evidence_name, read_evidence
from arena.records.find import find_record
from arena.records.record import Fault, GameRecord
from arena.records.strict import short
from arena.rules.rulebook import explained
from arena.tournament.scripts import Scripts

STATUS = {"same": DONE, "other": FAILED, "answered": NO}
SAID = {
    "same": "the same fault again",
    "other": "another fault",
    "answered": "no fault: the bot answers",
}
SHOWN = 3


@click.command()
@click.argument("words", nargs=-1, metavar="FAULT")
@click.option(
    "--seat",
    type=click.IntRange(0, 3),
    help="The seat at fault, if several bots of the game committed one.",
)
@click.option(
    "--bot",
    "bot_text",
    metavar="BOT",
    help="The bot to ask, a name or path.  [default: the run's copy of the bot]",
)
@sandbox_options
@as_json
@click.pass_obj
def reproduce(
    home: Path,
    /,
    words: tuple[str, ...],
    seat: int | None,
    bot_text: str | None,
    *,
    choice: SandboxChoice,
    as_json: bool,
) -> int:
    """Send a bot the lines again that led to its fault. You see how it answers now.

    FAULT is a folder or file in the faults/ of a run, or [RUN] GAME with the id of a game as in
    games.jsonl. The lines are made from the record and are the same as in that game, byte for byte,
    including the ids. Each reply is due at the same point, with the same time. Lines from earlier
    games of the process are not sent. Whatever the bot answers on the way, the game goes on as
    recorded.

    The exit status is 0 if the same fault comes at the same turn, 4 if the bot answers there, and 1
    for any other fault.

    \b
    arena reproduce results/league/faults/bird/my-bot+other/3/1
    arena reproduce league bird/my-bot+other/3/1 --bot ./my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    case = _find_case(home, words, seat)
    scripts = Scripts(case.run)
    if case.kept is None or len(case.kept.asked_ms) == 0:
        note_bank(scripts, say)
    adopt_orphans()
    with bot_to_ask(home, scripts, bot_text, case.bot, choice) as (bot, sandbox):
        found = repeat(
            scripts.of(case.record), case.fault, case.kept, bot, sandbox, scripts.info.arena
        )
    if as_json:
        tell_json(_as_object(case, bot.label, found))
    else:
        _show(case, bot.label, found)
    return STATUS[found.verdict]


class _Case(NamedTuple):
    """A fault in a run; ``kept`` is its evidence, if it still exists."""

    run: Path
    record: GameRecord
    fault: Fault
    kept: KeptFault | None

    @property
    def bot(self) -> str:
        return self.record.bots[self.fault.seat]


def _find_case(home: Path, words: tuple[str, ...], seat: int | None) -> _Case:
    path = Path(words[0]) if len(words) == 1 else Path()
    if len(words) == 1 and path.exists():
        run, record, seat = _at_path(path, seat)
    else:
        run, record = named_game(home, words)
    faults = [fault for fault in record.faults if seat in (None, fault.seat)]
    if len(faults) != 1:
        there = ", ".join(f"seat {fault.seat} ({fault.kind})" for fault in record.faults) or "none"
        hint = (
            "choose one with --seat"
            if faults
            else "'arena standings' counts faults; their evidence is in the run's faults/ folder"
        )
        raise RunError(f"expected one fault in {record.id}, got {there}", hint)
    return _Case(
        run, record, faults[0], read_evidence(run, evidence_name(record.id, faults[0].seat))
    )


def _at_path(path: Path, seat: int | None) -> tuple[Path, GameRecord, int | None]:
    """The run, the game and, if given, the seat of a folder or
    file of evidence. Raises RunError.
    """
    run = next(
        (parent for parent in path.absolute().parents if (parent / "run.json").is_file()), None
    )
    files = [path] if path.is_file() else sorted(path.glob("seat-*.json"))
    if run is None or not files or not files[0].absolute().is_relative_to(run / FOLDER):
        raise RunError(
            f"expected evidence in the {FOLDER}/ folder of a run, got {path}",
            "or give a run and the id of a game",
        )
    kept = read_evidence(run, str(files[0].absolute().relative_to(run)))
    assert kept is not None, "there is such a file"
    return run, find_record(run, kept.game), kept.seat if path.is_file() else seat


def _as_object(case: _Case, bot: str, found: Reproduction) -> dict[str, object]:
    fault = case.fault
    return {
        "run": str(case.run),
        "game": case.record.id,
        "seat": fault.seat,
        "bot": bot,
        "verdict": found.verdict,
        "recorded": {
            "turn": fault.turn,
            "kind": fault.kind,
            "detail": fault.detail,
            "words": found.old_words,
        },
        "decisions": [decision._asdict() for decision in found.decisions],
        "words": found.new_words,
        "ending": found.ending,
        "stderr": found.stderr,
        "sent": found.sent,
        "compared": found.compared,
        "differs": found.differs,
    }


def _show(case: _Case, bot: str, found: Reproduction) -> None:
    fault = case.fault
    _tell(
        f"{printable(case.bot)} (seat {fault.seat}) in {printable(case.record.id)}, after"
        f" {fault.turn} placements"
    )
    _tell(printable(f"then     {fault.kind}: {explained(fault.detail)}"))
    _show_words(found.old_words)
    last = found.decisions[-1] if found.decisions else None
    _tell(f"now      {decision_text(last, bot) if last else f'{printable(bot)} starts'}")
    _show_words(found.new_words)
    if last:
        show_stderr(SecondAnswer(bot, last, found.stderr))
    otherwise = [decision for decision in found.decisions[:-1] if decision.new != decision.old]
    if otherwise:
        turns = ", ".join(str(decision.turn) for decision in otherwise[:SHOWN]) + (
            "..." if len(otherwise) > SHOWN else ""
        )
        _tell(
            f"before   its answer differed from the record {len(otherwise)} times, at turn {turns}"
        )
    _tell(f"sent     {_sent_text(found)}")
    _tell(f"verdict  {SAID[found.verdict]}")


def _tell(text: str) -> None:
    """A line under its heading."""
    tell(text, " " * len("verdict  "))


def _show_words(words: list[str]) -> None:
    for text in words[:SHOWN]:
        _tell(f"         < {printable(short(text))}")


def _sent_text(found: Reproduction) -> str:
    lines = "1 line" if found.sent == 1 else f"{found.sent} lines"
    if not found.compared:
        return f"{lines}; no evidence to compare them with"
    if found.differs:
        old, new = (printable(short(text)) for text in found.differs)
        return (
            f"{lines}, one of which differs from the evidence\n         then > {old}\n         now "
            f" > {new}"
        )
    return f"{lines}, as in the evidence, byte for byte ({found.compared} compared)"
