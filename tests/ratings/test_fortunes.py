"""The luck of hands."""

import numpy as np

from arena.ratings.fortunes import Fortunes

NAN = float("nan")


def luck_of(*rows):
    """``rows`` are (hand, bot, share, expected)."""
    hand, bot, share, expected = zip(*rows, strict=True)
    return Fortunes(
        np.array(hand), np.array(bot, np.int32), np.array(share, float), np.array(expected, float)
    )


LOST = [(7, 0, 0, 0.5), *((7, bot, 0, 0.5) for bot in (1, 2, 3))]
"""Nobody won with hand 7."""
WON = [(8, 0, 0, 0.5), (8, 1, 1, 0.5), (8, 2, 1, 0.6), (8, 3, 1, 0.2)]
"""Only bot 0 lost with hand 8."""


def test_a_hand_with_which_everybody_fell_short_was_unlucky():
    [held] = luck_of(*LOST, *WON).unlucky(0, 3)
    assert (held.games, held.share, held.expected) == (1, 0, 0.5)
    assert (held.other_games, held.other_share, held.other_expected) == (3, 0, 0.5)
    assert held.worst == 0


def test_a_hand_with_which_only_others_did_well_was_played_badly():
    [held] = luck_of(*LOST, *WON).outplayed(0, 3)
    assert (held.share, held.other_share) == (0, 1)
    assert (held.worst, held.best) == (4, 7)  # the win that was expected least


def test_what_two_others_did_tells_nothing_of_a_hand():
    assert luck_of(*LOST[:3]).unlucky(0, 3) == []


def test_a_game_of_a_bot_without_a_rating_does_not_count():
    rows = [*LOST, (7, 4, 1, NAN)]
    [held] = luck_of(*rows).unlucky(0, 3)
    assert held.other_games == 3
    assert luck_of(*rows).unlucky(4, 3) == []


def test_the_unluckiest_hand_comes_first_and_no_more_than_asked_for():
    mixed = [(9, 0, 0, 0.5), (9, 1, 0, 0.1), (9, 2, 0, 0.1), (9, 3, 0, 0.1)]
    both = luck_of(*mixed, *LOST)
    assert [held.worst for held in both.unlucky(0, 3)] == [4, 0]
    assert len(both.unlucky(0, 1)) == 1


def test_no_games_have_no_hands():
    empty = np.zeros(0, dtype=np.int64)
    assert Fortunes(empty, empty, np.zeros(0), np.zeros(0)).unlucky(0, 3) == []
