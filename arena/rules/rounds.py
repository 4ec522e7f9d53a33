"""The rounds of a match (R8.3), given by their boards, such as bird, lion: which deals they are
played on.

A match has its own deal for each round: one deal on a board that occurs once, and several deals in
a row on a board that occurs several times. So a run has the same games under the same numbers, no
matter which matches they are combined into.
"""

from collections.abc import Sequence


def rounds_of(match: Sequence[str], deal: int) -> list[tuple[str, int]]:
    """The board and the deal on it for each round of one of the match's deals."""
    return [
        (board, deal * match.count(board) + match[:number].count(board))
        for number, board in enumerate(match)
    ]


def turns_of(match: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of the rounds on each board."""
    turns: dict[str, list[int]] = {board: [] for board in match}
    for number, board in enumerate(match):
        turns[board].append(number)
    return turns


def place_of(turns: Sequence[int], deal: int) -> tuple[int, int]:
    """The match's deal that a deal on a board belongs to, and the number of the round there;
    ``turns`` are the board's.
    """
    place, turn = divmod(deal, len(turns))
    return place, turns[turn]


def title_of(match: Sequence[str]) -> str:
    """The boards of the rounds as shown to people: ``bird + lion``."""
    return " + ".join(match)
