"""What bots wrote to stderr, for the pages of games: nothing of a deal that is still played."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path

from arena.errors import RunError
from arena.exports.report.words import visible
from arena.records.record import GameRecord
from arena.records.stderr import StderrPart, read_stderr
from arena.rules.notation import PASSED

AT_ONCE = 500
"""Games looked up at a time: each look goes through all that was kept."""
TOO_LONG = "left out, because the page has no room for it: 'arena replay --stderr' shows it"
Chosen = tuple[GameRecord, list[str]]
Shown = tuple[int, int, str]
"""After how many moves, including passes, it is shown; the seat; the text."""


def with_stderr(
    run: Path, chosen: Iterable[Chosen], is_open: Callable[[GameRecord], bool], room: int
) -> Iterator[tuple[GameRecord, list[str], list[Shown]]]:
    """Each chosen game with what was kept of its stderr, as long as there is ``room``, in
    characters.
    """
    rest = iter(chosen)
    while some := list(islice(rest, AT_ONCE)):
        try:
            kept = read_stderr(run, [record.id for record, _ in some])
        except RunError:
            # Like evidence that is a link: a stranger's run is shown without it.
            kept = {}
        for record, reasons in some:
            parts = kept[record.id].parts if record.id in kept else []
            shown = list(_shown(record, parts)) if parts and not is_open(record) else []
            size = sum(len(text) for *_, text in shown)
            if size > room:
                shown, size = [(at, seat, TOO_LONG) for at, seat, _ in shown[:1]], 0
            room -= size
            yield record, reasons, shown


def _shown(record: GameRecord, parts: Sequence[StderrPart]) -> Iterator[Shown]:
    placed = list(accumulate((move != PASSED for move in record.moves), initial=0))
    # A turn's part stands beside the move that it led to, that of a forfeit after the move before.
    moves = {
        (number % len(record.bots), placed[number]): number + 1
        for number, move in enumerate(record.moves)
        if move != PASSED
    }
    for part in (part for part in parts if part.seat < len(record.bots)):
        if part.when == "end":
            at = len(record.moves)
        elif part.turn is None:
            at = 0
        else:
            at = moves.get((part.seat, part.turn), bisect_left(placed, part.turn))
        yield min(at, len(record.moves)), part.seat, visible("\n".join(part.lines()))
