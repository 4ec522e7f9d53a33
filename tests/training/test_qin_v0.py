"""arena.training.qin_v0: PettingZoo's own tests, and what they do not ask."""

import copy
import pickle
import random
from functools import partial

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from arena.errors import BoardError, IllegalMoveError, NotationError
from arena.exports.text import board_text
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import TILES, deck_text, parse_move, parse_tile
from arena.rules.positions import position_text, read_cells
from arena.training import PLANES, action_of, encode, qin_v0
from tests.training.observations import same

RR, YY = map(parse_tile, ("RR", "YY"))

NARROW = Board("narrow", ("R....~.", "..V....", "....B..", "Y..VV.."))
TABLES = [{}, {"players": 3, "board": "lion"}, {"players": 4, "board": NARROW}]

# PettingZoo knows by name which of its own games have observations with masks, and warns about any
# other.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


def play(env, choose, seed=None, options=None):
    """Plays a game; what each agent got, and who acted in which order."""
    got, acted = {}, []
    env.reset(seed=seed, options=options)
    for agent in env.agent_iter():
        seen, reward, terminated, _, info = env.last()
        assert info == {}
        if terminated:  # by an illegal action: truncated as well
            got[agent] = reward
        else:
            acted.append(agent)
        env.step(None if terminated else choose(seen["action_mask"]))
    return got, acted


def at_random(seed):
    rng = np.random.default_rng(seed)
    return lambda mask: rng.choice(mask.nonzero()[0])


@pytest.mark.parametrize("table", TABLES)
def test_it_passes_pettingzoo_s_own_tests(table):
    api_test(qin_v0.env(**table))
    seed_test(partial(qin_v0.env, **table))
    render_test(partial(qin_v0.env, **table))


@pytest.mark.parametrize("table", TABLES)
def test_the_rewards_are_the_shares_of_the_win(table):
    for seed in range(3):
        env = qin_v0.env(**table)
        got, acted = play(env, at_random(seed), seed)
        left = env.unwrapped.game.left
        winners = left.count(min(left))
        wanted = [1 / winners if own == min(left) else 0 for own in left]
        assert got == {f"seat_{seat}": share for seat, share in enumerate(wanted)}
        assert set(acted) == set(got) == set(env.possible_agents)


DRAWN = """
R0 R0 R0 R0 R0 .  .  R1 R1 R1 R1 R1
~  ~  .  .  ~  ~  ~  ~  ~  ~  ~  ~
"""


def test_a_seat_that_cannot_place_a_tile_is_passed_over():
    """R3.2, R4.3: once c2 and d2 are taken, seat 1 could only join two majors."""
    board, *parts = read_cells("drawn", DRAWN)
    env = qin_v0.raw_env(board=board)
    env.reset()
    env.game = State.set_up(board, *parts, left=[10, 10], hands=[[YY, YY], [RR]], pile=[])
    env.step(action_of(board, parse_move(board, "Yc2Yd2")))
    assert (env.agent_selection, env.game.end) == ("seat_0", None)
    assert env.rewards == {"seat_0": 0, "seat_1": 0}
    env.step(action_of(board, parse_move(board, "Yf1Yg1")))
    assert (env.game.end, env.game.left) == ("no space", [8, 10])
    assert env.terminations == {"seat_0": True, "seat_1": True}
    assert env.rewards == {"seat_0": 1, "seat_1": 0}


def test_a_board_without_a_place_ends_at_once():
    got, acted = play(qin_v0.env(board=Board("none", ("R~B",))), np.argmax)
    assert (got, acted) == ({"seat_0": 0.5, "seat_1": 0.5}, [])


def test_an_illegal_action_ends_the_game_for_the_one_who_took_it(caplog, refused):
    env = qin_v0.env(players=3)
    got, acted = play(env, np.argmin, seed=1)
    assert (got, acted) == ({"seat_0": -1, "seat_1": 0, "seat_2": 0}, ["seat_0"])
    assert "Illegal" in caplog.text
    got, _ = play(env, at_random(1), seed=1)
    assert sum(got.values()) == 1
    raw = qin_v0.raw_env()
    raw.reset(seed=1)
    with refused(IllegalMoveError):
        raw.step(int(np.argmin(raw.observe("seat_0")["action_mask"])))
    with refused(TypeError):
        raw.step(None)
    with refused(AssertionError):
        play(env, lambda _: 3042)


def test_a_seed_decides_this_game_and_those_after_it():
    def decks(env, seeds):
        dealt = (env.reset(seed=seed) or env.unwrapped.game.pile_tiles() for seed in seeds)
        return list(map(deck_text, dealt))

    one, other = qin_v0.env(), qin_v0.env()
    first = decks(one, [np.int64(7), None, None])
    assert decks(other, [7, None, None]) == first
    assert len(set(first)) == 3
    assert decks(other, [7]) == first[:1]
    assert decks(qin_v0.env(), [None]) != decks(qin_v0.env(), [None])


def test_a_deck_can_be_given():
    tiles = ["RR", "YY", "BB", "RY", "YB", "RB"] * 12
    random.Random(3).shuffle(tiles)
    env = qin_v0.env()
    env.reset(options={"deck": "".join(tiles)})
    game = env.unwrapped.game
    assert sorted(deck_text(game.hands[0])[at : at + 2] for at in (0, 2, 4)) == sorted(tiles[:3])
    assert deck_text(game.pile_tiles()) == "".join(tiles[6:])
    for wrong in ("RRYY", tiles, 7):
        with pytest.raises(NotationError, match="expected"):
            env.reset(options={"deck": wrong})


def test_every_agent_sees_its_own_side_at_any_time():
    env = qin_v0.env(players=3)
    env.reset(seed=1)
    env.step(np.argmax(env.observe("seat_0")["action_mask"]))
    for seat, agent in enumerate(env.agents):
        seen = env.observe(agent)
        assert env.observation_space(agent).contains(seen)
        hand = seen["observation"][0, 0, PLANES.index("hand RR") :][:6] * 3
        assert hand.round().tolist() == [
            env.unwrapped.game.hands[seat].count(tile) for tile in range(6)
        ]
        assert seen["action_mask"].any() == (agent == env.agent_selection)


def test_a_position_of_an_agent_is_that_of_a_bot_on_its_seat(refused):
    env = qin_v0.env(players=3)
    with refused(ValueError):
        env.position("seat_0")
    env.reset(seed=1)
    game = env.unwrapped.game
    for seat, agent in enumerate(env.agents):
        position = env.position(agent, time_ms=250)
        assert (position.seat, position.mover, position.time_ms) == (seat, 0, 250)
        assert position.line == position_text(game, seat)
        assert same(encode(position), env.observe(agent))
    position = env.position("seat_0")
    before = position.line
    env.step(action_of(env.unwrapped.board, position.legal_moves()[0]))
    assert position.line == before
    with refused(ValueError):
        env.position(0)


def test_positions_after_moves_do_not_depend_on_what_the_agent_cannot_know():
    """Two decks that differ in the hand of seat 1 and in the pile."""
    known = "RRYYBB"
    rest = sorted(["RR", "YY", "BB"] * 11 + ["RY", "YB", "RB"] * 12)
    decks = [known + "".join(rest), known + "".join(rest[::-1])]
    shown = []
    for deck in decks:
        env = qin_v0.env()
        env.reset(seed=1, options={"deck": deck})
        position = env.position("seat_0")
        for move in position.legal_moves()[:20]:
            after = position.play(move)
            for reply in after.moves_of(TILES)[:5]:
                later = after.play(reply)
                shown.append((after.line, after.legal_moves(), after.state.hands, later.line))
                shown.append((later.hand, later.state.pile_tiles(), later.sample(seed=2).hand))
    half = len(shown) // 2
    assert half > 100
    assert shown[:half] == shown[half:]


def test_sampling_in_a_position_leaves_the_decks_to_come_as_they_are():
    env, other = qin_v0.env(), qin_v0.env()
    for one in (env, other):
        one.reset(seed=5)
    env.position("seat_0").sample()
    for one in (env, other):
        one.reset()
    assert env.unwrapped.game.pile_tiles() == other.unwrapped.game.pile_tiles()


def test_a_board_file_is_a_board(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("\n".join(NARROW.rows))
    for board in (path, str(path)):
        env = qin_v0.env(board=board)
        assert env.unwrapped.board.rows == NARROW.rows
        assert env.observation_space("seat_0")["observation"].shape == (4, 7, len(PLANES))
        assert env.action_space("seat_0").n == 18 * 4 * 7


def test_what_cannot_be_played_is_refused(tmp_path, refused):
    for players in (1, 5, "2"):
        with refused(ValueError):
            qin_v0.env(players=players)
    with refused(ValueError):
        qin_v0.env(render_mode="text")
    with refused(BoardError):
        qin_v0.env(board="owl")
    with refused(BoardError):
        qin_v0.env(board=tmp_path / "missing.txt")


def test_what_is_drawn_is_returned_or_printed(capsys):
    env = qin_v0.env(board=NARROW, render_mode="human")
    env.reset(seed=2)
    text = board_text(env.unwrapped.game)
    assert capsys.readouterr().out.startswith(text)
    with pytest.warns(UserWarning, match="render_mode"):
        assert qin_v0.raw_env().render() is None


def pickled(env):
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("make", [copy.deepcopy, pickled])
def test_a_copy_before_the_first_game_is_an_environment_of_its_own(make):
    twin = make(qin_v0.raw_env(players=3, board="lion"))
    twin.reset(seed=1)
    assert (len(twin.agents), twin.board.name) == (3, "lion")


@pytest.mark.parametrize("make", [copy.deepcopy, pickled])
@pytest.mark.parametrize("whole", [qin_v0.env, qin_v0.raw_env])
def test_a_copy_of_a_running_environment_plays_the_same_game_on_by_itself(make, whole):
    env = whole(players=3, board=NARROW)
    env.reset(seed=1)
    first_moves(env, 3)
    game = env.unwrapped.game
    before = position_text(game)
    twin = make(env)
    assert twin.unwrapped.game is not game
    assert twin.unwrapped.game == game
    ends = play_on(twin)
    assert position_text(game) == before, "the game of the original has stayed as it was"
    assert play_on(env) == ends
    for one in (env, twin):
        one.reset()
    assert twin.unwrapped.game == env.unwrapped.game, "later games have the same decks"


@pytest.mark.parametrize("make", [copy.deepcopy, pickled])
def test_a_copy_after_the_end_of_a_game_has_its_rewards(make):
    env = qin_v0.env()
    env.reset(seed=2)
    end = play_on(env)
    twin = make(env)
    assert play_on(twin) == end
    assert twin.last()[1:] == env.last()[1:]


def first_moves(env, count):
    """Plays some turns, each the first legal action."""
    for _ in range(count):
        env.step(int(np.argmax(env.last()[0]["action_mask"])))


def play_on(env):
    """Plays the game to its end, and says how it ended."""
    while not any(env.unwrapped.terminations.values()):
        first_moves(env, 1)
    return position_text(env.unwrapped.game), env.unwrapped.rewards
