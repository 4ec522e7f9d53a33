"""Pages looked at with the keys."""

import pytest

from arena.cli.stepper import moved, step_through


@pytest.mark.parametrize(
    ("at", "key", "then"),
    [
        (0, " ", 1), (0, "n", 1), (0, "\x1b[C", 1), (4, " ", 4), (2, "b", 1), (2, "\x1b[D", 1),
        (0, "b", 0),
        (3, "g", 0), (1, "G", 4), (2, "x", 2),
    ],
)  # fmt: skip
def test_a_key_moves(at, key, then):
    assert moved(at, key, 4) == then


@pytest.mark.parametrize("end", ["q", "\x1b", None])
def test_pages_are_shown_until_it_is_enough(capsys, end):
    keys = iter([" ", " ", "b", end])

    def read_key():
        key = next(keys)
        if key is None:
            raise EOFError
        return key

    step_through(["one", "two", "three"], read_key)
    shown = capsys.readouterr().out
    assert [page.splitlines()[0] for page in shown.split("\x1b[H\x1b[2J")[1:]] == [
        "one",
        "two",
        "three",
        "two",
    ]
    assert "3 of 3   space" in shown
