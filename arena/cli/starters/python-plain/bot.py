"""NAME: a bot for Qin in plain Python. Change `worth` or `choose`, then run `arena check` on this
folder.

Stdout belongs to the protocol. To log something, write to stderr: print(..., file=sys.stderr).
"""

import json
import re
import sys
import time
from typing import Any

options = {"village": 1}  # bot.toml declares them; `start` brings what the user has set


# ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it places.
def worth(move: str, rows: list[str]) -> int:
    """A tile with one colour twice founds a province if it touches no space of that colour, and may
    win the villages beside it.
    """
    parts = re.fullmatch(r"([RYB])([a-z]\d+)([RYB])([a-z]\d+)", move)
    if parts is None:
        return 0
    colour, square, other_colour, other = parts.groups()
    if colour != other_colour:
        return 0
    if beside(square, colour, rows) or beside(other, colour, rows):
        return 0
    return 1 + options["village"] * (beside(square, "V", rows) + beside(other, "V", rows))


def choose(turn: dict[str, Any]) -> str:
    """Return the move to play, or "" if the turn has none. A turn has: hand, legal, time_ms,
    position (rows, provinces, villages, left, hands, pile).
    """
    best = ""
    best_worth = -1
    for move in turn["legal"]:
        move_worth = worth(move, turn["position"]["rows"])
        if move_worth > best_worth:
            best = move
            best_worth = move_worth
        if not clock.has_time():
            break
    return best


def beside(square: str, sign: str, rows: list[str]) -> int:
    """Count the neighbours of a square that show this sign: R, Y or B for a colour, V for a
    village, ~ for a lake.
    """
    column = ord(square[0]) - ord("a")
    row = int(square[1:]) - 1
    count = 0
    for x, y in [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]:
        if 0 <= y < len(rows) and 0 <= x < len(rows[y]) and rows[y][x] == sign:
            count += 1
    return count


# ---- time, in ms. A late answer loses the game: ask has_time after every small piece of work, and
# have a move ready at any time. Give this bot 10 ms a move or more.
class MoveTime:
    """The time of a move. The arena counts the CPU time since your last answer; with
    `--clock wall` it counts the wall-clock time since its request.
    """

    by_wall = False  # whether the arena was started with `--clock wall`
    has_bank = False  # whether time_ms is all that is left for the whole game
    since = 0.0  # when the counting began: at the last answer, or at the request
    limit = float("inf")  # how long the bot may think
    late = 0.0  # a further reserve, which grows after late answers

    def now(self) -> float:
        """Read the clock that the arena reads too."""
        seconds = time.monotonic() if self.by_wall else time.process_time()
        return 1000 * seconds

    def has_time(self) -> bool:
        """Return whether the bot may go on thinking about its move."""
        return self.now() - self.since < self.limit

    def asked(self, ms: float) -> None:
        """Set how long the bot may think about its move, when the arena gives it ``ms`` ms. A part
        is kept as a reserve; of a bank for the whole game, a move gets a twentieth.
        """
        reserve = 25 + ms / 4 if self.by_wall else max(15, ms / 20)
        if self.by_wall:
            self.since = self.now()
        self.limit = ms / 20 if self.has_bank else max(ms * 0.4, ms - reserve - self.late)

    def answered(self) -> None:
        """Make the reserve larger after a late answer, and a little smaller after any other."""
        self.late = max(self.late * 0.8, self.now() - self.since - self.limit)
        self.since = self.now()


clock = MoveTime()


# ---- the conversation with the arena, see protocol/SPEC.md
def answer(message: dict[str, Any]) -> None:
    """Send one line, and send it now: output to a pipe is held back otherwise."""
    print(json.dumps(message), flush=True)
    clock.answered()


for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "hello":
        answer({"type": "ready", "id": request["id"], "view": "full"})
    elif request["type"] == "start":
        clock.by_wall = request.get("clock") == "wall"
        clock.has_bank = "game_ms" in request
        options.update(request.get("options", {}))
        print("options:", options, file=sys.stderr)  # `arena play --stderr` shows it
    elif request["type"] == "turn":
        clock.asked(request["time_ms"])
        chosen = choose(request)
        if not chosen:
            print("this turn has no move to choose", file=sys.stderr)
        note = {"worth": worth(chosen, request["position"]["rows"])}  # `arena replay` shows notes
        answer({"type": "move", "id": request["id"], "move": chosen, "note": note})
    elif request["type"] == "quit":
        break
