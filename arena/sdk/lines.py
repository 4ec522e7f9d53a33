"""Positions from lines of text, to try a bot's function on."""

import random

from arena.rules.notation import UNKNOWN
from arena.rules.positions import parse_position, position_text
from arena.sdk.position import Position


def position_of(
    line: str, seat: int | None = None, *, time_ms: int = 1000, seed: int = 0
) -> Position:
    """The position that a line of text stands for, as a seat sees it. Use it to test your function
    outside the arena.

    `Position.line` and ``arena replay --line`` write such lines; NOTATION.md says what is in them.

    Args:
        line: The line.
        seat: Whose eyes it is seen with. By default it is the seat to move, or the one whose hand
            the line shows.
        time_ms: The limit of the answer, as in `Position.time_ms`.
        seed: What `Position.rng` starts from.

    Raises:
        NotationError: The line is no position of a game that goes on.
        BoardError: Its board is not one that the rules allow.
        ValueError: The line does not show the hand of that seat.

    Examples:
        >>> position_of("R.3/.3V 0 24,24 RRYYBB,RRYYBB - 0,0,0,0,0,0 -").hand
        ['RR', 'YY', 'BB']
    """
    state = parse_position(line)
    shown = [own for own, hand in enumerate(state.hands) if UNKNOWN not in hand]
    if seat is None:
        seat = state.mover if state.mover in shown or not shown else shown[0]
    if seat not in shown:
        raise ValueError(f"expected a line that shows the hand of seat {seat}, got {line!r}")
    seen = parse_position(position_text(state, seat))
    # For play, not for secrets.
    return Position(seen, seat, random.Random(seed), time_ms)  # noqa: S311
