"""Deals that bots met before: who remembers them is found, and nobody else is accused."""

import numpy as np
import pytest

from arena.exports.analysis import _met_again
from arena.ratings.analysis import reunions_table
from arena.ratings.tally import Match, Tally

LEVEL = 0.05
BOTS = ["a", "b", "c"]


def played(rng, deals, *, cheat=None, gain=0.0, seat_gain=0.1, luck=0.3, bots=BOTS, turned=True):
    """Games of all pairs: the first seat and the deal help, and ``cheat`` gains on deals it met."""
    games = Tally()
    for deal in range(deals):
        for one, bot in enumerate(bots):
            for other in bots[one + 1 :]:
                hand = rng.normal(0, luck)
                for turn in range(2):
                    seating = (turn + deal * turned) % 2
                    seated = (bot, other) if seating == 0 else (other, bot)
                    chance = (
                        0.5
                        + seat_gain
                        + hand
                        + (turn and gain * ((seated[0] == cheat) - (seated[1] == cheat)))
                    )
                    ranks = [1, 2] if rng.random() < chance else [2, 1]
                    games.add(Match("bird", deal, seated, ranks, [0, 0], [1.0, 1.0], []))
    return games


def test_a_bot_that_remembers_deals_is_found():
    table = reunions_table(
        played(np.random.default_rng(1), 200, cheat="b", gain=0.25), BOTS
    ).set_index("bot")
    assert table.loc["b", "p_all"] < 0.001
    assert table.loc["b", "gain"] == pytest.approx(0.25, abs=0.1)
    assert abs(table.loc["b", "gain"] - 0.25) < 2 * table.loc["b", "error"]
    [text] = _met_again(table.reset_index())
    assert text.splitlines()[2].split()[0] == "b"


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("seat_gain", [0.0, 0.2])
def test_honest_bots_are_accused_as_seldom_as_it_says(seat_gain, turned):
    rng = np.random.default_rng(2)
    accused = sum(
        bool(_met_again(reunions_table(played(rng, 30, seat_gain=seat_gain, turned=turned), BOTS)))
        for _ in range(100)
    )
    assert accused <= 100 * LEVEL + 3 * np.sqrt(100 * LEVEL * (1 - LEVEL))


def test_a_bot_that_is_better_in_one_seat_is_not_accused():
    """If the order of seatings never changes, two bots' seat and order are the same thing."""
    table = reunions_table(
        played(np.random.default_rng(3), 100, bots=["a", "b"], seat_gain=0.3, turned=False),
        ["a", "b"],
    )
    assert table["gain"].isna().all()
    assert _met_again(table) == []


def test_deals_that_are_met_once_tell_nothing():
    games = Tally()
    for deal in range(50):
        games.add(Match("bird", deal, ("a", "b"), [1, 2], [0, 0], [1.0, 1.0], []))
    table = reunions_table(games, ["a", "b"])
    assert table[["games", "deals"]].to_numpy().tolist() == [[0, 0], [0, 0]]
    assert table["p_all"].isna().all()


def test_a_few_deals_accuse_nobody():
    assert (
        reunions_table(played(np.random.default_rng(4), 9, cheat="a", gain=0.5, luck=0.0), BOTS)[
            "p"
        ]
        .isna()
        .all()
    )


def test_a_run_without_games_has_no_gains():
    assert reunions_table(Tally(), []).empty
