"""What stands behind standings: tests that reject as often as they say, times and endings as the
journal has them.
"""

import json
import shutil
from itertools import islice

import numpy as np
import pandas as pd
import pytest

from arena.errors import UserError
from arena.exports.analysis import analysis_object, analysis_text
from arena.ratings.analysis import Spent, analyse_run
from arena.ratings.company import Company
from arena.ratings.intervals import holm
from arena.ratings.tables import run_tables
from arena.ratings.tally import WholeRow, row_decoder
from arena.records.journal import read_rows
from arena.records.runfile import read_run
from arena.records.voids import VoidGame, append_void
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import PASS, parse_move, parse_tile
from tests.ratings.played import play_run
from tests.support.wording import messages

whole = row_decoder(WholeRow)


def test_the_least_of_many_p_values_is_adjusted():
    assert holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist() == pytest.approx(
        [0.03, 0.06, np.nan, 0.06], nan_ok=True
    )


@pytest.fixture(scope="module", params=[2, 3])
def run(request, tmp_path_factory):
    return play_run(
        tmp_path_factory.mktemp("run"),
        deals=12,
        players=request.param,
        names=("ann", "bob", "cy", "dee"),
    )


def test_times_are_those_of_the_journal(run):
    records = [json.loads(line) for line in (run / "games.jsonl").read_text().splitlines()]
    spent = Spent()
    for _, row in read_rows(run / "games.jsonl", whole):
        spent.add(row)
    for row in spent.times(["ann", "idle"]).to_dict("records"):
        seats = [
            (record, seat)
            for record in records
            for seat, bot in enumerate(record["bots"])
            if bot == row["bot"]
        ]
        assert row["games"] == len(seats)
        assert row["moves"] == sum(
            move != "pass"
            for record, seat in seats
            for at, move in enumerate(record["moves"])
            if at % len(record["bots"]) == seat
        )
        if seats:
            assert row["game_ms"] == pytest.approx(
                np.mean([record["think_ms"][seat] for record, seat in seats])
            )
            assert row["slowest_ms"] == max(record["slowest_ms"][seat] for record, seat in seats)
            assert row["slowest_game"] in {
                record["id"]
                for record, seat in seats
                if record["slowest_ms"][seat] == row["slowest_ms"]
            }
    assert sum(spent.times([])["moves"]) == sum(record["turns"] for record in records)


def last_mover(record):
    """Whose placement ended the game, by the rules."""
    state = State(
        built_in(record["board"]),
        len(record["bots"]),
        [parse_tile(record["deck"][at : at + 2]) for at in range(0, 144, 2)],
    )
    for move in record["moves"]:
        mover = state.mover
        state.play(PASS if move == "pass" else parse_move(state.board, move))
    return mover


def test_endings_are_those_of_the_games_played_again(run):
    records = [json.loads(line) for line in (run / "games.jsonl").read_text().splitlines()]
    [row] = analyse_run(run, read_run(run)).endings.to_dict("records")
    assert (row["board"], row["players"], row["games"]) == (
        "bird",
        len(records[0]["bots"]),
        len(records),
    )
    assert row["turns"] == np.median([record["turns"] for record in records])
    last = [record for record in records if record["end"] == "last pagoda"]
    assert row["last_pagoda"] == len(last) / len(records)
    assert row["last_pagoda"] + row["no_tiles"] + row["no_space"] + row["forfeit"] == pytest.approx(
        1
    )
    by_other = [record["left"][last_mover(record)] > 0 for record in last]
    assert row["by_other"] == (
        pytest.approx(np.mean(by_other)) if last else pytest.approx(np.nan, nan_ok=True)
    )


def test_machines_are_told_apart_by_name_and_speed(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    journal = tmp_path / "run" / "games.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    hosts = ["a @ 1200/s", "a @ 600/s", "b @ 1200/s", "here"]
    for number, record in enumerate(records):
        record["host"] = hosts[number % 4]
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    analysis = analyse_run(tmp_path / "run", read_run(tmp_path / "run"))
    table = analysis.machines.to_dict("records")
    assert [(row["host"], None if pd.isna(row["speed"]) else row["speed"]) for row in table] == [
        ("a", 1200),
        ("a", 600),
        ("b", 1200),
        ("here", None),
    ]
    assert [row["games"] for row in table] == [len(records[first::4]) for first in range(4)]
    times = [
        sum(map(sum, (record["think_ms"] for record in part)))
        for part in (records[first::4] for first in range(4))
    ]
    moves = [sum(record["turns"] for record in records[first::4]) for first in range(4)]
    assert [row["move_ms"] for row in table] == pytest.approx(
        [spent / turns for spent, turns in zip(times, moves, strict=True)]
    )
    assert "Where games were played" in analysis_text(analysis)
    note = (
        "b is 1.3 times as fast as a, so bots did not play under equal conditions; see 'arena"
        " analyse'"
    )
    assert note in run_tables(tmp_path / "run", read_run(tmp_path / "run")).notes
    assert not [line for line in run_tables(run, read_run(run)).notes if "times as fast" in line]
    info = json.loads((run / "run.json").read_text())
    info["config"]["in_process"] = True
    (tmp_path / "run" / "run.json").write_text(json.dumps(info))
    assert note not in run_tables(tmp_path / "run", read_run(tmp_path / "run")).notes
    assert "Where games were played" not in analysis_text(analyse_run(run, read_run(run)))


def test_an_analysis_tells_all_in_text_and_json(run):
    analysis = analyse_run(run, read_run(run), bot="ann")
    shown = analysis_object(analysis)
    assert list(shown) == [
        "games",
        "deals",
        "notes",
        "company",
        "seats",
        "met_again",
        "times",
        "endings",
        "machines",
        "opponents",
        "voids",
    ]
    assert shown["voids"] == []
    assert {row["opponent"] for row in shown["opponents"]} == {"bob", "cy", "dee"}
    text = analysis_text(analysis)
    for part in ("Seats", "How games end", "Time to think", "Opponents"):
        assert part in text
    assert "Opponents" not in analysis_text(analyse_run(run, read_run(run)))
    assert "Void games" not in text


def test_the_reasons_of_void_games_are_told_with_the_games_that_have_no_result_yet(run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    played, unplayed = (row.id for _, row in islice(read_rows(run / "games.jsonl", whole), 2))
    journal = folder / "games.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if f'"{unplayed}"' not in line))
    for attempt, (game, reason) in enumerate(
        [(played, "it ran\nout"), (played, "its worker died"), (unplayed, "its worker died")], 1
    ):
        _, names, deal, seating = game.split("/")
        void = VoidGame(
            v=1, id=game, board="bird", deal=int(deal), seating=int(seating),
            bots=names.split("+"), deck="", reason=reason, attempt=attempt, ended="",
        )  # fmt: skip
        append_void(folder, void)
    analysis = analyse_run(folder, read_run(folder))
    assert analysis_object(analysis)["voids"] == [
        {"reason": "its worker died", "attempts": 2, "games": 2, "unplayed": 1, "game": played},
        {"reason": "it ran\nout", "attempts": 1, "games": 1, "unplayed": 0, "game": played},
    ]
    text = analysis_text(analysis)
    assert (
        f"its worker died: 2 times in 2 games, first in {played}; not played since: 1 game" in text
    )
    assert f"it ran\\nout: 1 time in 1 game, first in {played}\n" in text
    without = analyse_run(folder, read_run(folder), without=[played.split("/")[1].split("+")[0]])
    assert len(without.voids) < len(analysis.voids)


def test_the_analysis_says_in_a_sentence_that_company_matters_and_json_has_the_figures(
    run, snapshot
):
    found = Company(3, "ann", "bob", "cy", 123.0, 50.0, -197.0, 81.0, 0.004)
    analysis = analyse_run(run, read_run(run))._replace(company=found)
    assert messages(analysis_text(analysis)) == snapshot
    assert analysis_object(analysis)["company"] == found._asdict()
    assert analysis_object(analysis._replace(company=None))["company"] is None


def test_a_bot_that_is_not_in_the_run_is_refused(run, refused):
    with refused(UserError):
        analyse_run(run, read_run(run), bot="zoe")


def test_a_run_without_games_has_an_empty_analysis(tmp_path):
    folder = play_run(tmp_path, deals=1)
    (folder / "games.jsonl").write_bytes(b"")
    analysis = analyse_run(folder, read_run(folder), bot="ann")
    assert (analysis.games, analysis.company) == (0, None)
    assert analysis_object(analysis)["endings"] == []
