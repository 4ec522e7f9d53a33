"""What games say about Qin: the counts are those of the journal, planted effects are found with the
right error, and where there is none, none is found.
"""

import json
import shutil
from collections import Counter

import numpy as np
import pytest

from arena.exports.qin import CONTENT, qin_object, qin_text
from arena.ratings.deeds import EVENTS, GameGroup
from arena.ratings.openings import FEWEST, kinds_table, openings_table
from arena.ratings.qin import analyse_qin
from arena.ratings.slopes import slopes
from arena.ratings.worth import doubles_table, events_table, holdings_table, luck_table
from arena.records.record import shares
from arena.rules.boards import built_in
from arena.rules.game import PASS, new_game, play_text
from arena.rules.notation import parse_move
from tests.ratings.test_tables import play_run

TRIES = 200


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return play_run(tmp_path_factory.mktemp("run"), deals=12, names=("ann", "bob", "cy"))


@pytest.fixture(scope="module")
def analysis(run):
    return analyse_qin(run)


@pytest.fixture(scope="module")
def records(run):
    return [json.loads(line) for line in (run / "games.jsonl").read_text().splitlines()]


def test_first_placements_are_those_of_the_journal(analysis, records):
    for row in analysis.openings.to_dict("records"):
        began = [record for record in records if record["moves"][0] == row["opening"]]
        assert row["games"] == len(began)
        assert row["deals"] == len({record["deal"] for record in began})
        assert row["chosen"] == pytest.approx(len(began) / len(records))
        assert row["won"] == pytest.approx(
            np.mean([shares(record["ranks"])[0] for record in began])
        )
        assert row["games"] >= FEWEST or np.isnan(row["error"])
    assert analysis.kinds["games"].sum() == len(records)
    assert analysis.kinds["chosen"].sum() == pytest.approx(1)


def test_events_are_those_of_the_games_played_again(analysis, records):
    """A seat's share of the win counts it among the winners, and the rest among the others."""
    done, winners = Counter(), Counter()
    for record in records:
        share = shares(record["ranks"])
        state, events = new_game(built_in(record["board"]), len(share), record["deck"]), []
        for move in record["moves"]:
            play_text(state, move, events)
        for event in events:
            done[event.name] += 1
            winners[event.name] += share[event.seat]
    rows = analysis.events.set_index("event")
    assert rows["games"].tolist() == [len(records)] * len(EVENTS)
    for name in EVENTS:
        assert rows.loc[name, "winners"] == pytest.approx(winners[name] / len(records))
        assert rows.loc[name, "others"] == pytest.approx(
            (done[name] - winners[name]) / len(records)
        )


def test_doubles_among_the_first_tiles_are_those_of_the_decks(analysis, records):
    hands = [record["deck"][at : at + 6] for record in records for at in (0, 6)]
    doubles = [sum(hand[at] == hand[at + 1] for at in (0, 2, 4)) for hand in hands]
    found = analysis.doubles.set_index("doubles")["hands"].to_dict()
    assert found == {number: doubles.count(number) for number in sorted(set(doubles))}


def test_text_and_json_have_every_table(analysis):
    shown = qin_object(analysis)
    assert [name for name in shown if name in CONTENT] == list(CONTENT)
    assert len(shown["openings"]) == len(analysis.openings)
    text = qin_text(analysis)
    for title in ("Seats", "How games end", "First placements", "What one more is worth"):
        assert f"\n{title}\n" in f"\n{text}"
    assert "nan" not in text


def test_a_game_with_a_fault_counts_for_seats_alone(run, tmp_path, records):
    folder = shutil.copytree(run, tmp_path / "run")
    lines = (folder / "games.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    first["faults"] = [{"seat": 0, "turn": first["turns"], "kind": "timeout", "detail": "late"}]
    (folder / "games.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    found = analyse_qin(folder)
    assert found.seats["games"].sum() == 2 * len(lines)
    assert found.events["games"].unique().tolist() == [len(lines) - 1]
    note = "only seats and endings count the 1 games in which a bot committed a fault or has no"
    assert [line for line in found.notes if line.startswith(note)]


def test_a_run_without_games_has_empty_tables(tmp_path):
    folder = play_run(tmp_path, deals=1)
    (folder / "games.jsonl").write_bytes(b"")
    found = analyse_qin(folder)
    assert found.games == 0
    assert found.openings.empty
    assert qin_object(found)["holdings"] == []
    assert "First placements" in qin_text(found)


def drawn(rng, deals, each, effect, luck):
    """A column, what it brings on top of the luck of the deal and of its own, and the deals."""
    deal = np.repeat(np.arange(deals), each)
    column = rng.normal(size=deals)[deal] + rng.normal(size=deals * each)
    value = effect * column + luck * rng.normal(size=deals)[deal] + rng.normal(size=len(deal))
    return value, column[:, None], deal


@pytest.mark.parametrize(("deals", "each", "luck"), [(8, 4, 1.0), (40, 5, 0.5), (60, 1, 0.0)])
def test_intervals_hold_what_they_promise(deals, each, luck):
    """95 of 100, and 0.90 to 0.99 is what 200 tries allow."""
    rng = np.random.default_rng(deals)
    found = [slopes(*drawn(rng, deals, each, 0.3, luck)) for _ in range(TRIES)]
    inside = [abs(one.slope[0] - 0.3) <= one.error[0] for one in found]
    assert 0.90 <= np.mean(inside) <= 0.995


def test_without_an_effect_few_slopes_look_clear():
    rng = np.random.default_rng(7)
    clear = [slopes(*drawn(rng, 12, 6, 0.0, 0.7)).p[0] < 0.05 for _ in range(TRIES)]
    assert np.mean(clear) <= 0.1


def test_columns_that_go_together_are_told_apart():
    rng = np.random.default_rng(5)
    one = rng.normal(size=4000)
    other = one + 0.3 * rng.normal(size=4000)
    value = 2 * one - other + rng.normal(size=4000)
    found = slopes(value, np.stack([one, other], axis=1), np.arange(4000) // 4)
    assert found.slope == pytest.approx([2, -1], abs=0.2)
    assert (found.error < 0.25).all()


def test_too_few_deals_tell_nothing():
    value, column, deal = drawn(np.random.default_rng(1), 2, 50, 0.3, 0.0)
    assert np.isnan(slopes(value, column, deal).error[0])
    assert np.isnan(slopes(value, column, np.zeros_like(deal)).error[0])
    assert np.isnan(slopes(value, 0 * column, deal).slope[0])
    alone = np.zeros((100, 1))
    alone[:3] = 1.0
    assert np.isnan(slopes(value, alone, deal).error[0]), "a single deal tells of it"


def made_up(games=4000, seed=3):
    """Games of two in which a good opening is worth 0.1 of a win to the first seat, a village more
    after round 4 is worth 0.05 and a province nothing; on every deck two games.
    """
    rng = np.random.default_rng(seed)
    board, decks = built_in("bird"), np.arange(games) // 4
    good = rng.random(games) < 0.4
    held = rng.integers(0, 4, size=(games, 2, 3))
    lucky = rng.normal(size=games // 4)[decks] * 0.1
    ahead = held[:, 0, 2] - held[:, 1, 2]
    chance = 0.5 + 0.1 * (good - 0.4) + 0.05 * ahead + lucky
    first = (rng.random(games) < chance).astype(float)
    moves = [parse_move(board, text) for text in ("Rh9Ri9", "Bh5Bi5")]
    return GameGroup(
        board=board,
        players=2,
        deal=decks,
        deck=decks,
        share=np.stack([first, 1 - first], axis=1),
        expected=np.full((games, 2), 0.5),
        opening=1 - good.astype(int),
        openings=[(moves[0], (3,), 0), (moves[1], (2,), 0), (PASS, (), 0)],
        events=np.repeat(held[:, :, 2:], len(EVENTS), axis=2),
        doubles=rng.integers(0, 4, size=(games, 2)),
        standing={4: (np.arange(games), held), 8: (np.arange(50), held[:50])},
    )


def test_planted_effects_are_found_and_no_others():
    group = made_up()
    rows = openings_table([group]).set_index("opening")
    assert list(rows.index) == ["Bh5Bi5", "Rh9Ri9"], "the most frequent one first"
    better = rows.loc["Rh9Ri9"]
    assert abs(better["better"] - 0.1) < better["off"] < 0.05
    assert better["p_all"] < 0.001
    assert kinds_table([group])["province"].tolist() == ["2", "3"]
    [row] = holdings_table([group]).to_dict("records")
    assert (row["round"], row["games"]) == (4, 4000), "half of the games must reach a round"
    assert abs(row["village"] - 0.05) < row["village_error"] < 0.02
    assert abs(row["small"]) < row["small_error"] < 0.02
    gains = events_table([group])
    assert (abs(gains["gain"] - 0.05) < gains["error"]).all()
    doubles = doubles_table([group])
    assert doubles["hands"].sum() == 8000
    assert (abs(doubles["gain"]) < 1.5 * doubles["error"]).all()


def test_the_luck_of_the_tiles_is_what_games_with_one_deck_have_in_common():
    """Of a variance of 0.25, 0.01 is the tiles'."""
    [row] = luck_table([made_up(20_000)]).to_dict("records")
    assert abs(row["luck"] - 0.04) < row["error"] < 0.03
    alone = made_up(400)._replace(deck=np.arange(400))
    assert luck_table([alone])["luck"].isna().all()
