"""Write a bot for Qin in Python: look at the position, try moves,
and let `run` talk to the arena.

A whole bot:

    from arena.sdk import Position, run

    def choose(position: Position) -> int:
        return position.rng.choice(position.legal_moves())

    run(choose)

`Position` is what your bot sees when it has to move. Read it with `Position.at`,
`Position.provinces`, `Position.villages`, `Position.hand` and `Position.left`. ``print(position)``
draws the board; while `run` is at work, ``print`` writes to stderr, because stdout belongs to the
protocol.

A move is an int, so that a search is fast. `Position.text` turns it into text such as ``Rc4Yd4``,
and `Position.move` turns text into a move. Squares are always text such as ``c4``: the column's
letter, then the row's number; ``a1`` is the top left corner. Seats are numbered from 0 in turn
order.

To look ahead, use `Position.play`, `Position.outlooks` and `Position.rollouts`, and let
`Position.has_time` say when to stop. `Position.note` says what your bot thinks: you see it when you
replay the game. ``arena new NAME --template montecarlo`` writes a bot that does this.

`Position.line` is a position in one line of text. `position_of` reads it, for tests of your bot.
"""

from arena.rules.notation import PASS
from arena.sdk.areas import Province, Rollout, Square, Village
from arena.sdk.loop import Choose, position_of, run, serve
from arena.sdk.position import Position

__all__ = [
    "PASS",
    "Choose",
    "Position",
    "Province",
    "Rollout",
    "Square",
    "Village",
    "position_of",
    "run",
    "serve",
]
