"""What bots expected against what they got, and where they spend their time."""

import math

import numpy as np
import pytest
from msgspec import convert
from msgspec.structs import replace

from arena.exports.analysis import analysis_object, analysis_text
from arena.ratings.analysis import analyse_run
from arena.ratings.calibration import Calibration
from arena.ratings.tally import WholeRow
from arena.ratings.tempo import Tempo
from tests.exports.runs import duels, write_run


def row(value, won, *, deal=0, ms=None, faults=(), moves=6, notes=None):
    """A duel of a, who says the same before each move, and b."""
    told = [{"turn": turn, "value": value} for turn in range(0, moves, 2)]
    return convert(
        {
            "id": f"bird/a+b/{deal}/0", "board": "bird", "deal": deal, "bots": ["a", "b"],
            "ranks": [1, 2] if won else [2, 1], "left": [0, 3], "think_ms": [1.0, 1.0],
            "faults": list(faults), "seating": 0, "end": "last pagoda", "turns": moves,
            "host": "here", "deck": "", "moves": ["Ra1Ra2"] * moves, "slowest_ms": [1.0, 1.0],
            "ms": ms, "notes": told if notes is None else notes,
        },
        WholeRow,
    )  # fmt: skip


def table_of(rows, **how):
    calibration = Calibration(**how)
    for one in rows:
        calibration.add(one)
    return calibration.table()


def test_expected_and_won_are_the_means_over_all_values():
    [found] = table_of([row(0.9, 1), row(0.5, 0, deal=1)]).to_dict("records")
    assert (found["bot"], found["notes"], found["deals"]) == ("a", 6, 2)
    assert (found["value"], found["won"], found["gap"]) == pytest.approx((0.7, 0.5, -0.2))
    assert found["brier"] == pytest.approx((0.1**2 + 0.5**2) / 2)
    assert found["brier_flat"] == pytest.approx(0.25)
    assert [(one["low"], one["notes"], one["won"]) for one in found["bins"]] == [
        (0.5, 3, 0.0),
        (0.9, 3, 1.0),
    ]


def test_a_value_of_one_is_in_the_last_bin_and_a_shared_win_counts_its_share():
    shared = row(1.0, 1)
    shared.ranks = (1, 1)
    [found] = table_of([shared]).to_dict("records")
    assert [(one["low"], one["won"]) for one in found["bins"]] == [(0.9, 0.5)]
    assert math.isnan(found["error"])


def test_games_with_a_forfeit_and_notes_without_a_value_do_not_count():
    fault = {"seat": 1, "turn": 3, "kind": "late", "detail": "x"}
    odd = [{"turn": 0, "text": "x"}, {"turn": 99, "value": 0.5}, {"value": 0.5}]
    assert table_of([row(0.5, 1, faults=[fault]), row(0.5, 1, notes=odd)]).empty


def test_the_error_is_that_of_deals_however_often_a_game_says_the_same():
    """The interval of an honest bot holds 0 about 19 times in 20, and does not
    shrink with the number of moves.
    """
    rng = np.random.default_rng(5)
    held = []
    for _ in range(200):
        chances = rng.uniform(0.1, 0.9, 30)
        rows = [
            row(float(chance), rng.random() < chance, deal=deal, moves=20)
            for deal, chance in enumerate(chances)
        ]
        [found] = table_of(rows).to_dict("records")
        held.append(abs(found["gap"]) <= found["error"])
    assert 0.90 <= np.mean(held) <= 0.99


def test_games_of_one_deal_are_one_cluster_unless_each_line_up_has_its_own():
    rows = [row(0.5, 1), row(0.5, 0)]
    assert table_of(rows)["deals"].tolist() == [1]
    rows[1].bots = ("a", "c")
    assert table_of(rows, own_decks=True)["deals"].tolist() == [2]


def test_tempo_is_by_third_of_a_bots_own_answers():
    tempo = Tempo(10)
    tempo.add(row(0.5, 1, ms=[1.0, 9.0, 2.0, None, 6.0, 8.0]))
    tempo.add(row(0.5, 1))  # an older record
    one, other = tempo.table().to_dict("records")
    assert [one[name] for name in ("early_ms", "middle_ms", "late_ms")] == [1.0, 2.0, 6.0]
    assert (one["answers"], one["median_ms"], one["p95_ms"]) == (3, 2.0, 6.0)
    assert (one["slowest_share"], one["near"]) == (0.6, 0.0)
    assert (other["answers"], other["near"], other["slowest_share"]) == (2, 0.5, 0.9)


def test_a_bot_comes_near_to_the_limit_that_its_own_name_sets():
    tempo, game = Tempo(1000), row(0.5, 1, ms=[1.0, 9.0, 2.0, None, 6.0, 8.0])
    game.bots = ("a", "b:c=2,move_ms=10")
    tempo.add(game)
    one, other = tempo.table().to_dict("records")
    assert (one["slowest_share"], other["slowest_share"], other["near"]) == (0.006, 0.9, 0.5)


def test_without_times_there_is_no_tempo_and_without_a_limit_nothing_is_near():
    tempo = Tempo(None)
    assert tempo.table().empty
    tempo.add(row(0.5, 1, ms=[0.0] * 6))
    assert tempo.table()["near"].isna().all()


def test_an_analysis_shows_both_in_text_and_json(tmp_path):
    games = [
        replace(
            game,
            notes=[{"turn": 0, "value": 0.5}] if game.bots[0] == "a" else None,
            ms=[None if move == "pass" else 1.5 for move in game.moves],
        )
        for game in duels("abc", 4)
    ]
    folder = write_run(tmp_path / "r", "abc", games, deals=4)
    analysis = analyse_run(folder)
    shown = analysis_object(analysis)
    assert [row["bot"] for row in shown["tempo"]] == ["a", "b", "c"]
    [said] = shown["calibration"]
    assert (said["bot"], said["notes"], said["deals"]) == ("a", 8, 4)
    assert [one["low"] for one in said["bins"]] == [0.5]
    text = analysis_text(analysis, "r")
    assert "Time of a move" in text
    assert "Expected and won" in text
    assert "By value" not in text
    assert "By value\n  Value" in analysis_text(analyse_run(folder, bot="a"), "r")
    assert "Expected and won" not in analysis_text(analyse_run(folder, bot="b"), "r")
