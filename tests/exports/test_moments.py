"""The moments of a game: which moves are told, that what is said of them is true, and the headlines
for two to four players.
"""

import re
from itertools import islice

import msgspec
import pytest
from msgspec.structs import replace

from arena.exports.moments import headline, is_costly, moments_of, sources_text, title_of
from arena.match.chances import Sources
from arena.match.replay import positions
from arena.records.grades import Grade
from arena.records.record import FORFEIT, Fault
from arena.rules.notation import PASSED, move_text, parse_move, play_text
from tests.support.graded import BIRD, game_of

RECORD = game_of("greedy", "careful")
TABLE = game_of("greedy-8", "careful", "random")


def grade_at(turn, *, seat=0, cost=0.2, error=0.05, better=None, record=RECORD):
    """A grade of the move that was played at a turn; ``better`` is the number of a legal move."""
    state, text = next(
        (state, text)
        for state, text in positions(record, BIRD)
        if state.turns == turn and text != PASSED
    )
    legal = state.legal_moves()
    best = move_text(BIRD, legal[0 if better is None else better % len(legal)])
    return Grade(turn, seat, len(legal), text, best, cost, error, 0.3)


def moments(*grades, record=RECORD, seat=0):
    return moments_of(record, BIRD, seat, {grade.turn: grade for grade in grades})


def test_the_three_costliest_moves_of_the_player_are_told_in_the_order_of_the_game():
    grades = [grade_at(turn, cost=cost) for turn, cost in ((2, 0.1), (4, 0.3), (6, 0.2), (8, 0.4))]
    told = moments(*grades, grade_at(3, seat=1, cost=0.9))
    assert [moment.turn for moment in told] == [4, 6, 8]
    assert [moment.before - moment.after for moment in told] == pytest.approx([0.3, 0.2, 0.4])
    assert [RECORD.moves[moment.step] for moment in told] == [moment.played for moment in told]
    assert moments() == []


def test_a_move_that_cost_little_or_less_than_its_error_is_no_moment():
    assert is_costly(grade_at(2))
    assert not is_costly(grade_at(2, cost=0.049, error=0.01))
    assert not is_costly(grade_at(2, cost=0.2, error=0.21))
    assert moments(grade_at(2, cost=0.04), grade_at(4, cost=0.1, error=0.2)) == []


def all_moments(record, seat):
    """A moment for every move of a seat with each of several better moves."""
    players = len(record.bots)
    for step, text in enumerate(record.moves):
        if step % players != seat or text == PASSED:
            continue
        turn = sum(other != PASSED for other in record.moves[:step])
        for better in range(0, 60, 7):
            grade = grade_at(turn, seat=seat, better=better, record=record)
            yield from moments(grade, record=record, seat=seat)


@pytest.mark.parametrize(("record", "seat"), [(RECORD, 0), (RECORD, 1), (TABLE, 0), (TABLE, 2)])
def test_the_words_name_neither_squares_nor_rules_nor_the_better_move(record, seat):
    told = list(all_moments(record, seat))
    assert len({moment.title for moment in told}) >= 3
    for moment in told:
        words = f"{moment.title}. {moment.words}"
        assert not re.search(r"\b[a-m]\d|R\d\.\d|seat \d", words)
        assert words.count("  ") == 0
        assert moment.title[0].isupper()


def state_before(record, step):
    *_, (state, _) = islice(positions(record, BIRD), step + 1)
    return state


def taken_by(state, text, rival):
    """How many villages a reply in this state brings a rival, and how many the player loses."""
    after = state.copy()
    play_text(after, text)
    seats = (rival, 1 - rival)
    return [after.villages.count(seat) - state.villages.count(seat) for seat in seats]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_village_that_was_left_open_was_taken_and_the_better_move_prevents_that(seat):
    told = [moment for moment in all_moments(RECORD, seat) if "village open" in moment.title]
    for moment in told:
        reply = RECORD.moves[moment.step + 1]
        after = state_before(RECORD, moment.step)
        better = after.copy()
        play_text(after, moment.played)
        play_text(better, moment.better)
        taken = taken_by(after, reply, 1 - seat)
        assert taken == [1, -1] if "your village" in moment.title else taken[0] >= 1
        if better.is_legal(parse_move(BIRD, reply)):
            assert taken_by(better, reply, 1 - seat) != taken
    assert told or seat == 1


def test_a_tile_that_did_nothing_is_said_to_have_founded_nothing():
    told = [moment for moment in all_moments(RECORD, 0) if "founded nothing" in moment.title]
    for moment in told:
        before = state_before(RECORD, moment.step)
        after = before.copy()
        play_text(after, moment.played)
        assert after.left == before.left
    assert told


def with_result(record, ranks, left, end="last_pagoda"):
    return msgspec.structs.replace(record, ranks=ranks, left=left, end=end)


@pytest.mark.parametrize(
    ("ranks", "left", "count", "words"),
    [
        ([2, 1], [19, 0], 3, "careful won by 19 pagodas. Three moves made it so."),
        ([2, 1], [1, 0], 1, "careful won by 1 pagoda. One move made it so."),
        ([2, 1], [4, 0], 0, "careful won by 4 pagodas. No single move made it so."),
        ([1, 2], [0, 4], 2, "You won by 4 pagodas. Two moves could have cost it."),
        ([1, 2], [0, 4], 0, "You won by 4 pagodas. No move of yours cost much."),
        ([1, 1], [3, 3], 1, "You and careful share the win. One move made it so."),
        ([1, 2], [0, 4], None, "You won by 4 pagodas."),
    ],
)
def test_the_headline_says_who_won_by_how_much_and_how_many_moves_made_it_so(
    ranks, left, count, words
):
    assert headline(with_result(RECORD, ranks, left), 0, count) == words


@pytest.mark.parametrize(
    ("ranks", "left", "words", "title"),
    [
        (
            [3, 1, 2],
            [9, 0, 2],
            "careful won; you came last, 9 pagodas behind.",
            "You lost to careful by 9 pagodas",
        ),
        (
            [2, 1, 3],
            [5, 0, 9],
            "careful won; you came second, 5 pagodas behind.",
            "You lost to careful by 5 pagodas",
        ),
        (
            [3, 1, 1],
            [7, 2, 2],
            "careful and random share the win, 5 pagodas ahead of you.",
            "You lost to careful and random by 5 pagodas",
        ),
        (
            [1, 2, 3],
            [0, 2, 9],
            "You won by 2 pagodas.",
            "You won against careful and random by 2 pagodas",
        ),
        ([1, 1, 3], [2, 2, 5], "You and careful share the win.", "You shared the win with careful"),
    ],
)
def test_headlines_of_a_table_of_three(ranks, left, words, title):
    record = with_result(TABLE, ranks, left)
    assert headline(record, 0) == words
    assert title_of(record, 0) == title


def test_whoever_forfeited_has_lost_whatever_was_left(snapshot):
    gone = [Fault(1, 20, "exit", "")]
    duel = replace(with_result(RECORD, [1, 2], [9, 14], FORFEIT), faults=gone)
    assert title_of(duel, 0) == snapshot
    assert headline(duel, 0) == snapshot
    table = replace(with_result(TABLE, [1, 3, 2], [4, 1, 9]), faults=gone)
    assert title_of(table, 0) == snapshot
    # Nothing keeps a stranger's record from having no first rank.
    assert title_of(msgspec.structs.replace(table, ranks=[2, 3, 3]), 0) == snapshot
    assert headline(table, 0) == snapshot


def test_the_sources_of_the_result_are_a_sentence_of_rounded_shares(snapshot):
    assert sources_text(Sources(-0.37, -0.18, 0.06), ["human", "careful"], 0) == snapshot
    assert sources_text(Sources(-0.01, 0.32, -0.1), ["a", "human", "b"], 1) == snapshot
    # No mistake gains anything, whatever the estimates say.
    assert "your mistakes changed little" in sources_text(Sources(0.1, 0.3, 0.0), ["a", "b"], 0)
    assert sources_text(Sources(0.1, 0.3, 0.0), ["a", "b"], 0) == snapshot
