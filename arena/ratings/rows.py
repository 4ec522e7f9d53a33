"""Checks a single row of a results file: what its cells mean, and what is wrong with it."""

from collections.abc import Mapping

from arena.ratings.results import FEWEST_SEATS, WHOLE
from arena.records.record import MOST_SEATS

CLOSE = 0.005
"""Wide enough that 0.33 and 0.3333 both count as a third."""
UNREADABLE, MISSING = -1, -2
RANKS = range(1, MOST_SEATS + 1)
SHARES = "shares of 1/m for each of m winners and 0 for the others, for example 1,0 or 0.5,0.5"


def share_parts(text: str) -> int:
    """A share, such as 1, 0.5, .333 or 1/3, in parts of `results.WHOLE`; UNREADABLE or MISSING."""
    if not text.strip():
        return MISSING
    above, slash, below = text.partition("/")
    try:
        value = float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError):
        return UNREADABLE
    near = [
        part
        for part in (0, *(WHOLE // count for count in range(1, MOST_SEATS + 1)))
        if abs(value - part / WHOLE) < CLOSE
    ]
    return near[0] if near else UNREADABLE


def complaint(cells: Mapping[str, str], seats: int) -> str:
    """What was expected in a row and what came; empty if nothing is wrong. ``seats`` is the number
    of bot columns.
    """
    bots = [cells[f"bot_{seat}"].strip() for seat in range(seats)]
    texts = [cells[f"share_{seat}"] for seat in range(seats)]
    size = bots.index("") if "" in bots else seats
    if size < FEWEST_SEATS or any(bots[size:]):
        return f"expected the names of two or more bots, without gaps, got {_shown(bots)}"
    parts = [share_parts(text) for text in texts]
    for seat, (part, text) in enumerate(zip(parts, texts, strict=True)):
        if part == UNREADABLE or (part == MISSING and seat < size):
            return f"expected {SHARES}, got {text!r} in share_{seat}"
        if part > 0 and seat >= size:
            return f"expected no share where no bot sits, got {text!r} in share_{seat}"
    taken = [part for part in parts if part > 0]
    if not taken or any(part * len(taken) != WHOLE for part in taken):
        return f"expected {SHARES}, got {_shown(texts[:size])}"
    if not cells.get("block", "1").strip():
        return "expected a block, got an empty cell"
    return _rank_complaint(cells, [part > 0 for part in parts[:size]])


def _rank_complaint(cells: Mapping[str, str], won: list[bool]) -> str:
    """Checks that winners have rank 1, and nobody else has."""
    for seat, is_winner in enumerate(won):
        text = cells.get(f"rank_{seat}")
        if text is not None and (_rank(text) not in RANKS or (_rank(text) == 1) != is_winner):
            return (
                f"expected a rank from 1 to {MOST_SEATS}, 1 for the winners, got {text!r} in"
                f" rank_{seat}"
            )
    return ""


def _rank(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _shown(texts: list[str]) -> str:
    return ",".join(texts)
