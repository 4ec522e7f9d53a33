"""NAME: a bot for Qin in plain Python. Change `worth` or `choose`, then run `arena check` on this
folder.

Stdout belongs to the protocol. To log something, write to stderr: print(..., file=sys.stderr).
"""

import json
import re
import sys
from typing import Any

options = {"village": 1}  # bot.toml declares them; `start` brings what the user has set


# ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it places.
def worth(move: str, rows: list[str]) -> int:
    """A tile with one colour twice founds a province if it touches no space of that colour, and may
    win the villages beside it.
    """
    (first, square), (second, other) = re.findall(r"([RYB])([a-z]\d+)", move)
    if first != second or beside(square, first, rows) + beside(other, first, rows):
        return 0
    return 1 + options["village"] * (beside(square, "V", rows) + beside(other, "V", rows))


def choose(turn: dict[str, Any]) -> str:
    """Return the move to play. A turn has: hand, legal, time_ms, position (rows, provinces,
    villages, left, hands, pile).
    """
    legal: list[str] = turn["legal"]
    rows = turn["position"]["rows"]
    return max(legal, key=lambda move: worth(move, rows))


def beside(square: str, sign: str, rows: list[str]) -> int:
    """Count the neighbours of a square that show this sign: R, Y or B for a colour, V for a
    village, ~ for a lake.
    """
    column, row = ord(square[0]) - ord("a"), int(square[1:]) - 1
    around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return sum(
        0 <= y < len(rows) and 0 <= x < len(rows[y]) and rows[y][x] == sign for x, y in around
    )


# ---- the conversation with the arena, see protocol/SPEC.md
def answer(message: dict[str, Any]) -> None:
    """Send one line, and send it now: output to a pipe is held back otherwise."""
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "hello":
        answer({"type": "ready", "id": request["id"], "view": "full"})
    elif request["type"] == "start":
        options.update(request.get("options", {}))
        print("options:", options, file=sys.stderr)  # `arena play --stderr` shows it
    elif request["type"] == "turn":
        chosen = choose(request)
        note = {"worth": worth(chosen, request["position"]["rows"])}  # `arena replay` shows notes
        answer({"type": "move", "id": request["id"], "move": chosen, "note": note})
    elif request["type"] == "quit":
        break
