"""The rounds of a match (R8.3), given by their boards, such as bird, lion: which deals they are played on.

A match has a deal of its own for each round: one of a board that is in it once, as many in a row as the board is in it. So the games of a
run are the same, under the same numbers, whichever matches they are put together to.
"""

from collections.abc import Sequence


def rounds_of(match: Sequence[str], deal: int) -> list[tuple[str, int]]:
    """Board and deal on it of each round of one of the match's deals."""
    return [(board, deal * match.count(board) + match[:number].count(board)) for number, board in enumerate(match)]


def turns_of(match: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of the rounds on each board."""
    turns: dict[str, list[int]] = {board: [] for board in match}
    for number, board in enumerate(match):
        turns[board].append(number)
    return turns


def place_of(turns: Sequence[int], deal: int) -> tuple[int, int]:
    """The deal of the match that a deal on a board belongs to, and the number of the round there; ``turns`` are the board's."""
    place, turn = divmod(deal, len(turns))
    return place, turns[turn]


def title_of(match: Sequence[str]) -> str:
    """The boards of the rounds as people see them: ``bird + lion``."""
    return " + ".join(match)
