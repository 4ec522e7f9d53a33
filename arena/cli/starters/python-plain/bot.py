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
    first, square, second, other = parts.groups()
    if first != second or beside(square, first, rows) + beside(other, first, rows):
        return 0
    return 1 + options["village"] * (beside(square, "V", rows) + beside(other, "V", rows))


def choose(turn: dict[str, Any]) -> str:
    """Return the move to play, or "" if the turn has none. A turn has: hand, legal, time_ms,
    position (rows, provinces, villages, left, hands, pile).
    """
    best, most = "", -1
    for move in turn.get("legal", []):
        if (found := worth(move, turn["position"]["rows"])) > most:
            best, most = move, found
        if not clock.has_time():
            break
    return best


def beside(square: str, sign: str, rows: list[str]) -> int:
    """Count the neighbours of a square that show this sign: R, Y or B for a colour, V for a
    village, ~ for a lake.
    """
    column, row = ord(square[0]) - ord("a"), int(square[1:]) - 1
    around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return sum(
        0 <= y < len(rows) and 0 <= x < len(rows[y]) and rows[y][x] == sign for x, y in around
    )


# ---- time, in ms. A late answer loses the game: ask has_time after every small piece of work, and
# have a move ready at any time. Play it with 10 ms a move or more.
class MoveTime:
    """The arena counts CPU time from your last answer on; with `--clock wall` the time from
    its request on.
    """

    by_wall = has_bank = False
    since, limit, late = 0.0, float("inf"), 0.0

    def now(self) -> float:
        """Read the clock that the arena goes by."""
        return 1000 * (time.monotonic() if self.by_wall else time.process_time())

    def has_time(self) -> bool:
        """Return whether to go on thinking."""
        return self.now() - self.since < self.limit

    def asked(self, ms: float) -> None:
        """Keep a reserve for surprises; of a bank for the whole game, use a small part."""
        reserve = 25 + ms / 4 if self.by_wall else max(15, ms / 20)
        if self.by_wall:
            self.since = self.now()
        self.limit = ms / 20 if self.has_bank else max(ms * 0.4, ms - reserve - self.late)

    def answered(self) -> None:
        """Add what came too late to the reserve, and forget it slowly."""
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
        clock.by_wall, clock.has_bank = request.get("clock") == "wall", "game_ms" in request
        options.update(request.get("options", {}))
        print("options:", options, file=sys.stderr)  # `arena play --stderr` shows it
    elif request["type"] == "turn":
        clock.asked(request["time_ms"])
        chosen = choose(request)
        if not chosen:
            print("this turn has no move to choose", file=sys.stderr)
        rows = request.get("position", {}).get("rows", [])
        note = {"worth": worth(chosen, rows)}  # `arena replay` shows notes
        answer({"type": "move", "id": request["id"], "move": chosen, "note": note})
    elif request["type"] == "quit":
        break
