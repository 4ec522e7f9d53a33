"""Built-in bots: their names, what their hash tells, and that they play as their version says."""

from hashlib import sha256

import pytest

from arena.errors import ConfigError
from arena.match.referee import Referee, play_alone
from arena.players.folder import bot_at
from arena.players.player import (
    NAMES,
    built_in,
    built_in_bot,
    built_in_player,
    is_built_in,
    seen_by_mover,
)
from arena.records.timing import Timing
from arena.rules import State, playouts
from arena.rules.boards import built_in as built_in_board
from arena.rules.notation import UNKNOWN, parse_deck
from arena.tournament.schedule import single_game

PLAYED = {
    "random": "ff8ce59409d4",
    "greedy": "a8b96fc33db1",
    "greedy-4": "ba0b5a0e03bd",
    "careful": "71bb53618ed5",
    "careful-4": "ef91530fd672",
}
"""The beginning of the hash of what each plays against itself in version 1; `built_in.PLAYS` is
raised when one of them changes.
"""


@pytest.mark.parametrize("name", PLAYED)
def test_each_plays_what_it_played_when_its_version_was_given(name):
    plan = single_game("builtin", "lion", 4, (name, name))
    record = play_alone(plan, built_in_board("lion"), [built_in(name).choose] * 2)
    assert built_in_bot(name).manifest.version == "1"
    assert sha256(" ".join(record.moves).encode()).hexdigest()[:12] == PLAYED[name]


def test_those_that_play_by_default_are_built_in():
    assert [built_in(name) for name in NAMES] == [("uniform", 0), ("greedy", 0), ("careful", 0)]


@pytest.mark.parametrize("name", ["greedy-1", "careful-10", "careful-999", "greedy-1000"])
def test_a_graded_one_looks_at_so_many_moves(name):
    policy, _, among = name.partition("-")
    assert built_in(name) == (policy, int(among))


NONE = [
    "",
    "Random",
    "random-2",
    "careful-0",
    "careful-07",
    "careful-1001",
    "greedy-",
    "greedy-4x",
    "./greedy",
    "uniform",
    "greedy-4\n",
]


@pytest.mark.parametrize("name", NONE)
def test_what_is_not_built_in_is_refused_with_what_there_is(name, refused):
    with refused(ConfigError):
        built_in_bot(name)


def test_run_json_can_tell_it_like_any_other_bot(snapshot):
    bot = built_in_bot("careful-4")
    assert (bot.label, bot.command, bot.manifest.version) == (
        "careful-4",
        ["arena", "in-process", "careful-4"],
        "1",
    )
    assert bot.manifest.description == snapshot


def test_the_hash_tells_apart_all_that_play_otherwise(monkeypatch):
    names = [*NAMES, "greedy-4", "greedy-5", "careful-4"]
    before = {name: built_in_bot(name).sha256 for name in names}
    assert len(set(before.values())) == len(names)
    assert all(len(own) == 64 for own in before.values())
    monkeypatch.setattr("arena.players.player.PLACED", playouts.PLACED + 1)
    assert {name for name in names if built_in_bot(name).sha256 != before[name]} == {
        "careful",
        "careful-4",
    }
    monkeypatch.setattr("arena.players.player.PLAYS", 2)
    assert all(built_in_bot(name).sha256 != before[name] for name in names)


@pytest.mark.parametrize("names", [("greedy", "careful"), ("careful-4", "random", "greedy-4")])
def test_in_seats_they_make_the_choices_that_they_make_among_themselves(names):
    plan, board = single_game("seats", "lion", 2, names), built_in_board("lion")
    alone = play_alone(plan, board, [built_in(name).choose for name in names])
    seated = (
        Referee(
            plan, board, [built_in_player(built_in_bot(name)) for name in names], Timing(move_ms=1)
        )
        .play()
        .record
    )
    assert (seated.moves, seated.ranks, seated.faults) == (alone.moves, alone.ranks, [])


def test_in_a_seat_only_the_own_hand_is_to_be_seen():
    plan = single_game("hidden", "bird", 0, ("a", "b", "c"))
    state = State(built_in_board("bird"), 3, parse_deck(plan.deck))
    state.play(state.nth(0))
    seen = seen_by_mover(state)
    assert list(seen.hands) == [(UNKNOWN,) * 3, state.hands[1], (UNKNOWN,) * 3]
    assert (set(seen.pile_tiles()), seen.pile) == ({UNKNOWN}, state.pile)
    assert seen.legal_moves() == state.legal_moves()
    assert UNKNOWN not in state.pile_tiles()


def test_a_folder_is_not_built_in_whatever_its_command_says(tmp_path):
    (tmp_path / "bot.toml").write_text(
        'name = "greedy"\ncommand = ["arena", "in-process", "greedy"]\n'
    )
    assert not is_built_in(bot_at(tmp_path))
    assert is_built_in(built_in_bot("greedy"))
