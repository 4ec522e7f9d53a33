"""Who won a game, and by how much: the facts behind every sentence and heading that says so."""

from collections.abc import Sequence

from arena.exports.text import seat_names
from arena.records.record import GameRecord


def winners_of(record: GameRecord) -> list[int]:
    """The seats that won the game of ``record``. Several seats share the win."""
    best = min(record.ranks)
    return [seat for seat, rank in enumerate(record.ranks) if rank == best]


def names_of(record: GameRecord, seats: Sequence[int]) -> str:
    """The names of these seats in the game of ``record``, joined by "and"."""
    names = seat_names(record.bots)
    return " and ".join(names[seat] for seat in seats)


def lead_of(record: GameRecord, seat: int) -> int:
    """How many more pagodas the best other player who did not forfeit had left than the winner at
    ``seat``, at the end of the game of ``record``; 0 if the win is shared with that player, and if
    all others forfeited.
    """
    gone = {seat, *(fault.seat for fault in record.faults)}
    left = [left for other, left in enumerate(record.left) if other not in gone]
    return min(left) - record.left[seat] if left else 0


def lag_of(record: GameRecord, seat: int) -> int:
    """How many more pagodas the player at ``seat`` had left than the winner, at the end of the game
    of ``record``. It can be negative after a forfeit, because whoever forfeits has lost.
    """
    return record.left[seat] - record.left[winners_of(record)[0]]
