"""How a version moves beside the one before it, in words, as a table and on boards."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from arena.errors import ArenaError, RunError
from arena.exports.report.drawing import board_after
from arena.exports.report.words import counted, number
from arena.records.changes import Changes, Deed, Example, read_changes
from arena.rules.positions import parse_position

DEEDS: dict[Deed, str] = {
    "found": "founds a province",
    "expand": "lets a province grow",
    "absorb": "joins provinces and owns them",
    "major": "makes a province major",
    "connect": "connects a village",
    "conquer": "conquers a village",
}
STAGES = ("beginning", "middle", "end")
MOST_BOARDS = 2


class Pair(NamedTuple):
    """A decision in which two versions differ: the game, the turn, and each with its move on the
    board.
    """

    game: str
    turn: int
    boards: list[tuple[str, str, Markup]]


def known_changes(run: Path) -> Mapping[str, Changes]:
    """What is known by version, as far as decisions were asked; nothing where the file cannot be
    read, since pages and tables do without.
    """
    try:
        return {bot: told for bot, told in read_changes(run).items() if sum(told.asked)}
    except RunError:
        return {}


def changes_sentence(told: Changes) -> str:
    """``my-bot@2 plays another move than my-bot@1 in 52 of 240 decisions (22 %); my-bot@1, asked
    again, in 3``.
    """
    asked, other = sum(told.asked), sum(told.other)
    again = f"; {told.before}, asked again, in {told.again[1] or 'none'}" if told.again[0] else ""
    faults = f"; it forfeits in {told.faults}" if told.faults else ""
    return (
        f"{told.bot} plays another move than {told.before} in {other} of"
        f" {counted(asked, 'decision')} ({100 * other / asked:.0f} %){again}{faults}"
    )


def regress_command(run: str, bot: str, before: str) -> str:
    """The command that lists every decision in which two versions differ."""
    return shlex.join(["arena", "regress", run, "--bot", bot, "--old", before])


def changes_shown(told: Changes) -> dict[str, Any]:
    """What a page shows: the sentences, what moves do as (what, old, new), and boards."""
    return {
        "sentences": [changes_sentence(told), stages_text(told)],
        "before": told.before,
        "bot": told.bot,
        "rows": [*_rows(told)],
        "pairs": [*_pairs(told)],
    }


def _rows(told: Changes) -> Iterator[tuple[str, str, str]]:
    most = max(told.moves, 1)
    for deed, words in DEEDS.items():
        old, new = told.deeds.get(deed, (0, 0))
        if old or new:
            yield words, f"{100 * old / most:.0f} %", f"{100 * new / most:.0f} %"
    old, new = told.pagodas
    yield "pagodas that it places", number(old / most, 2), number(new / most, 2)


def stages_text(told: Changes) -> str:
    """``Other moves by thirds of a game: beginning 20 %, middle 25 %, end 10
    %``.
    """
    shares = [
        f"{stage} {100 * other / asked:.0f} %"
        for stage, asked, other in zip(STAGES, told.asked, told.other, strict=True)
        if asked
    ]
    return f"Other moves by thirds of a game: {', '.join(shares)}"


def _pairs(told: Changes) -> Iterator[Pair]:
    for example in told.examples[:MOST_BOARDS]:
        try:
            yield Pair(example.game, example.turn, _boards(told, example))
        except (ArenaError, KeyError):  # a position that somebody changed
            continue


def _boards(told: Changes, example: Example) -> list[tuple[str, str, Markup]]:
    state = parse_position(example.position)
    return [
        (bot, move, board_after(state, example.moves, move, f"{bot} plays {move}"))
        for bot, move in ((told.before, example.old), (told.bot, example.new))
    ]
