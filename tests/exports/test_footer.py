"""The lines below the standings: what they say, and that they are absent where they do not hold."""

import pytest

from arena.exports.footer import brief_lines, footer_lines, share_lines
from arena.ratings.tables import make_tables
from tests.ratings.synthetic import counts_of, duel


def table_of(games, **options):
    return make_tables(counts_of(games), **options)


def one_after_another(*parts):
    """The games of all these parts, each on deals of its own, numbered from 0."""
    games = []
    for part in parts:
        first = games[-1][0] + 1 if games else 0
        games += [(first + deal, bots, shares) for deal, bots, shares in part]
    return games


def won_by_the_first_seat(deals):
    """Two games of a and b with seats swapped on each deal, both won by the bot that sits first,
    but on every third deal by the other one.
    """
    games = []
    for deal in range(deals):
        shares = (0, 1) if deal % 3 == 0 else (1, 0)
        games += [(deal, ("a", "b"), shares), (deal, ("b", "a"), shares)]
    return games


def even_four(deals):
    """Games of four bots in all rotations of the seats; the one in the first seat mostly wins."""
    bots = ("a", "b", "c", "d")
    games = []
    for deal in range(deals):
        for turned in range(4):
            seats = bots[turned:] + bots[:turned]
            winner = (deal + turned) % 4 if deal % 5 == 0 else 0
            shares = tuple(float(seat == winner) for seat in range(4))
            games.append((deal, seats, shares))
    return games


def test_what_was_played_says_what_a_deal_is(snapshot):
    lines = brief_lines(table_of(duel(12, 8)))
    assert lines == snapshot
    uneven = table_of(one_after_another(duel(12, 8), [(0, ("a", "b"), (1, 0))]))
    assert brief_lines(uneven) == snapshot
    single = table_of([(deal, ("a", "b"), (deal % 2, 1 - deal % 2)) for deal in range(20)])
    assert brief_lines(single) == snapshot
    assert "20 games" in brief_lines(single._replace(unit="game"))
    assert "20 games, 20 blocks" in brief_lines(single._replace(unit="block"))


def test_the_seats_are_told_in_one_direction_with_two_and_with_four_players(snapshot):
    two_players = one_after_another(won_by_the_first_seat(20), duel(6, 4))
    (two,) = [line for line in brief_lines(table_of(two_players)) if "sitting" in line]
    assert two == snapshot
    (four,) = [line for line in footer_lines(table_of(even_four(20))) if "sitting" in line]
    assert four == snapshot
    for line in (two, four):
        assert line == snapshot
    assert "may be luck" not in four


def test_the_share_of_equal_bots_is_named_where_it_is_not_half(snapshot):
    assert [*share_lines(table_of(even_four(8)))] == snapshot
    assert not [*share_lines(table_of(duel(12, 8)))]


def test_shares_that_do_not_follow_the_ranks_are_explained_where_bots_met_unequal_opponents(
    snapshot,
):
    # c wins more of its games than b, but meets only the weakest bot.
    games = one_after_another(
        duel(14, 6, names=("a", "b")), duel(14, 6, names=("b", "d")), duel(11, 9, names=("c", "d"))
    )
    table = table_of(games).standings
    assert not table["win_rate"].is_monotonic_decreasing
    told = [*share_lines(table_of(games))]
    assert told[0] == snapshot
    # Where two groups never met, the ranks say nothing of who is stronger.
    apart = one_after_another(duel(12, 8, names=("a", "b")), duel(15, 5, names=("c", "d")))
    assert not [*share_lines(table_of(apart))]


@pytest.mark.parametrize(("won", "is_said"), [(10, True), (19, False)])
def test_whoever_leads_is_called_rated_too_high_only_if_others_may_be_the_best(
    won, is_said, snapshot
):
    games = one_after_another(
        duel(won, 20 - won, names=("a", "b")),
        duel(won, 20 - won, names=("a", "c")),
        duel(10, 10, names=("b", "c")),
    )
    tables = table_of(games)
    notes = [note for note in tables.notes if "probably rated too high" in note]
    assert bool(notes) == is_said
    if is_said:
        assert tables.standings["bot"].iloc[0] in notes[0]
        assert notes[0] == snapshot


def test_a_bot_is_called_rated_too_high_only_if_its_rating_is_not_given_and_by_bots_that_it_met():
    games = one_after_another(
        duel(10, 10, names=("a", "b")),
        duel(10, 10, names=("a", "c")),
        duel(10, 10, names=("b", "c")),
    )
    first = table_of(games).standings["bot"].iloc[0]
    assert not any("too high" in note for note in table_of(games, anchors={first: 1000.0}).notes)
    apart = one_after_another(duel(10, 10, names=("a", "b")), duel(10, 10, names=("c", "d")))
    assert not any("too high" in note for note in table_of(apart).notes)
