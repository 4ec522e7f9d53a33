"""The six lessons: their positions and goals, checked by the rules core."""

import re

import pytest

from arena.rules import State
from arena.rules.explain import every_rule
from arena.rules.notation import legal_move
from arena.rules.positions import parse_position, position_text
from arena.rules.terms import NOBODY
from arena.web import tutorial
from arena.web.tutorial import lesson_pictures, lesson_values, lessons
from tests.serve.serving import Served

KEYS = [lesson.key for lesson in lessons()]


@pytest.mark.parametrize("lesson", lessons(), ids=KEYS)
def test_a_lesson_has_a_right_move_and_wrong_ones_that_say_why(lesson):
    data = lesson_values(lesson.key)["data"]
    state = parse_position(lesson.position, State)
    assert position_text(state) == lesson.position
    assert all(legal_move(state, move) >= 0 for move in data["legal"])
    assert not set(data["legal"]) & set(data["barred"])
    right = data["after"] or [
        move
        for move, reason in data["barred"].items()
        if lesson.goal == data["reasons"][reason].rule
    ]
    assert 0 < len(right) < len(data["legal"]) + len(data["barred"])
    assert all(reason.rule in every_rule() for reason in data["reasons"])


@pytest.mark.parametrize("lesson", lessons(), ids=KEYS)
def test_a_lesson_speaks_of_the_other_player_in_good_english_and_of_no_rule_s_number(lesson):
    data = lesson_values(lesson.key)["data"]
    words = [line[2] for line in data["view"]["effects"]["lines"]]
    words += [reason.words for reason in data["reasons"]]
    words += [lesson.task, lesson.done, lesson.almost]
    for sentence in words:
        assert not re.search(r"they'|they [a-z]+s\b|from they|R\d\.\d|colour [RYB]\b", sentence)
        assert not re.search(r"\b[a-g][1-5]\b|\bspaces?\b", sentence)


def test_only_squares_from_the_start_have_a_white_ring():
    """A half of a tile has none, be it placed now or before."""
    for lesson in lessons():
        data = lesson_values(lesson.key)["data"]
        starts = [
            number
            for number, one in enumerate(data["elements"])
            if getattr(one, "part", "")[2:] == "s"
        ]
        for scene in data["after"].values():
            assert set(scene).intersection(starts) == set(data["scene"]).intersection(starts)


@pytest.mark.parametrize(
    ("key", "left"),
    [("found", [23, 24]), ("safe", [22, 24]), ("village", [22, 24]), ("swallow", [22, 24])],
)
def test_the_rules_core_does_what_the_lesson_says(key, left):
    lesson = next(one for one in lessons() if one.key == key)
    for move in lesson_values(key)["data"]["after"]:
        state = parse_position(lesson.position, State)
        state.play(legal_move(state, move))
        assert list(state.left) == left, move


def test_each_lesson_has_a_small_picture_of_its_right_move():
    pictures = lesson_pictures()
    assert list(pictures) == KEYS
    for key, picture in pictures.items():
        assert ("qlast" in picture) == (key != "barred")
        assert ('class="barred"' in picture) == (key == "barred")
        _, _, width, height = map(float, re.search(r'viewBox="([^"]*)"', picture)[1].split())
        assert 2 < width / height < 2.4


def test_the_conquered_village_changes_its_owner():
    lesson = next(one for one in lessons() if one.key == "conquer")
    state = parse_position(lesson.position, State)
    assert list(state.villages) == [1]
    state.play(legal_move(state, "Rd3Ye3"))
    assert list(state.villages) == [0]
    assert NOBODY not in state.villages


def test_every_lesson_has_a_page_also_on_a_public_server(tmp_path):
    server = Served(tmp_path, "--public", "127.0.0.1")
    try:
        for path in ("/learn", *(f"/learn/{key}" for key in KEYS)):
            status, _, text = server.ask(path)
            assert (status, "lesson-data" in text) == (200, True)
            assert [f'href="/learn/{key}"' in text for key in KEYS] == [True] * 6
        assert server.ask("/learn/nothing")[0] == 404
    finally:
        server.close()


def test_only_lessons_are_kept_in_memory():
    """Readers can ask for any lesson, also without a token."""
    for number in range(20):
        assert lesson_values(f"lesson-{number}") is None
    assert tutorial._values.cache_info().currsize <= len(lessons())
