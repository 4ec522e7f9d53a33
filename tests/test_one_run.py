"""One run as a user has it, from two bots to the standings; tests/e2e/ has all the others."""

import csv
import io
import json

import pytest

from arena.match.replay import replay
from arena.records.record import decode_record
from arena.rules.boards import Board
from tests.support.commandline import arena

__all__ = ["arena"]


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_round_robin_from_bots_to_standings(arena, snapshot):
    out, err = arena("run", "--deals", 3, "--out", "one")
    folder = arena.home / "results" / "one"
    records = arena.records("one")
    assert len(records) == len({record["id"] for record in records}) == 6
    assert out.splitlines()[0].split()[:3] == ["Rank", "Bot", "Elo"]
    assert err == snapshot
    standings = (folder / "standings.csv").read_text()
    table = rows(standings)
    assert [row["rank"] for row in table] == sorted(row["rank"] for row in table)
    for row in table:
        own = [(record, record["bots"].index(row["bot"])) for record in records]
        assert int(row["games"]) == 6
        assert int(row["wins"]) == sum(
            record["ranks"][seat] == 1 and record["ranks"].count(1) == 1 for record, seat in own
        )
        assert float(row["avg_left"]) == pytest.approx(
            sum(record["left"][seat] for record, seat in own) / 6, abs=1e-3
        )
        assert int(row["wins"]) + int(row["shared"]) + int(row["losses"]) == 6
    for record in records:
        board = Board(
            "bird", tuple(json.loads((folder / "run.json").read_text())["boards"]["bird"])
        )
        list(replay(decode_record(json.dumps(record)), board))
