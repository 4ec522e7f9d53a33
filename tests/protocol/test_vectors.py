"""protocol/vectors/: the files are what their makers make, show every rule, and find out every
wrong reading of one.

``ARENA_GOLDEN=write pytest tests/protocol/test_vectors.py`` writes them anew, for when the rules
change. That both cores and the slow referee get the figures is tested in
tests/rules/test_vectors.py.
"""

import json
import os
import re

import msgspec
import pytest

from arena.errors import MoveError
from arena.players.views import position_view
from arena.rules import State, board_state, pure
from arena.rules.board_state import BoardState
from arena.rules.notation import move_text, parse_move
from arena.rules.positions import parse_position, position_text
from arena.rules.terms import NOBODY
from tests.protocol.dialogue import blocks
from tests.protocol.vectors import FOLDER, WRITERS, judged, lines, position_state, replayed, write
from tests.rules import test_rulebook_examples as examples
from tests.rules.positions import drawing, position, tidy

if os.environ.get("ARENA_GOLDEN") == "write":
    for file in WRITERS:
        write(file)
README = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_the_file_is_what_its_maker_makes(name):
    made = b"".join(msgspec.json.encode(line) + b"\n" for line in WRITERS[name]())
    assert (FOLDER / f"{name}.jsonl").read_bytes() == made


def test_a_position_in_text_is_the_position_of_its_line():
    for line in lines("positions"):
        known = ",".join("".join(hand) or "-" for hand in line["hands"])
        assert line["text"].split()[3:5] == [known, line["pile"] or "-"]
        if line["text"].split()[1] != "-":
            state = parse_position(line["text"], State)
            assert msgspec.to_builtins(position_view(state)) == line["position"]
            assert [move_text(state.board, move) for move in state.legal_moves()] == line["legal"]
    for game in lines("games"):
        for number, (text, seen) in enumerate(zip(game["texts"], game["seen"], strict=True)):
            state = parse_position(text, State)
            assert state.legal_count() == game["legal"][10 * number]
            assert position_text(state, state.mover) == seen


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_no_two_lines_have_one_name(name):
    names = [line["name"] for line in lines(name)]
    assert len(set(names)) == len(names)


def test_every_file_is_on_the_page_and_its_examples_are_in_the_files():
    assert {path.name for path in FOLDER.iterdir()} == {
        "README.md",
        *(f"{name}.jsonl" for name in WRITERS),
    }
    assert set(re.findall(r"^\| `(\w+)\.jsonl` \|", README, re.M)) == set(WRITERS)
    every = [line for name in WRITERS for line in lines(name)]
    shown = [json.loads(block) for _, block in blocks(README, "json")]
    assert len(shown) == 2
    assert all(line in every for line in shown)


def test_boards_seats_ends_and_passes_all_occur():
    perft, games, positions = lines("perft"), lines("games"), lines("positions")
    for board in ("bird", "lion"):
        for players in (2, 3, 4):
            assert sum(line["name"].startswith(f"{board}-{players}-") for line in perft) >= 4
    ends = {"last pagoda", "no tiles", "no space"}
    assert {line["end"] for line in games} == ends
    assert {line.get("end") for line in positions} == {*ends, None}
    assert any("pass" in line["moves"] for line in games)
    assert any(line["counts"][-1] == 0 for line in perft)
    assert {event["event"] for line in positions for event in line.get("events", [])} == {
        "found", "expand", "absorb", "major", "connect", "conquer",
    }  # fmt: skip


def test_the_eleven_printed_examples_come_first_and_the_rules_are_all_there():
    positions = lines("positions")
    assert [line["name"] for line in positions[:11]] == [
        f"rulebook-{number}" for number in range(1, 12)
    ]
    about = {rule for line in positions for rule in line["rules"]}
    rules = {3: 2, 4: 5, 5: 6, 6: 4, 7: 2, 8: 1}
    assert {
        f"R{part}.{number}" for part, last in rules.items() for number in range(1, last + 1)
    } <= about
    illegal = {"R3.1", "R3.2", "R4.1", "R4.2", "R4.3", "R4.4", "R8.1"}
    assert {rule for line in positions for rule in line.get("illegal", [])} >= illegal


def test_the_printed_examples_are_those_of_the_rules_tests(monkeypatch):
    drawn = {}

    def check(core, before, move, after, *, left=None, events=None, **setting):
        start = position(core, before, **setting)
        drawn[number] = drawing(start), move, tidy(after)
        return right(core, before, move, after, left=left, events=events, **setting)

    right = examples.check
    monkeypatch.setattr(examples, "check", check)
    for name in [name for name in dir(examples) if name.startswith("test_")]:
        number = int(name.split("_")[1])
        getattr(examples, name)(pure.State)
    assert sorted(drawn) == list(range(1, 11))  # the eleventh is forbidden
    for line in lines("positions")[:10]:
        state = position_state(line, pure.State)
        before = drawing(state)
        state.play(parse_move(state.board, line["move"]))
        assert drawn[int(line["name"].split("-")[1])] == (before, line["move"], drawing(state))


# wrong readings of the rules


def totals(joined):
    sums = {}
    for province in joined:
        sums[province.owner] = sums.get(province.owner, 0) + province.size
    return sorted(sums.values())


def joins_as(forbidden):
    return lambda patch: patch.setattr(board_state, "is_forbidden_join", forbidden)


def majors(joined):
    return sum(province.size >= 5 for province in joined)


def any_tie(joined):
    return majors(joined) > 1 or (
        not majors(joined) and len(joined) > 1 and len(set(totals(joined))) < len(totals(joined))
    )


def tie_with_a_major(joined):
    return majors(joined) > 1 or (
        len(totals(joined)) > 1 and totals(joined)[-1] == totals(joined)[-2]
    )


def tie_of_single_provinces(joined):
    best = {}
    for province in joined:
        best[province.owner] = max(best.get(province.owner, 0), province.size)
    sizes = sorted(best.values())
    return majors(joined) > 1 or (not majors(joined) and len(sizes) > 1 and sizes[-1] == sizes[-2])


def own_majors_may_join(joined, right=board_state.is_forbidden_join):
    return right(joined) and len({province.owner for province in joined}) > 1


def halves_judged_apart(patch):
    right = BoardState._places

    def places(self, kind):
        first, second, vertical = board_state.KINDS[kind]
        if first != second:
            return right(self, kind)
        right(self, kind)
        step = self.board.stride if vertical else 1
        return self._open[vertical] & ~(self._barred[first][0] | self._barred[first][0] >> step)

    patch.setattr(BoardState, "_places", places)


def most_spaces_beat_a_major(patch):
    def absorber(joined):
        sums = {}
        for province in joined:
            sums[province.owner] = sums.get(province.owner, 0) + province.size
        return max(sums, key=sums.get)

    patch.setattr(board_state, "absorber", absorber)


def owner_as(choose):
    def wrong(patch):
        right = BoardState._owner_of

        def owner_of(self, joined):
            return choose(self, joined, *right(self, joined))

        patch.setattr(BoardState, "_owner_of", owner_of)

    return wrong


def heir_as(choose):
    def wrong(patch):
        def heir(self, village, beside):
            counts = [0] * self.players
            for areas in self._areas:
                for province in areas:
                    if province.mask & beside:
                        counts[province.owner] += province.pagodas
            return choose(counts, self.villages[village])

        patch.setattr(BoardState, "_heir", heir)

    return wrong


def first_of_the_highest(counts, owner):
    return (
        counts.index(max(counts))
        if max(counts) > (counts[owner] if owner != NOBODY else 0)
        else owner
    )


def village_pagoda_counts(counts, owner):
    if owner != NOBODY:
        counts[owner] += 1
    return counts.index(max(counts)) if max(counts) and counts.count(max(counts)) == 1 else owner


def equal_is_enough(counts, owner):
    rivals = [seat for seat, count in enumerate(counts) if count == max(counts) and seat != owner]
    return rivals[0] if max(counts) and len(rivals) == 1 else owner


def villages_are_kept(counts, owner):
    return owner if owner != NOBODY else first_of_the_highest(counts, owner)


def everybody_pays_in_seat_order(patch):
    def settle(self, debts, right=BoardState._settle_in_order):
        mover, self.mover = self.mover, 0
        right(self, debts)
        self.mover = mover

    patch.setattr(BoardState, "_settle_in_order", settle)


def major_from_six(patch):
    patch.setattr(board_state, "MAJOR", 6)


def pass_draws(patch):
    def play(self, move, events=None, right=pure.State.play):
        seat = self.mover
        right(self, move, events)
        if move == -1 and self.end is None and self.pile:
            self.hands[seat] = tuple(sorted((*self.hands[seat], self.pile_tiles()[0])))
            self.set_pile(self.pile_tiles()[1:])

    patch.setattr(pure.State, "play", play)


WRONG = {
    "any tie forbids a join": joins_as(any_tie),
    "a tie keeps a major from absorbing": joins_as(tie_with_a_major),
    "ties are of single provinces": joins_as(tie_of_single_provinces),
    "majors of one owner may be joined": joins_as(own_majors_may_join),
    "anything may be joined": joins_as(lambda joined: False),
    "halves of a double tile are judged apart": halves_judged_apart,
    "most spaces beat a major": most_spaces_beat_a_major,
    "the mover takes what is expanded": owner_as(
        lambda self, joined, owner, *rest: (self.mover if len(joined) == 1 else owner, *rest)
    ),
    "the mover takes what is joined": owner_as(
        lambda self, joined, owner, *rest: (self.mover if len(joined) > 1 else owner, *rest)
    ),
    "a major needs six spaces": major_from_six,
    "the first of equal counts gets the village": heir_as(first_of_the_highest),
    "a village's own pagoda counts": heir_as(village_pagoda_counts),
    "an equal count conquers": heir_as(equal_is_enough),
    "villages are never conquered": heir_as(villages_are_kept),
    "pagodas are placed in the order of seats": everybody_pays_in_seat_order,
    "who passes draws": pass_draws,
}


def agrees(judge, line):
    try:
        return judge(line, pure.State) == line
    except (MoveError, IndexError):
        return False


@pytest.mark.parametrize("reading", WRONG)
def test_a_wrong_reading_of_a_rule_is_found_out(reading, monkeypatch):
    WRONG[reading](monkeypatch)
    assert not all(agrees(judged, line) for line in lines("positions"))


def test_the_right_reading_is_not():
    assert all(agrees(judged, line) for line in lines("positions"))
    assert all(agrees(replayed, line) for line in lines("games"))
