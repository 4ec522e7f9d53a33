"""Ids are held exactly, in the room of a bit each where they are those of games."""

import random
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from arena.records.journal import Ids

PARTS = st.sampled_from(
    [
        "",
        "0",
        "00",
        "7",
        "07",
        "007",
        "10007",
        "9999999",
        "٣",
        "²",
        "a+b",
        "bird",
        "-1",
        " 1",
        "1_0",
    ]
)
NAMES = st.one_of(st.text(max_size=12), st.lists(PARTS, min_size=1, max_size=5).map("/".join))


@given(st.lists(NAMES, max_size=60), NAMES)
def test_they_are_a_set_of_whatever_text(names, other):
    ids, known = Ids(), set()
    for name in names:
        assert ids.add(name) == (name not in known)
        known.add(name)
    assert len(ids) == len(known)
    assert sorted(ids) == sorted(known)
    assert all(name in ids for name in known)
    assert (other in ids) == (other in known)


def test_ids_of_games_take_next_to_no_room():
    names = [
        f"bird/{pair}/{deal}/{seating}"
        for deal in range(2500)
        for pair in ("a+b", "a+c", "b+c", "c+d")
        for seating in (0, 1)
    ]
    random.Random(1).shuffle(names)
    tracemalloc.start()
    ids = Ids(names)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(ids) == len(names) == 20_000
    assert held < 20_000
