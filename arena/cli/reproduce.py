"""arena reproduce: sends a bot the lines again that led to its fault."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from arena.cli import DONE, FAILED, NO
from arena.cli.completion import complete_bots, complete_runs
from arena.cli.numbers import WholeNumber
from arena.cli.options import as_json, tell_json
from arena.cli.replay import answer_lines, named_game
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.terminal import say, tell
from arena.commands.playing import SandboxChoice
from arena.commands.review import bot_to_ask, note_bank
from arena.errors import RunError, counted, printable
from arena.match.reproduce import Reproduction
from arena.match.reproduce import reproduce as repeat
from arena.records.evidence import evidence_name, read_evidence
from arena.records.record import Fault, GameRecord
from arena.records.strict import short
from arena.rules.explain import explained
from arena.tournament.review import Scripts

STATUS = {"same": DONE, "other": FAILED, "answered": NO}
"""The exit status for each verdict."""
SAID = {
    "same": "the same fault again",
    "other": "another fault",
    "answered": "no fault: the bot answers",
}
"""The sentence for each verdict."""
SHOWN = 3
"""The most quoted lines of a bot, and the most turns that are listed."""


@click.command(cls=BriefCommand)
@click.argument("words", nargs=-1, metavar="[RUN] GAME", shell_complete=complete_runs)
@click.option(
    "--seat",
    type=WholeNumber(0, 3),
    help="The seat at fault, if several bots of the game committed one.",
)
@click.option(
    "--bot",
    "bot_text",
    metavar="BOT",
    shell_complete=complete_bots,
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

    GAME is the id of a game as in games.jsonl, which is also its folder in the faults/ of the run.
    The lines are made from the record and are the same as in that game, byte for byte, including
    the ids. Each reply is due at the same point, with the same time. Lines from earlier games of
    the process are not sent. Whatever the bot answers on the way, the game goes on as recorded.

    The exit status is 0 if the same fault comes at the same turn, 4 if the bot answers there, and 1
    for any other fault.

    \b
    arena reproduce bird/my-bot+other/3/1
    arena reproduce league bird/my-bot+other/3/1 --bot ./my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    run, record = named_game(home, words)
    fault = _find_fault(record, seat)
    kept = read_evidence(run.folder, evidence_name(record.id, fault.seat))
    scripts = Scripts(run)
    if kept is None or not kept.asked_ms:
        note_bank(scripts, say)
    played = record.bots[fault.seat]
    with bot_to_ask(home, scripts, bot_text, played, choice) as (bot, sandbox):
        reproduction = repeat(scripts.of(record), fault, kept, bot, sandbox, scripts.info.arena)
    if as_json:
        about = {"run": str(run.folder), "game": record.id, "seat": fault.seat, "bot": bot.label}
        now = reproduction._asdict()
        now["decisions"] = [decision._asdict() for decision in reproduction.decisions]
        then = {"turn": fault.turn, "kind": fault.kind, "detail": fault.detail}
        then["words"], now["words"] = now.pop("old_words"), now.pop("new_words")
        tell_json({**about, "recorded": then, **now})
    else:
        head = f"{played} (seat {fault.seat}) in {record.id}, after {fault.turn} placements"
        for line in (printable(head), *_result_lines(fault, bot.label, reproduction)):
            tell(line, " " * len("verdict  "))
    return STATUS[reproduction.verdict]


def _find_fault(record: GameRecord, seat: int | None) -> Fault:
    """The fault in a game that the user means: the one of ``seat``, or the only one if that is
    None. Raises RunError.
    """
    faults = [fault for fault in record.faults if seat in (None, fault.seat)]
    if len(faults) != 1:
        found = [f"seat {fault.seat} ({fault.kind})" for fault in record.faults]
        there = ", ".join(found) or "none"
        counts = "'arena standings' counts faults; their evidence is in the run's faults/ folder"
        hint = "choose one with --seat" if faults else counts
        raise RunError(f"{record.id}: expected one fault, got {there}", hint)
    return faults[0]


def _result_lines(fault: Fault, bot: str, reproduction: Reproduction) -> Iterator[str]:
    """Lines on what the bot did in the recorded game, and what it did in the reproduction."""
    yield printable(f"then     {fault.kind}: {explained(fault.detail)}")
    yield from _quoted(reproduction.old_words)
    now = [f"{printable(bot)} starts"]
    if reproduction.decisions:
        now = answer_lines(bot, reproduction.decisions[-1], reproduction.stderr)
    yield f"now      {now[0]}"
    yield from _quoted(reproduction.new_words)
    yield from now[1:]
    turns = [str(past.turn) for past in reproduction.decisions[:-1] if past.new != past.old]
    if turns:
        at = ", ".join(turns[:SHOWN]) + "..." * (len(turns) > SHOWN)
        yield f"before   its answer differed from the record {len(turns)} times, at turn {at}"
    sent = f"sent     {counted(reproduction.sent, 'line')}"
    if not reproduction.compared:
        yield f"{sent}; no evidence to compare them with"
    elif reproduction.differs:
        yield f"{sent}, one of which differs from the evidence"
        for when, text in zip(("then", "now "), reproduction.differs, strict=True):
            yield f"         {when} > {printable(short(text))}"
    else:
        yield f"{sent}, as in the evidence, byte for byte ({reproduction.compared} compared)"
    yield f"verdict  {SAID[reproduction.verdict]}"


def _quoted(words: Sequence[str]) -> list[str]:
    """The first lines of a bot's output, ``words``, each cut and marked as a quotation; at most
    `SHOWN`.
    """
    return [f"         < {printable(short(text))}" for text in words[:SHOWN]]
