"""What stands behind standings: tests that reject as often as they say, circles that are there,
times and hands as the journal has them.
"""

import json
import shutil
from array import array

import numpy as np
import pandas as pd
import pytest

from arena.errors import UserError
from arena.exports.analysis import analysis_object, analysis_text
from arena.ratings.analysis import analyse_run
from arena.ratings.cycles import beats, cycles
from arena.ratings.goodness import goodness, holm
from arena.ratings.hands import Hands, worst_hands
from arena.ratings.model import rate
from arena.ratings.results import count_results
from arena.ratings.tables import run_tables
from arena.ratings.tally import Match, Tally, WholeRow, row_decoder
from arena.ratings.times import Times
from arena.records.journal import read_rows
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import PASS, parse_move, parse_tile
from tests.ratings.alarms import fit_alarms
from tests.ratings.coverage import repeat, world_of
from tests.ratings.synthetic import duel, frame_of
from tests.ratings.test_tables import play_run
from tests.ratings.worlds import play

TRIES = 100


def goodness_of(games, prior=None):
    results = count_results(frame_of(games))
    [fit] = rate(results, prior).fits
    return goodness(results, fit)


def circle(deals, chance, seed=1, names="abc"):
    """Each beats the next, and the last the first, with the same chance; seats swapped, luck
    shared.
    """
    rng = np.random.default_rng(seed)
    games = []
    for deal in range(deals):
        for one, other in zip(names, names[1:] + names[0], strict=True):
            lucky = rng.random()
            for seated in ((one, other), (other, one)):
                wins = (lucky if seated[0] == one else 1 - lucky) < chance
                games.append((deal, seated, (1, 0) if wins == (seated[0] == one) else (0, 1)))
    return games


@pytest.mark.parametrize(("players", "bots", "deals"), [(2, 4, 40), (3, 5, 60), (4, 5, 60)])
def test_where_the_model_is_right_it_is_rejected_one_time_in_twenty(players, bots, deals):
    """0.01 to 0.12 is what 100 tries allow."""
    (rejected, some_pair), _ = repeat(fit_alarms(world_of(players, bots, "seats"), deals), TRIES)
    assert 0.01 <= rejected <= 0.12
    assert some_pair <= 0.12


def test_the_test_of_the_fit_has_as_many_degrees_of_freedom_as_pairs_are_left_by_the_ratings():
    results = play(world_of(3, 5), 60, np.random.default_rng(3)).results()
    [fit] = rate(results).fits
    assert goodness(results, fit).freedom == 10 - 4


def test_a_circle_is_found_by_the_test_and_by_name():
    games = circle(100, 0.65)
    test = goodness_of(games)
    assert test.p < 1e-4
    assert test.pairs["p_all"].max() < 0.01
    assert sorted(test.pairs["lead"]) == pytest.approx([-0.3, 0.3, 0.3], abs=0.15)
    [row] = cycles(beats(count_results(frame_of(games)))).to_dict("records")
    assert [row["first"], row["second"], row["third"]] == ["a", "b", "c"]
    assert row["p"] < row["p_all"] < 0.01
    assert row["score_1"] > 0.5


def test_deals_that_hardly_outnumber_the_directions_test_nothing():
    """Ten directions, of which ten deals show nine: that F with 9 and 1 degrees of freedom rejected
    right ratings 15 times in 100.
    """
    games = circle(10, 0.5, names="abcdef") + circle(10, 0.5, 2, "aceb") + circle(10, 0.5, 3, "dfa")
    games += circle(10, 0.5, 4, "dbfc") + circle(10, 0.5, 5, "ebf") + circle(10, 0.5, 6, "ade")
    assert np.isnan(goodness_of(games).statistic)


def test_a_pair_is_tested_by_the_deals_on_which_it_met():
    """Two deals of many games test nothing, however many deals the others played."""
    games = circle(40, 0.5, names="abcd")
    often = [(deal, "ac", (1, 0)) for deal in range(2) for _ in range(20)]
    test = goodness_of(games + often + [(0, "ca", (1, 0))])
    tested = test.pairs.set_index(["bot", "opponent"])["t"].notna()
    assert not tested["a", "c"]
    assert tested["a", "b"]


def test_between_equals_a_circle_beyond_error_is_rare():
    found = [
        cycles(beats(count_results(frame_of(circle(40, 0.5, seed)))))["p_all"].lt(0.05).any()
        for seed in range(60)
    ]
    assert np.mean(found) <= 0.07


def test_where_one_is_clearly_better_there_is_no_circle():
    games = duel(70, 30, names="ab") + duel(70, 30, names="bc") + duel(80, 20, names="ac")
    found = beats(count_results(frame_of(games)))
    assert cycles(found).empty
    assert found.score[0, 1] == pytest.approx(0.7)
    assert found.score[1, 0] == pytest.approx(0.3)
    assert found.p[0, 1] < 0.001
    assert found.p[1, 0] > 0.999


def test_deals_that_all_went_one_way_are_as_likely_as_a_coin():
    found = beats(count_results(frame_of(duel(5, 0))))
    assert found.p.tolist()[0][1] == 0.5**5
    assert beats(count_results(frame_of(duel(0, 0, 5)))).p[0, 1] == 0.5
    assert np.isnan(beats(count_results(frame_of(duel(1, 0)))).p[0, 1])


def test_what_cannot_be_tested_is_not():
    assert np.isnan(goodness_of(duel(20, 10)).statistic)
    assert np.isnan(goodness_of(circle(3, 0.6)).statistic)
    assert goodness_of(duel(20, 0), 1.0).is_open
    lopsided = goodness_of(
        duel(199, 1, names="ab") + duel(60, 40, names="bc") + duel(99, 1, names="ac")
    )
    assert lopsided.pairs.set_index(["bot", "opponent"])["t"].isna().tolist().count(True) == 2


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
    times = Times()
    for _, row in read_rows(run / "games.jsonl", row_decoder(WholeRow)):
        times.add(row)
    for row in times.table(["ann", "idle"]).to_dict("records"):
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
    assert sum(times.table([])["moves"]) == sum(record["turns"] for record in records)


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
    [row] = analyse_run(run).endings.to_dict("records")
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
    analysis = analyse_run(tmp_path / "run")
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
    assert "Where games were played" in analysis_text(analysis, "r")
    note = (
        "b is 1.3 times as fast as a, so bots did not play under equal conditions; see 'arena"
        " analyse'"
    )
    assert note in run_tables(tmp_path / "run").notes
    assert not [line for line in run_tables(run).notes if "times as fast" in line]
    info = json.loads((run / "run.json").read_text())
    info["config"]["in_process"] = True
    (tmp_path / "run" / "run.json").write_text(json.dumps(info))
    assert note not in run_tables(tmp_path / "run").notes
    assert "Where games were played" not in analysis_text(analyse_run(run), "r")


def test_a_hand_is_compared_with_the_same_one_in_the_same_seat():
    """On deal 7 c loses with the first seat's tiles against b, a wins with them."""
    games = [
        (deal, seated, (0.5, 0.5)) for deal in range(12) for seated in ("ab", "ba", "cb", "bc")
    ]
    games = [
        (*game[:2], {"cb": (0, 1), "ab": (1, 0)}.get(game[1], game[2])) if game[0] == 7 else game
        for game in games
    ]
    tally = Tally()
    for deal, seated, got in games:
        tally.add(
            Match(
                "x",
                deal,
                tuple(seated),
                [1 + (share == 0) for share in got],
                [3, 3],
                [0.0, 0.0],
                [],
            )
        )
    counts = tally.counts()
    held = Hands(tally, array("b", [3] * 2 * len(games)), counts.results.bots, rate(counts.results))
    ids = [
        f"x/{'+'.join(sorted(seated))}/{deal}/{'ab' in seated or 'cb' in seated:d}"
        for deal, seated, _ in games
    ]
    [row] = worst_hands(held.candidates("c", 1), ids, "c", 1).to_dict("records")
    assert worst_hands(held.candidates("c", 50), ids, "c", 1).to_dict("records") == [row]
    assert (row["game"], row["other_game"]) == ("x/b+c/7/1", "x/a+b/7/1")
    assert (row["seats"], row["seat"], row["games"], row["other_games"]) == (2, 0, 1, 3)
    assert (row["share"], row["other_share"]) == (0, pytest.approx(2 / 3))
    assert row["swing"] == pytest.approx((2 / 3 - row["other_expected"]) - (0 - row["expected"]))
    assert worst_hands(held.candidates("c", 3), ids, "nobody", 3).empty


def test_an_analysis_tells_all_in_text_and_json(run):
    analysis = analyse_run(run, bot="ann", hands=2)
    shown = analysis_object(analysis)
    assert list(shown) == [
        "games",
        "deals",
        "notes",
        "fit",
        "company",
        "cycles",
        "seats",
        "met_again",
        "times",
        "tempo",
        "calibration",
        "endings",
        "machines",
        "voids",
        "opponents",
        "hands",
    ]
    assert {row["opponent"] for row in shown["opponents"]} == {"bob", "cy", "dee"}
    assert [row["bot"] for row in shown["hands"]] == ["ann", "ann"]
    text = analysis_text(analysis, "my run")
    for part in (
        "Does one rating",
        "Circles of three",
        "Seats",
        "How games end",
        "Time to think",
        "Opponents",
        "arena replay 'my run' bird/",
    ):
        assert part in text
    everybody = analyse_run(run)
    assert sorted(everybody.hands["bot"]) == ["ann", "bob", "cy", "dee"]
    assert "Opponents" not in analysis_text(everybody, "r")
    ids = {json.loads(line)["id"] for line in (run / "games.jsonl").read_text().splitlines()}
    assert set(everybody.hands["game"]) | set(everybody.hands["other_game"]) <= ids


def test_a_bot_that_is_not_in_the_run_is_refused(run):
    with pytest.raises(UserError, match="expected a bot of the run, got 'zoe'") as caught:
        analyse_run(run, bot="zoe")
    assert caught.value.hint == "there are ann, bob, cy, dee"


def test_a_run_without_games_has_an_empty_analysis(tmp_path):
    folder = play_run(tmp_path, deals=1)
    (folder / "games.jsonl").write_bytes(b"")
    analysis = analyse_run(folder, bot="ann")
    assert (analysis.games, analysis.fits) == (0, [])
    assert isinstance(analysis.hands, pd.DataFrame)
    assert "none, because no two bots held the same hand" in analysis_text(analysis, "r")
    assert analysis_object(analysis)["hands"] == []
