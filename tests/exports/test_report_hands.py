"""The luck of hands."""

import pandas as pd

from arena.exports.report.profiles import held_hands, outplayed, unlucky


def luck_of(*rows):
    """``rows`` are (hand, bot, share, expected); what is known of bot 0."""
    held = held_hands(pd.DataFrame(rows, columns=["hand", "bot", "share", "expected"]))
    return held[held["bot"] == 0]


LOST = [(7, 0, 0, 0.5), *((7, bot, 0, 0.5) for bot in (1, 2, 3))]
"""Nobody won with hand 7."""
WON = [(8, 0, 0, 0.5), (8, 1, 1, 0.5), (8, 2, 1, 0.6), (8, 3, 1, 0.2)]
"""Only bot 0 lost with hand 8."""


def test_a_hand_with_which_everybody_fell_short_was_unlucky():
    [held] = unlucky(luck_of(*LOST, *WON)).to_dict("records")
    assert (held["hand"], held["games"], held["share"], held["expected"]) == (7, 1, 0, 0.5)
    assert (held["other_games"], held["other_share"], held["other_expected"]) == (3, 0, 0.5)


def test_a_hand_with_which_only_others_did_well_was_played_badly():
    [held] = outplayed(luck_of(*LOST, *WON)).to_dict("records")
    assert (held["hand"], held["share"], held["other_share"]) == (8, 0, 1)


def test_what_two_others_did_tells_nothing_of_a_hand():
    assert luck_of(*LOST[:3]).empty


def test_the_unluckiest_hand_comes_first_and_no_more_than_three():
    mixed = [(9, 0, 0, 0.5), (9, 1, 0, 0.1), (9, 2, 0, 0.1), (9, 3, 0, 0.1)]
    more = [(hand, *row[1:]) for hand in (10, 11) for row in LOST]
    assert unlucky(luck_of(*mixed, *more, *LOST))["hand"].tolist() == [7, 10, 11]


def test_no_games_have_no_hands():
    assert unlucky(luck_of()).empty
