"""The tables of a run: what is counted, the table equals the CSV
equals what the journal implies.
"""

import io
import json
import random
import re
import sys
import tracemalloc
from collections import Counter

import msgspec
import numpy as np
import pandas as pd
import pytest
from msgspec.structs import replace

from arena.errors import RunError, UserError
from arena.exports import files as exported_games
from arena.exports.files import csv_of_games, csv_text, export_run
from arena.exports.text import overview_text, pairs_text, seats_text
from arena.ratings.columns import file_names
from arena.ratings.notes import MAX_NAMED, conditions_notes, forfeits_note
from arena.ratings.tables import make_tables, run_tables
from arena.ratings.tally import Row, Tally, row_decoder, score_journal
from arena.records.config import Comparison
from arena.records.record import shares
from arena.records.runfile import read_run
from arena.tournament.run import Run
from tests.exports.runs import game_of
from tests.exports.runs import write_run as write_made_up
from tests.ratings.played import PLAYERS, play_run
from tests.ratings.synthetic import counts_of, duel, standings_text
from tests.support.frames import data_of
from tests.support.wording import lines_with, without_figures


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return play_run(
        tmp_path_factory.mktemp("run"), deals=12, players=3, names=("ann", "bob", "cy", "dee")
    )


def counted(folder, bots=()):
    """The games in a folder, counted."""
    return score_journal(folder / "games.jsonl", ()).counted.counts(bots)


def games_csv(folder):
    return pd.read_csv(io.StringIO("".join(csv_of_games(Run(folder), 3))), na_filter=False)


def test_every_game_is_counted_with_its_deal_and_its_seats(run):
    results, deals, totals = counted(run, ["ann", "idle"])
    assert results.bots == ["ann", "bob", "cy", "dee", "idle"]
    assert (results.games, results.clusters, deals.tolist()) == (12 * 4 * 3, 12, list(range(12)))
    assert results.share.sum(axis=1).round(9).tolist() == [1] * len(results.times)
    assert totals.summed("seat")["games"].tolist() == [12 * 4 * 3] * 3
    assert not any(np.isnan(column).any() for column in totals.columns.values())


def test_a_game_costs_a_few_bytes(tmp_path):
    first, *_ = (play_run(tmp_path, deals=1) / "games.jsonl").read_bytes().splitlines()
    row, tally = row_decoder(Row)(first), Tally()
    tracemalloc.start()
    for deal in range(5000):
        row.deal = deal
        tally.add(row)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert tally.counts().results.games == 5000
    assert held < 5000 * 20


def test_the_table_is_sorted_and_intervals_surround_the_ratings(run):
    table = run_tables(run, read_run(run)).standings
    assert table["elo"].is_monotonic_decreasing
    assert table["rank"].tolist() == [1, 2, 3, 4]
    assert (table["elo_low"] < table["elo"]).all()
    assert (table["elo"] < table["elo_high"]).all()
    assert table["elo"].mean() == pytest.approx(0, abs=1e-9)
    assert np.isnan(table["los"].iloc[-1])
    assert table["los"].iloc[:-1].between(0.5, 1).all()


def test_a_pair_seen_from_both_sides_is_the_same(run):
    pairs = run_tables(run, read_run(run)).pairs.set_index(["bot", "opponent"])
    assert len(pairs) == 12
    for (one, other), row in pairs.iterrows():
        back = pairs.loc[(other, one)]
        assert (row["wins"], row["shared"], row["games"]) == (
            back["losses"],
            back["shared"],
            back["games"],
        )
        assert row["score"] + back["score"] == pytest.approx(1)
        assert row["elo_diff"] == pytest.approx(-back["elo_diff"])
        assert row["elo_low"] == pytest.approx(-back["elo_high"])
        assert row["los"] == pytest.approx(1 - back["los"])


def test_a_doubled_record_counts_once(run, tmp_path):
    data = (run / "games.jsonl").read_bytes()
    (tmp_path / "run.json").write_bytes((run / "run.json").read_bytes())
    (tmp_path / "games.jsonl").write_bytes(data + data[: data.index(b"\n") + 1])
    assert csv_text(run_tables(tmp_path, read_run(tmp_path)).standings) == csv_text(
        run_tables(run, read_run(run)).standings
    )


def test_the_footer_names_seats_games_and_deals(run, snapshot):
    text = standings_text(run_tables(run, read_run(run)))
    assert "144 games, 12 deals" in text
    footer = text.splitlines()[1 + len(PLAYERS) :]
    assert without_figures("\n".join(footer)) == snapshot
    assert "Seat" in seats_text(run_tables(run, read_run(run)).data["seats"].rows())
    assert "Opponent" in pairs_text(run_tables(run, read_run(run)).data["pairs"].rows())


def test_a_run_of_two_tells_the_first_seat(tmp_path, snapshot):
    run = play_run(tmp_path, deals=12)
    text = standings_text(run_tables(run, read_run(run)))
    line = lines_with(text, "first")
    assert re.search(r"[+-]\d", line)
    assert without_figures(line) == snapshot


def test_a_run_without_games_has_an_empty_table(tmp_path):
    folder = play_run(tmp_path, deals=1)
    (folder / "games.jsonl").write_bytes(b"")
    tables = run_tables(folder, read_run(folder))
    assert tables.standings["games"].tolist() == [0, 0, 0]
    assert tables.standings["rank"].tolist() == [1, 1, 1]
    assert tables.standings["elo"].isna().all()
    assert standings_text(tables).splitlines()[1].split()[:4] == ["1", "1-3", "ann", "-"]
    assert (
        csv_text(tables.standings, file_names("standings")).splitlines()[1]
        == "1,ann,,,,0,0,0,0,,,,0,,~,1,3,0"
    )


def test_few_deals_and_idle_bots_are_noted(snapshot):
    tables = make_tables(counts_of(duel(3, 1), bots=["idle"]))
    assert tables.notes == snapshot
    assert tables.standings["mark"].tolist() == ["?", "?", "~"]
    assert tables.standings["deals"].tolist() == [4, 4, 0]
    assert overview_text(tables) == snapshot


def test_the_short_table_says_which_bot_is_held_and_that_time_was_the_wall_clock(snapshot):
    tables = make_tables(counts_of([*duel(4, 0), *duel(4, 0, names=("b", "c"))]))
    tables = tables._replace(clock="wall")
    below = overview_text(tables)
    assert below == snapshot
    assert "CPU time" not in overview_text(tables._replace(clock="cpu"))


def test_at_most_ten_bots_that_are_one_program_are_named(tmp_path):
    names = [f"bot-{number:03}" for number in range(300)]
    write_made_up(tmp_path / "run", names, [])
    info = read_run(tmp_path / "run")
    same = replace(
        info, bots=[replace(bot, sha256=info.bots[0].sha256, options={}) for bot in info.bots]
    )
    [note] = conditions_notes(same, [])
    assert note.count("bot-") == MAX_NAMED - 1
    assert f"and {300 - MAX_NAMED + 1} more bots" in note


def test_groups_that_never_met_are_noted_and_stand_one_below_the_other(snapshot):
    tables = make_tables(
        counts_of(duel(12, 8) + duel(3, 7, names=("x", "y")) + duel(7, 9, names=("y", "z")))
    )
    assert tables.notes == snapshot
    assert tables.standings["bot"].tolist()[3:] == ["a", "b"]


def test_a_damaged_journal_is_named_with_its_line(tmp_path, refused):
    folder = play_run(tmp_path, deals=1)
    journal = folder / "games.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"deal":0', b'"deal":"zero"', 1))
    with refused(RunError):
        run_tables(folder, read_run(folder))


def test_a_record_whose_lists_do_not_fit_together_is_named_with_its_line(run, tmp_path, refused):
    first, rest = (run / "games.jsonl").read_text().split("\n", 1)
    record = json.loads(first)
    for changed in (
        {"ranks": [1]},
        {"ranks": [0, 1, 2]},
        {"faults": [{"seat": 3, "turn": 1, "kind": "late", "detail": ""}]},
    ):
        (tmp_path / "games.jsonl").write_text(json.dumps(record | changed) + "\n" + rest)
        with refused(RunError):
            counted(tmp_path)


def test_the_games_of_each_block_are_counted_by_its_name(run, tmp_path):
    blocks = score_journal(run / "games.jsonl", ()).games.blocks()
    ids = [json.loads(line)["id"] for line in (run / "games.jsonl").read_text().splitlines()]
    found = {
        f"{place}/{deal}": games
        for place, deals, counts in blocks
        for deal, games in zip(deals, counts, strict=True)
    }
    assert found == Counter(game_id.rpartition("/")[0] for game_id in ids)
    (tmp_path / "games.jsonl").write_bytes(b"")
    assert score_journal(tmp_path / "games.jsonl", ()).games.blocks() == []


def test_faults_are_counted_for_the_bots_that_forfeited(run, tmp_path):
    lines = [json.loads(line) for line in (run / "games.jsonl").read_text().splitlines()]
    for number, record in enumerate(lines[:5]):
        record["faults"] = [{"seat": number % 3, "turn": 1, "kind": "late", "detail": ""}]
    (tmp_path / "run.json").write_bytes((run / "run.json").read_bytes())
    (tmp_path / "games.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lines))
    tables = make_tables(counted(tmp_path))
    table = tables.faults.set_index("bot")
    lost = [lines[number]["bots"][number % 3] for number in range(5)]
    assert table["forfeits"].to_dict() == {bot: lost.count(bot) for bot in PLAYERS}
    most = max(lost.count(bot) for bot in PLAYERS)
    worst = [bot for bot in PLAYERS if lost.count(bot) == most]
    assert any(f"{bot} forfeited {most} of 108 " in tables.notes[-1] for bot in worst)
    assert [faults for faults in games_csv(tmp_path)["faults"] if faults] == [
        f"{number % 3}:late" for number in range(5)
    ]


def test_few_bots_with_forfeits_are_named_and_the_others_counted(snapshot):
    frame = pd.DataFrame(
        {"bot": list("abcde"), "rank": range(1, 6), "forfeits": [1, 0, 7, 7, 2], "games": 4000}
    )
    assert forfeits_note(data_of(frame), "games") == snapshot
    assert forfeits_note(data_of(frame[frame["forfeits"] == 0]), "games") == []


def test_the_table_of_a_comparison_says_why_its_elo_is_another_one(tmp_path, snapshot):
    info = read_run(play_run(tmp_path, deals=2))
    assert not any("comparison" in note for note in run_tables(tmp_path, info).notes)
    config = replace(info.config, compare=Comparison(new="ann", old="bob"))
    compared = replace(info, config=config)
    assert run_tables(tmp_path, compared).notes[-1] == snapshot


def test_boards_sizes_of_tables_and_bots_are_told_apart_whatever_the_order(tmp_path):
    """Beside an obvious count of the same games."""
    rng = random.Random(5)
    records = [
        game_of(
            rng.sample("abcde", rng.choice([2, 3, 4])),
            deal=deal,
            board=rng.choice(["bird", "lion"]),
        )
        for deal in range(80)
    ]
    first = tmp_path / "one"
    second = tmp_path / "other"
    write_made_up(first, "abcde", records)
    rng.shuffle(records)
    write_made_up(second, "abcde", records)
    one = run_tables(first, read_run(first))
    other = run_tables(second, read_run(second))
    for name in ("standings", "pairs", "seats", "faults", "covariance"):
        assert getattr(one, name).equals(getattr(other, name)), name
    assert one.most_seats == 4
    assert one.clusters == len({(record.board, record.deal) for record in records})
    for row in one.standings.to_dict("records"):
        games = [
            (record, record.bots.index(row["bot"]))
            for record in records
            if row["bot"] in record.bots
        ]
        assert row["games"] == len(games)
        assert row["avg_left"] == sum(record.left[seat] for record, seat in games) / len(games)
        assert row["think_ms"] == pytest.approx(
            sum(record.think_ms[seat] for record, seat in games) / len(games)
        )
        assert row["win_rate"] == pytest.approx(
            sum(shares(record.ranks)[seat] for record, seat in games) / len(games)
        )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_exported_games_are_those_of_the_journal(run, tmp_path, form):
    paths = export_run(Run(run), tmp_path, run_tables(run, read_run(run)), form)
    assert [path.name for path in paths] == [
        f"{name}.{form}" for name in ("standings", "pairs", "seats", "faults", "games")
    ]
    table = getattr(pd, f"read_{form}")(tmp_path / f"games.{form}")
    records = [json.loads(line) for line in (run / "games.jsonl").read_text().splitlines()]
    for row, record in zip(table.to_dict("records"), records, strict=True):
        assert [row[name] for name in ("id", "deal", "end", "turns")] == [
            record[name] for name in ("id", "deal", "end", "turns")
        ]
        by_seat = {"bot": record["bots"], "rank": record["ranks"], "share": shares(record["ranks"])}
        for name, wanted in (
            by_seat | {name: record[name] for name in ("left", "think_ms")}
        ).items():
            assert [row[f"{name}_{seat}"] for seat in range(3)] == wanted
        if form == "parquet":
            assert (row["deck"], list(row["moves"])) == (record["deck"], record["moves"])
    if form == "parquet":
        same = pd.read_parquet(tmp_path / "standings.parquet")
        assert same.to_csv(index=False) == csv_text(
            run_tables(run, read_run(run)).standings, file_names("standings")
        )
        kinds = table.dtypes.astype(str)
        assert [kinds[name] for name in ("deal", "rank_0", "left_2", "share_1", "think_ms_0")] == [
            "int32",
            "int8",
            "int8",
            *["float64"] * 2,
        ]


def test_parquet_has_times_and_notes_and_csv_has_neither(tmp_path):
    told = {"turn": 2, "value": 0.5, "text": "=cmd()", "depth": 3}
    silent = game_of("ab")
    times = [0.5] * len(silent.moves)
    noted = msgspec.structs.replace(game_of("ab", deal=1), notes=[told], ms=times)
    # as a stranger's journal may have them
    odd = [{"turn": 999, "value": 0.5}, {"text": "x" * 999}, {"turn": 1, "seat": 7, "n": 1}]
    strange = msgspec.structs.replace(game_of("ab", deal=2), notes=odd, ms=[None])
    folder = write_made_up(tmp_path / "r", "ab", [silent, noted, strange], deals=3)
    export_run(Run(folder), tmp_path, run_tables(folder, read_run(folder)), "parquet")
    rows = pd.read_parquet(tmp_path / "games.parquet").to_dict("records")
    assert [row["ms"] is None for row in rows] == [True, False, False]
    assert [row["notes"] is None for row in rows] == [True, False, False]
    assert list(rows[1]["ms"]) == times
    [note] = rows[1]["notes"]
    assert [note[name] for name in ("turn", "seat", "value", "text")] == [2, 0, 0.5, "=cmd()"]
    assert note["numbers"] == [("depth", 3.0)]
    [note] = rows[2]["notes"]
    assert (note["turn"], note["seat"], note["numbers"]) == (1, 1, [("n", 1.0)])
    assert "cmd" not in "".join(csv_of_games(Run(folder), 2))


def test_pieces_of_games_csv_make_the_whole(run, monkeypatch):
    whole = "".join(csv_of_games(Run(run), 3))
    monkeypatch.setattr(exported_games, "AT_ONCE", 7)
    pieces = list(csv_of_games(Run(run), 3))
    assert len(pieces) == 1 + -(-144 // 7)
    assert "".join(pieces) == whole
    assert pieces[0].startswith(
        "id,block,board,deal,seating,end,turns,bot_0,share_0,rank_0,left_0,think_ms_0,bot_1,"
    )


def test_seats_that_a_game_does_not_have_are_empty(tmp_path):
    write_made_up(tmp_path / "r", "abc", [game_of("ab"), game_of("abc", deal=1)])
    two, three = "".join(csv_of_games(Run(tmp_path / "r"), 3)).splitlines()[1:]
    assert two.endswith(",,,,,,")
    assert two.count(",") == three.count(",")


def test_without_pyarrow_parquet_is_an_error_with_the_cure(run, tmp_path, monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refused(UserError):
        export_run(Run(run), tmp_path, run_tables(run, read_run(run)), "parquet")
    assert list(tmp_path.iterdir()) == []
