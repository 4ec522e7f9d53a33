"""What the commands share that ask a bot again for the decisions of a recorded game."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from arena.cli.terminal import say, tell
from arena.commands.allowing import SandboxChoice
from arena.commands.asking import bot_to_ask, note_bank
from arena.commands.folders import run_folder
from arena.errors import printable
from arena.match.retrace import Decision, decisions_of, ms_at, old_ms, retrace
from arena.players.bot import BotPlayer
from arena.players.process import adopt_orphans
from arena.records.find import find_record
from arena.records.record import GameRecord
from arena.rules.rulebook import explained
from arena.tournament.scripts import Scripts

STDERR_LINES = 8


def named_game(home: Path, words: Sequence[str]) -> tuple[Path, GameRecord]:
    """The run and the record that ``[RUN] GAME`` names. Raises UsageError, RunError."""
    if len(words) not in (1, 2):
        raise click.UsageError(
            "expected the id of a game, or a run and the id of a game, got"
            f" {' '.join(words) or 'nothing'}"
        )
    folder = run_folder(home, words[0] if len(words) == 2 else None)  # noqa: PLR2004
    return folder, find_record(folder, words[-1])


def deciding_seat(record: GameRecord, turn: int, seat: int | None) -> int:
    """The seat that had to decide after this many placements: the given one, or the only one.
    Raises BadParameter.
    """
    turns = {at: decisions_of(record, at) for at in range(len(record.bots))}
    found = [at for at in turns if turn in turns[at] and seat in (None, at)]
    if len(found) == 1:
        return found[0]
    if found:
        raise click.BadParameter(
            f"expected one of {', '.join(map(str, found))}: both had to decide at turn {turn}",
            param_hint="--seat",
        )
    if seat is None:
        raise click.BadParameter(
            f"expected a turn before which a bot had to decide, 0 to {record.turns - 1}, got"
            f" {turn}",
            param_hint="--turn",
        )
    known = ", ".join(map(str, turns[seat])) or "none"
    raise click.BadParameter(
        f"expected a turn at which seat {seat} had to decide ({known}), got {turn}",
        param_hint="--turn",
    )


class SecondAnswer(NamedTuple):
    """A bot's answer; ``stderr`` is the end of its stderr."""

    bot: str
    decision: Decision
    stderr: str


def ask_again(
    home: Path,
    folder: Path,
    record: GameRecord,
    turn: int,
    seat: int,
    text: str,
    choice: SandboxChoice,
) -> SecondAnswer:
    """Takes a bot to a decision in a recorded game and asks for it. Raises UserError, Void."""
    scripts = Scripts(folder)
    script = scripts.of(record)
    note_bank(scripts, say)
    adopt_orphans()
    with bot_to_ask(home, scripts, text, record.bots[seat], choice) as (bot, sandbox):
        player = BotPlayer(bot, script.timing.startup_ms, sandbox, script.timing.clock)
        try:
            last = retrace(script, seat, player, wanted=turn).decisions[-1]
            return SecondAnswer(bot.label, last, player.evidence()[2])
        finally:
            player.stop()


def recorded_text(record: GameRecord, seat: int, decision: Decision) -> str:
    """The recorded move, or how the seat forfeited instead."""
    if decision.old:
        ms, bot = ms_at(record, decision.turn), record.bots[seat]
        took = (
            f"{bot} took {old_ms(record, seat):.1f} ms per answer in this game on average"
            if ms is None
            else f"{bot} took {ms:.1f} ms"
        )
        return printable(f"{decision.old}  ({took})")
    fault = next(fault for fault in record.faults if fault.seat == seat)
    return printable(f"forfeit ({fault.kind}): {explained(fault.detail)}")


def decision_text(decision: Decision, bot: str) -> str:
    """A bot's answer, compared with the recorded move."""
    if decision.fault:
        return printable(f"fault of {bot} ({decision.fault}): {explained(decision.detail)}")
    same = (
        "the same move"
        if decision.new == decision.old
        else "another move"
        if decision.old
        else "an answer"
    )
    return f"{decision.new}  ({same}, by {printable(bot)} in {decision.spent_ms:.1f} ms)"


def show_stderr(asked: SecondAnswer) -> None:
    """Prints the end of a bot's stderr if it committed a fault."""
    for line in (
        (asked.stderr if asked.decision.fault else "").rstrip().splitlines()[-STDERR_LINES:]
    ):
        tell(f"     stderr: {printable(line)}")
