"""The search for leaks: there are none, and one that is put there is found, wherever it hides."""

from collections import Counter

import msgspec
import pytest

from arena.match.referee import Referee
from arena.players import views
from arena.players.messages import Start
from arena.rules.notation import PASS, TILES, UNKNOWN
from arena.sdk import Position
from arena.sdk.areas import as_seen
from tests.match.leaks import audit_leaks, situation_of

CHUNK, CHUNKS = 700, 2
"""`make leaks` searches more."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_states_that_look_alike_give_the_same_bytes(chunk):
    audited = list(audit_leaks("ci", CHUNK, chunk * CHUNK))
    assert [state.leak for state in audited if state.leak] == []
    assert sum(state.lines for state in audited) > 10 * CHUNK


def test_the_states_are_of_every_kind_and_differ_in_all_that_is_hidden():
    found = Counter()
    for number in range(300):
        situation = situation_of("kinds", number)
        one, other = situation.state(situation.deck), situation.state(situation.twin)
        seat = situation.seat
        assert one.mover == seat == other.mover
        assert one.hands[seat] == other.hands[seat]
        assert not one.must_pass()
        assert one.legal_moves() == other.legal_moves()
        assert (views.position_view(one), one.pile) == (views.position_view(other), other.pile)
        assert sorted(situation.deck) == sorted(situation.twin)
        others = [at for at in range(situation.players) if at != seat]
        found[f"{situation.players} on {situation.board.name}"] += 1
        found["another hand"] += any(one.hands[at] != other.hands[at] for at in others)
        found["another pile"] += one.pile_tiles() != other.pile_tiles()
        found["another tile to be drawn next"] += one.pile_tiles()[:1] != other.pile_tiles()[:1]
        found["the same tile to be drawn"] += situation.draws_the_same
        found["a pass"] += PASS in situation.moves
        found["an end"] += play_on(situation).end is not None
    assert len([kind for kind in found if " on " in kind]) == 6
    assert min(found["another hand"], found["another pile"]) > 250
    assert min(found["another tile to be drawn next"], found["the same tile to be drawn"]) > 90
    assert min(found["a pass"], found["an end"]) > 0


def play_on(situation):
    state = situation.state(situation.twin)
    for move in situation.moves[situation.at :]:
        state.play(move)
    return state


def leaks(states=60):
    return [audited.leak for audited in audit_leaks("planted", states) if audited.leak]


def test_a_leak_in_the_time_of_a_turn_is_found(monkeypatch):
    """The shortest way to tell a hand: a millisecond less when the
    next seat holds a certain tile.
    """

    def leaky(state, number, time_ms, *, full):
        return views.turn_view(
            state,
            number,
            time_ms - (0 in state.hands[(state.mover + 1) % state.players]),
            full=full,
        )

    monkeypatch.setattr("arena.players.bot.turn_view", leaky)
    found = leaks()
    assert found
    assert all(b'"type":"turn"' in leak.line and leak.line != leak.twin_line for leak in found)


def test_a_leak_in_the_full_view_alone_is_found(monkeypatch):
    """The provinces in another order when the pile ends in a certain tile."""

    def leaky(state):
        view = views.position_view(state)
        provinces = view.provinces[:: 1 - 2 * (state.pile_tiles()[-1:] == (3,))]
        return msgspec.json.encode(msgspec.structs.replace(view, provinces=provinces))

    monkeypatch.setattr("arena.players.views.position_json", leaky)
    assert {leak.view for leak in leaks(150)} == {"full"}


def test_a_leak_of_the_tile_that_is_drawn_next_is_found(monkeypatch):
    """One that comes to the seat itself, too early."""

    def leaky(state, number, time_ms, *, full):
        return views.turn_view(state, number, time_ms + (state.pile_tiles()[:1] == (4,)), full=full)

    monkeypatch.setattr("arena.players.bot.turn_view", leaky)
    assert leaks()


def test_a_leak_of_the_drawn_tile_is_found(monkeypatch):
    """What the mover holds now, in a field of what was played."""

    def leaky(state, seat, move, events, *, forfeited=False):
        played = views.played_view(state, seat, move, events, forfeited=forfeited)
        return msgspec.structs.replace(
            played, move=played.move + "".join(TILES[tile] for tile in state.hands[seat])
        )

    monkeypatch.setattr("arena.match.referee.played_view", leaky)
    assert any(b'"type":"played"' in leak.line for leak in leaks())


def test_a_leak_at_the_start_is_found(monkeypatch):
    def leaky(referee):
        seed = hash(referee.plan.deck) & 0xFFFF
        with monkeypatch.context() as patch:
            patch.setattr(
                "arena.match.referee.Start", lambda **said: Start(**{**said, "seed": seed})
            )
            begin(referee)

    begin = Referee._begin
    monkeypatch.setattr(Referee, "_begin", leaky)
    assert all(b'"type":"start"' in leak.line for leak in leaks(5))
    assert len(leaks(5)) == 5


def leaks_of_positions(monkeypatch, as_seen):
    """The leaks that are found when positions hide only what ``as_seen`` hides."""
    monkeypatch.setattr("arena.sdk.position.as_seen", as_seen)
    found = leaks(10)
    assert {leak.view for leak in found} <= {"position"}
    return found


def test_a_position_that_keeps_the_other_hands_is_found(monkeypatch):
    def leaky(state, _seat):
        seen = state.copy()
        seen.set_pile([UNKNOWN] * state.pile)
        return seen

    assert len(leaks_of_positions(monkeypatch, leaky)) > 2


def test_a_position_that_keeps_the_tile_to_be_drawn_next_is_found(monkeypatch):
    def leaky(state, seat):
        seen = as_seen(state, seat)
        seen.set_pile([*state.pile_tiles()[:1], *seen.pile_tiles()[1:]])
        return seen

    assert len(leaks_of_positions(monkeypatch, leaky)) > 2


def test_a_leak_in_the_position_after_a_move_alone_is_found(monkeypatch):
    def remember(position, state, *rest):
        begin(position, state, *rest)
        position.truth = state

    def leaky(position, move):
        after = play(position, move)
        after.state.set_hand(after.mover, position.truth.hands[after.mover])
        return after

    begin, play = Position.__init__, Position.play
    monkeypatch.setattr(Position, "__init__", remember)
    monkeypatch.setattr(Position, "play", leaky)
    found = leaks(10)
    assert {(leak.view, leak.number > 0) for leak in found} == {("position", True)}


def test_a_state_is_the_same_for_its_seed_and_number():
    assert situation_of("x", 7) == situation_of("x", 7) != situation_of("x", 8)
