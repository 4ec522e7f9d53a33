"""NAME: a bot for Qin in plain Python. Change `worth` or `choose`, then run `arena check` on this folder.

A print of anything else would break the protocol, which owns stdout: log with print(..., file=sys.stderr).
"""

import json
import re
import sys
from typing import Any


# ---- CHANGE THIS: how good a move such as Rc4Yd4 is; here, roughly, how many pagodas it places
def worth(move: str, rows: list[str]) -> int:
    """Two spaces of one colour that touch no space of it found a province, which takes the villages beside it."""
    (first, square), (second, other) = re.findall(r"([RYB])([a-z]\d+)", move)
    if first != second or beside(square, first, rows) + beside(other, first, rows):
        return 0
    return 1 + beside(square, "V", rows) + beside(other, "V", rows)


def choose(turn: dict[str, Any]) -> str:
    """The move to play. The turn has hand, legal, time_ms and position: rows, provinces, villages, left, hands, pile."""
    legal: list[str] = turn["legal"]
    rows = turn["position"]["rows"]
    return max(legal, key=lambda move: worth(move, rows))


def beside(square: str, sign: str, rows: list[str]) -> int:
    """How many of the four squares around this one show the sign: R Y B a colour, V a village, ~ a lake."""
    column, row = ord(square[0]) - ord("a"), int(square[1:]) - 1
    around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return sum(0 <= y < len(rows) and 0 <= x < len(rows[y]) and rows[y][x] == sign for x, y in around)


# ---- the dialogue with the arena: protocol/SPEC.md
def answer(message: dict[str, Any]) -> None:
    """One line, sent at once."""
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "hello":
        answer({"type": "ready", "id": request["id"], "view": "full"})
    elif request["type"] == "turn":
        answer({"type": "move", "id": request["id"], "move": choose(request)})
    elif request["type"] == "quit":
        break
