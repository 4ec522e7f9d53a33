"""review.jsonl: grades that are written are read again, and a stranger's file is checked."""

import msgspec
import pytest

from arena.errors import RunError
from arena.records import regular
from arena.records.grades import (
    REVIEW_FILE,
    Grade,
    Judge,
    ReviewedGame,
    line_of,
    newest_review,
    read_reviews,
    review_file,
    seen_by,
)
from arena.records.regular import FullError
from tests.exports.runs import game_of

RECORD = game_of(["a", "b"])
JUDGE = Judge("careful-4", 400, 0)


def graded(judge=JUDGE, seats=(0, 1)):
    placed = [(at % 2, text) for at, text in enumerate(RECORD.moves) if text != "pass"]
    grades = [
        Grade(turn, seat, 90, text, text, 0.0, 0.0, 0.5)
        for turn, (seat, text) in enumerate(placed)
        if seat in seats
    ]
    return ReviewedGame(1, RECORD.id, judge, 1, "1", list(seats), grades)


def write(run, *games):
    with review_file(run) as file:
        for game in games:
            file.append(line_of(game))


def test_what_is_written_is_read_again_by_judge(tmp_path):
    first, second, other = graded(seats=(0,)), graded(seats=(1,)), graded(Judge("random", 9, 4))
    write(tmp_path, first, other)
    write(tmp_path, second)
    assert read_reviews(tmp_path) == [first, other, second]
    seen = seen_by(read_reviews(tmp_path), JUDGE, 1)[RECORD.id]
    assert (seen.seats, len(seen.grades)) == ({0, 1}, RECORD.turns)
    assert seen_by(read_reviews(tmp_path), JUDGE, 2) == {}
    judge, grades = newest_review(read_reviews(tmp_path), RECORD, 1)
    assert (judge, len(grades)) == (JUDGE, RECORD.turns)


def test_a_run_without_a_review_has_none(tmp_path):
    assert read_reviews(tmp_path) == []
    assert newest_review([], RECORD, 1) is None


def test_a_torn_line_is_cut_and_graded_again(tmp_path):
    write(tmp_path, graded())
    whole = (tmp_path / REVIEW_FILE).read_bytes()
    (tmp_path / REVIEW_FILE).write_bytes(whole + whole[:99])
    assert read_reviews(tmp_path) == [graded()]
    write(tmp_path, graded(Judge("random", 9, 4)))
    assert len(read_reviews(tmp_path)) == 2


def test_two_reviews_at_once_do_not_mix(tmp_path, refused):
    with review_file(tmp_path), refused(RunError):
        review_file(tmp_path)


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch, refused):
    write(tmp_path, graded())

    def full(descriptor, data):
        written(descriptor, data[:50])
        raise OSError(28, "No space left on device")

    written = regular.os.write
    with review_file(tmp_path) as file:
        monkeypatch.setattr(regular.os, "write", full)
        with refused(FullError):
            file.append(line_of(graded(Judge("random", 9, 4))))
    monkeypatch.undo()
    assert read_reviews(tmp_path) == [graded()]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"v":1', '"v":2'),
        ('"cost":0.0', '"cost":7.0'),
        ('"win":0.5', '"win":-0.5'),
        ('"win":0.5', '"win":0.5,"more":1'),
        ('"played":"', '"played":"\\u001b[31m'),
        ('"seats":[0,1]', '"seats":[0]'),
        ('"turn":0', '"turn":40'),
        ('"deals":400', '"deals":1e99'),
        ("{", "[" * 5000),
    ],
)
def test_a_strangers_line_is_named(tmp_path, old, new, refused):
    write(tmp_path, graded())
    text = (tmp_path / REVIEW_FILE).read_text()
    assert old in text
    (tmp_path / REVIEW_FILE).write_text(text.replace(old, new, 1))
    with refused(RunError):
        read_reviews(tmp_path)


def test_grades_of_other_moves_are_refused(tmp_path, refused):
    game = graded()
    other = msgspec.structs.replace(game.grades[3], played="Ra1Ra2")
    game.grades[3] = other
    write(tmp_path, game)
    with refused(RunError):
        newest_review(read_reviews(tmp_path), RECORD, 1)
    late = msgspec.structs.replace(other, turn=71)
    write(tmp_path, ReviewedGame(1, RECORD.id, JUDGE, 1, "1", [other.seat], [late]))
    with refused(RunError):
        newest_review(read_reviews(tmp_path), RECORD, 1)


def test_a_link_in_its_place_is_not_followed(tmp_path, refused):
    (tmp_path / "own").write_text("mine\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / REVIEW_FILE).symlink_to(tmp_path / "own")
    for use in (read_reviews, review_file):
        with refused(RunError):
            use(run)
    assert (tmp_path / "own").read_text() == "mine\n"
