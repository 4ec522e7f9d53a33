"""Bots outside the rated group: who they are, what bounds say of them, and that they leave the
others alone.
"""

import numpy as np
import pytest
from scipy.special import expit

from arena.errors import UserError
from arena.exports.files import csv_text, standings_object
from arena.exports.text import overview_text
from arena.ratings.columns import file_names
from arena.ratings.likelihood import ELO
from arena.ratings.model import rate
from arena.ratings.tables import make_tables
from tests.ratings.synthetic import count_results, counts_of, duel, frame_of, standings_text

CORE = duel(12, 8) + duel(9, 11, names=("b", "c")) + duel(13, 7, names=("a", "c"))


def ratings_of(games, **settings):
    return rate(count_results(frame_of(games)), **settings)


def rows_of(games, prior=None, **settings):
    table = make_tables(counts_of(games), prior, **settings).standings
    return {row["bot"]: row for row in table.to_dict("records")}


def notes_of(games, prior=None):
    return make_tables(counts_of(games), prior).notes


def exact(deals, level=0.05):
    """The difference at which a bot would win every game of so many deals with this chance."""
    chance = level ** (1 / deals)
    return ELO * np.log(chance / (1 - chance))


def won_by(winner, loser, deals):
    return duel(deals, 0, names=(winner, loser))


def test_a_bot_that_lost_everything_moves_nobody_and_widens_no_bar():
    without = rows_of(CORE)
    for games in (
        CORE + won_by("a", "z", 20),
        CORE + won_by("a", "z", 20) + won_by("b", "z", 20) + won_by("c", "z", 5),
        CORE + won_by("z", "b", 20),
    ):
        beside = rows_of(games)
        for bot in "abc":
            for column in ("elo", "elo_low", "elo_high"):
                assert beside[bot][column] == without[bot][column]
        assert beside["z"]["mark"] in "<>"
        # Three sure bots beside an outsider have the ranks that they have alone, or one lower.
        shift = beside["z"]["mark"] == ">"
        assert beside["a"]["rank"] == without["a"]["rank"] + shift


def test_a_winless_bot_at_tables_of_three_says_nothing_about_the_others_beyond_their_own_order():
    """The seat of a bot that cannot win is as good as empty: the two others play for the win."""
    games = []
    for deal in range(30):
        for shift in range(3):
            seated = ["a", "b", "z"][shift:] + ["a", "b", "z"][:shift]
            winner = "a" if (deal + shift) % 3 else "b"
            games.append((deal, seated, [float(bot == winner) for bot in seated]))
    pairs = [
        (
            deal,
            [bot for bot in seated if bot != "z"],
            [share for bot, share in zip(seated, shares, strict=True) if bot != "z"],
        )
        for deal, seated, shares in games
    ]
    [beside] = ratings_of(games, seats=False).fits
    [alone] = ratings_of(pairs, seats=False).fits
    assert beside.elo.tolist() == alone.elo.tolist()
    assert beside.covariance.tolist() == alone.covariance.tolist()
    assert beside.games == 90
    [with_seats] = ratings_of(games).fits
    assert list(with_seats.seats) == [3]
    assert with_seats.seats[3][0].shape == (3,)


@pytest.mark.parametrize("deals", [1, 5, 20, 300])
def test_two_bots_of_which_one_won_everything_get_the_exact_bound(deals):
    rows = rows_of(duel(deals, 0))
    assert (rows["a"]["mark"], rows["b"]["mark"]) == (">", "<")
    assert rows["a"]["elo"] - rows["b"]["elo"] == pytest.approx(exact(deals))
    assert rows["a"]["elo"] == pytest.approx(-rows["b"]["elo"])
    assert rows["a"]["elo_low"] == rows["a"]["elo"]
    assert np.isnan(rows["a"]["elo_high"])
    assert np.isnan(rows["b"]["elo_low"])
    assert rows["b"]["elo_high"] == rows["b"]["elo"]
    pair = make_tables(counts_of(duel(deals, 0))).pairs.set_index("bot")
    assert pair.loc["a", "elo_diff"] == pytest.approx(exact(deals))
    assert pair.loc["b", ["mark", "elo_high"]].tolist() == ["<", pytest.approx(-exact(deals))]
    told = f"above {exact(deals):.0f} Elo"
    assert any(
        note.startswith("a lost nothing to b") and told in note for note in notes_of(duel(deals, 0))
    )


def test_a_bound_against_one_bot_of_the_core_is_the_exact_one_where_its_rating_is_certain():
    """Against a, the bound on the difference is that of a duel: no error of a's rating enters."""
    tables = make_tables(counts_of(CORE + won_by("a", "z", 20)))
    pairs = tables.pairs.set_index(["bot", "opponent"])
    assert pairs.loc[("z", "a"), "elo_diff"] == pytest.approx(-exact(20))
    assert pairs.loc[("a", "z"), "elo_low"] == pytest.approx(exact(20))
    assert np.isnan(pairs.loc[("z", "a"), ["elo_low", "los"]].astype(float)).all()
    rows = {row["bot"]: row for row in tables.standings.to_dict("records")}
    # The distance to the mean has an error, so the bound on the rating is a little less strict.
    assert rows["a"]["elo"] - exact(20) < rows["z"]["elo"] < rows["a"]["elo_high"] - exact(20)


def test_bounds_upward_mirror_those_downward():
    below, above = rows_of(CORE + won_by("b", "z", 15)), rows_of(CORE + won_by("z", "b", 15))
    middle = below["b"]["elo"]
    assert above["z"]["elo"] - middle == pytest.approx(middle - below["z"]["elo"], abs=1e-6)


def test_more_deals_and_weaker_opponents_bring_a_bound_down_and_stronger_ones_do_not_lift_it():
    few, more = (rows_of(CORE + won_by("b", "z", deals))["z"]["elo"] for deals in (10, 40))
    assert more < few
    both = rows_of(CORE + won_by("b", "z", 10) + won_by("a", "z", 10))["z"]["elo"]
    assert both == pytest.approx(few, abs=1e-6)


def test_games_on_one_deal_count_as_one_chance():
    many = [(deal, seated, shares) for deal, seated, shares in won_by("a", "z", 10)] * 5
    once = rows_of(CORE + won_by("a", "z", 10))["z"]
    assert rows_of(CORE + many)["z"]["elo"] == pytest.approx(once["elo"])
    assert once["deals"] == 10


def test_who_lost_to_the_core_and_won_from_other_outsiders_is_bounded_by_the_core_alone():
    games = CORE + won_by("b", "z", 15) + won_by("z", "y", 15) + won_by("b", "y", 15)
    rows = rows_of(games)
    assert rows["z"]["elo"] == rows_of(CORE + won_by("b", "z", 15))["z"]["elo"]
    assert rows["y"]["mark"] == "<"
    assert np.isnan(
        make_tables(counts_of(games))
        .pairs.set_index(["bot", "opponent"])
        .loc[("z", "y"), "elo_diff"]
    )


def test_who_never_met_the_core_has_no_bound_and_that_is_told():
    games = CORE + won_by("b", "z", 15) + won_by("z", "y", 15)
    rows = rows_of(games)
    assert rows["y"]["mark"] == "~"
    assert np.isnan([rows["y"][name] for name in ("elo", "elo_low", "elo_high")]).all()
    assert (rows["y"]["rank_low"], rows["y"]["rank_high"]) == (1, 5)
    note = "no rating for y: no game against the rated bots that one of the two won"
    assert note in notes_of(games)
    assert f"note: {note}" in overview_text(make_tables(counts_of(games)))


def test_of_several_cores_the_largest_is_rated_then_the_one_with_most_games_then_by_name():
    pair = duel(6, 6, names=("y", "z"))
    assert ratings_of(CORE + pair + won_by("a", "y", 9)).fits[0].members.tolist() == [0, 1, 2]
    two = duel(6, 6) + won_by("a", "y", 12)
    assert ratings_of(two + pair).fits[0].members.tolist() == [0, 1]
    assert ratings_of(two + duel(9, 9, names=("y", "z"))).fits[0].members.tolist() == [2, 3]
    rows = rows_of(two + pair)
    assert (rows["y"]["mark"], rows["z"]["mark"]) == ("<", "~")


def test_a_bot_between_two_cores_is_bounded_by_the_rated_one():
    games = CORE + won_by("c", "m", 15) + won_by("m", "x", 15) + duel(6, 6, names=("x", "y"))
    rows = rows_of(games)
    assert [rows[bot]["mark"] for bot in "abcmxy"] == ["", "", "", "<", "~", "~"]


CHAIN = won_by("a", "b", 9) + won_by("b", "c", 9) + won_by("a", "c", 9)


def test_a_chain_without_a_core_is_bounded_from_the_bot_in_its_middle(snapshot):
    assert ratings_of(CHAIN).fits == []
    rows = rows_of(CHAIN)
    assert [rows[bot]["rank"] for bot in "abc"] == [1, 2, 3]
    assert [rows[bot]["mark"] for bot in "ac"] == [">", "<"]
    assert rows["b"]["elo"] == rows["b"]["elo_low"] == rows["b"]["elo_high"] == 0
    assert rows["a"]["elo"] == pytest.approx(exact(9)) == -rows["c"]["elo"]
    assert [(row["rank_low"], row["rank_high"]) for row in rows.values()] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]
    notes = notes_of(CHAIN)
    assert notes == snapshot
    assert all(np.isfinite(row["elo"]) for row in rows_of(CHAIN, 1.0).values())


def test_without_a_core_the_bot_in_the_middle_can_be_the_anchor_and_others_move_with_it(refused):
    rows = rows_of(CHAIN, anchors={"b": 1500})
    assert rows["b"]["elo"] == 1500
    assert rows["a"]["elo"] == pytest.approx(1500 + exact(9))
    with refused(UserError):
        rows_of(CHAIN, anchors={"a": 1500})


def test_without_a_core_the_bot_that_met_most_others_is_held_and_who_never_met_it_has_no_bound():
    rows = rows_of(won_by("a", "b", 9) + won_by("b", "c", 9) + won_by("b", "d", 9))
    assert (rows["b"]["elo"], rows["b"]["mark"]) == (0, "?")
    games = won_by("a", "b", 9) + won_by("b", "c", 9) + won_by("c", "d", 9) + won_by("c", "e", 9)
    assert {bot: row["mark"] for bot, row in rows_of(games).items() if bot in "ade"} == {
        "a": "~", "d": "<", "e": "<",
    }  # fmt: skip


def test_where_nobody_is_the_middle_nobody_has_a_rating_and_a_sentence_says_so(snapshot):
    games = [*won_by("a", "b", 9), *won_by("a", "c", 9), *won_by("d", "b", 9), *won_by("d", "c", 9)]
    assert {row["mark"] for row in rows_of(games).values()} == {"~"}
    notes = notes_of(games)
    assert notes[0] == snapshot
    assert f"note: {notes[0]}" in overview_text(make_tables(counts_of(games)))


BELOW = CORE + won_by("a", "y", 20) + won_by("a", "z", 20)
"""Two bots that the rated group bounds alike."""


def order_of(games):
    tables = make_tables(counts_of(games))
    ranks = {str(row.bot): int(row.rank) for row in tables.standings.itertuples()}
    return ranks, [said for said in tables.sentences if " beat " in said]


def test_of_two_bots_below_the_core_the_one_that_beat_the_other_ranks_above_it(snapshot):
    assert order_of(BELOW) == ({"a": 1, "c": 2, "b": 3, "y": 4, "z": 4}, [])
    for above, below in ("yz", "zy"):
        ranks, said = order_of(BELOW + won_by(above, below, 10))
        assert (ranks[above], ranks[below]) == (4, 5)
        assert said == snapshot
    rows = rows_of(BELOW + won_by("y", "z", 10))
    # How sure that is the bounds do not say.
    assert all((rows[bot]["rank_low"], rows[bot]["rank_high"]) == (4, 5) for bot in "yz")
    assert rows["y"]["elo"] == rows["z"]["elo"]


def test_who_beat_whom_counts_more_than_whose_bound_is_lower(snapshot):
    """A bound is lower after more deals, which says nothing of the bot."""
    ranks, said = order_of(BELOW + won_by("b", "y", 40) + won_by("y", "z", 10))
    assert (ranks["y"], ranks["z"]) == (4, 5)
    assert said == snapshot


def test_a_bot_that_beat_another_most_of_the_time_ranks_above_it_too_and_equal_ones_share_a_rank(
    snapshot,
):
    ranks, said = order_of(BELOW + duel(2, 11, names=("y", "z")))
    assert (ranks["y"], ranks["z"]) == (5, 4)
    assert said == snapshot
    assert order_of(BELOW + duel(5, 5, names=("y", "z"))) == order_of(BELOW)


def test_above_the_core_and_at_tables_where_others_won_it_is_the_same(snapshot):
    games = CORE + won_by("g", "a", 20) + won_by("h", "a", 20) + won_by("h", "g", 10)
    ranks, said = order_of(games)
    assert ranks == {"h": 1, "g": 2, "a": 3, "c": 4, "b": 5}
    assert said == snapshot
    # At a table of three, a wins, and y ranks above z.
    ranked = [(50 + deal, ["z", "a", "y"], [0, 1, 0.5]) for deal in range(9)]
    ranks, said = order_of(BELOW + ranked)
    assert (ranks["y"], ranks["z"]) == (4, 5)
    assert said == snapshot


def test_who_never_met_the_core_stands_where_those_it_met_leave_it(snapshot):
    ranks, said = order_of(CORE + won_by("b", "z", 15) + won_by("z", "y", 15) + won_by("x", "z", 9))
    assert [ranks[bot] for bot in "xzy"] == [4, 5, 6]
    assert said == snapshot


def test_without_any_rating_bots_still_stand_in_the_order_in_which_they_beat_each_other(snapshot):
    ranks, said = order_of(
        [game for one, other in ("ab", "ac", "db", "dc") for game in won_by(one, other, 9)]
    )
    assert ranks == {"a": 1, "d": 1, "b": 3, "c": 3}
    assert said == snapshot


def test_one_deal_gives_no_bound_against_the_core():
    games = [(0, seated, shares) for seated in ("ab", "ba") for shares in ((1, 0), (0, 1))]
    games += [(0, "az", (1, 0)), (0, "za", (0, 1))]
    assert rows_of(games)["z"]["mark"] == "~"
    assert any("no bound either" in note for note in notes_of(games))


def test_below_the_core_ranks_what_has_a_bound_and_the_ranges_admit_what_is_open():
    rows = rows_of(CORE + won_by("a", "z", 20) + won_by("h", "a", 20))
    assert [rows[bot]["rank"] for bot in "hz"] == [1, 5]
    assert rows["h"]["rank_high"] == rows["z"]["rank_low"] - 3 or rows["h"]["rank_high"] < 5
    loose = rows_of(CORE + won_by("a", "z", 2))
    assert (loose["z"]["rank_low"], loose["z"]["rank_high"]) == (1, 4)
    assert all(loose[bot]["rank_high"] == 4 for bot in "bc")


def test_the_csv_the_json_and_the_text_say_the_same_of_a_bound():
    tables = make_tables(counts_of(CORE + won_by("a", "z", 20)))
    lines = csv_text(tables.standings, file_names("standings")).splitlines()
    assert lines[0].endswith(",think_ms,mark,rank_low,rank_high,deals")
    cells = dict(zip(lines[0].split(","), lines[4].split(","), strict=True))
    assert (cells["bot"], cells["mark"], cells["elo_low"]) == ("z", "<", "")
    assert cells["elo"] == cells["elo_high"]
    assert (cells["rank_low"], cells["rank_high"], cells["deals"]) == ("4", "4", "20")
    entry = standings_object(tables, pairs=False)["standings"][3]
    assert (entry["mark"], entry["elo_low"], entry["elo"]) == ("<", None, None)
    assert (entry["bound"], entry["elo_high"]) == (True, float(cells["elo"]))
    assert f" < {float(cells['elo']):.0f} " in standings_text(tables).splitlines()[4]
    assert any(f"is below {float(cells['elo']):.0f}" in note for note in tables.notes)


def test_an_anchor_shifts_a_bound_and_only_a_rated_bot_can_be_one(refused):
    games = CORE + won_by("a", "z", 20)
    held = rows_of(games, anchors={"a": 1500})
    assert held["z"]["elo"] == pytest.approx(1500 - exact(20))
    with refused(UserError):
        rows_of(games, anchors={"z": 0})


def test_a_prior_rates_everybody_and_marks_who_has_a_rating_from_it_alone():
    rows = rows_of(CORE + won_by("a", "z", 20), 1.0)
    assert [rows[bot]["mark"] for bot in "abcz"] == ["", "", "", "~"]
    assert np.isfinite(rows["z"]["elo_low"])


def run_of(rng, newcomer, deals):
    """Results of three equal bots on a few deals, and of a newcomer that met one of them. One
    number decides all games of a pair on a deal.
    """
    games = []
    for deal in range(deals):
        for one, other, elo in (("a", "b", 0), ("b", "c", 0), ("a", "c", 0), ("a", "z", -newcomer)):
            wins = rng.random() < expit(elo / ELO)
            shares = (1, 0) if wins else (0, 1)
            games += [(deal, (one, other), shares), (deal, (other, one), shares[::-1])]
    return games


def test_bounds_are_wrong_in_five_of_a_hundred_runs_at_most():
    """In 150 runs; a bound is wrong if the newcomer, whose bad luck put it outside, is above."""
    rng, newcomer, wrong, bounded = np.random.default_rng(3), -150, 0, 0
    for _ in range(150):
        # The mean of the rated is 0, and so is the true one of a, b and c.
        for bound in ratings_of(run_of(rng, newcomer, 8)).bounds:
            bounded += bound.side == "<"
            wrong += bound.member == 3 and bound.side == "<" and bound.elo < newcomer
    assert bounded
    assert wrong / 150 < 0.085


def test_a_bot_with_next_to_no_deals_does_not_move_the_level_of_the_others():
    few = duel(1, 1, names=("a", "n"))
    beside, alone = rows_of(CORE + few), rows_of(CORE)
    assert np.isnan(beside["n"]["elo_low"])
    assert sum(beside[bot]["elo"] for bot in "abc") == pytest.approx(0, abs=1e-6)
    for bot in "abc":
        assert beside[bot]["elo"] == pytest.approx(alone[bot]["elo"], abs=2)


def test_the_bar_of_a_newcomer_is_said_to_be_rough():
    games = CORE + duel(3, 2, names=("a", "n"))
    assert rows_of(games)["n"]["mark"] == "?"
    told = "fewer than 10 deals tell of n (?): the error bars are rough"
    assert told in notes_of(games)
