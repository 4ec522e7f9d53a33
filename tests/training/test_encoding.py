"""arena.training: what a policy sees is what the seat may see, and its actions are the moves, with
any core.
"""

import random
import subprocess
import sys

import numpy as np
import pytest

from arena.rules import CORE, State, pure
from arena.rules.boards import Board, built_in
from arena.rules.notation import COPIES, DECK_SIZE, PASS, TILES, UNKNOWN, parse_tile
from arena.rules.positions import read_cells
from arena.sdk import Position
from arena.training import PLANES, action_of, actions, choose_by, encode, move_of
from tests.support.imports import HEAVY, loaded_by
from tests.training.observations import same

CORES = {"pure": pure.State, CORE: State}
NARROW = Board("narrow", ("R....~.", "..V....", "....B..", "Y..VV.."))
BOARDS = [built_in("bird"), built_in("lion"), NARROW]


def positions(board, players, seed=1, core=State):
    """Every position of a random game in which somebody chooses, hidden tiles included."""
    rng = random.Random(seed)
    deck = rng.sample([number // COPIES for number in range(DECK_SIZE)], DECK_SIZE)
    state = core(board, players, tuple(deck))
    while state.end is None:
        if state.must_pass():
            state.play(PASS)
        else:
            yield Position(state.copy(), state.mover, rng, 0)
            state.play(state.nth(rng.randrange(state.legal_count())))
    yield Position(state, state.mover, rng, 0)


DRAWN = """
R0 R0 .  ~  B
V1 .  Y2 .  .
V1 .  Y2 Y2 .
.  Y2 Y2 .  V
"""


@pytest.mark.parametrize("core", CORES)
def test_the_planes_show_each_square_from_the_seat_s_own_side(core):
    board, spaces, provinces, villages = read_cells("drawn", DRAWN)
    own = [parse_tile("RR"), parse_tile("RR"), parse_tile("YB")]
    hands = [[UNKNOWN] * 3, own, [UNKNOWN] * 2, []]
    state = CORES[core].set_up(
        board, spaces, provinces, villages, [15, 9, 6, 3], hands, [UNKNOWN] * 18, mover=1
    )
    seen = encode(Position(state, 1, random.Random(), 0))
    drawn = seen["observation"]
    assert (drawn.shape, drawn.dtype) == ((4, 5, len(PLANES)), np.float32)
    shown = {name: drawn[:, :, at] for at, name in enumerate(PLANES)}

    def squares(name):
        return {
            board.name_of(row * board.stride + column) for row, column in np.argwhere(shown[name])
        }

    assert squares("free") == {"c1", "b2", "d2", "e2", "b3", "e3", "a4", "d4"}
    assert squares("village") == {"a2", "a3", "e4"}
    assert (squares("red"), squares("blue")) == ({"a1", "b1"}, {"e1"})
    for name in ("yellow", "major", "owner +1"):
        assert squares(name) == {"c2", "c3", "d3", "b4", "c4"}
    assert squares("owner +0") == {"a2", "a3"}
    assert (squares("owner +2"), squares("owner +3")) == (set(), {"a1", "b1"})

    def number(name, most):
        assert shown[name].min() == shown[name].max()
        return round(float(shown[name][0, 0]) * most, 4)

    assert [number(f"hand {tile}", 3) for tile in TILES] == [2, 0, 0, 0, 1, 0]
    assert [number(f"unseen {tile}", 12) for tile in TILES] == [10, 12, 12, 12, 11, 12]
    assert [number(f"left +{seat}", 24) for seat in range(4)] == [9, 6, 3, 15]
    assert [number(f"tiles +{seat}", 3) for seat in range(4)] == [3, 2, 0, 3]
    assert number("pile", 72) == 18
    state.retire(2)
    drawn = encode(Position(state, 1, random.Random(), 0))["observation"]
    assert (drawn[:, :, PLANES.index("tiles +1")] == 0).all()


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(
    ("board", "players"), [(BOARDS[0], 2), (BOARDS[1], 4), (NARROW, 3)], ids=str
)
def test_the_mask_has_the_legal_moves_in_their_order(core, board, players):
    for position in positions(board, players, core=CORES[core]):
        mask = encode(position)["action_mask"]
        assert (mask.shape, mask.dtype) == ((18 * board.height * board.width,), np.int8)
        legal = np.flatnonzero(mask).tolist()
        assert [move_of(board, action) for action in legal] == position.legal_moves()
        assert [action_of(board, move) for move in position.legal_moves()] == legal
    assert position.is_over
    assert not mask.any()


@pytest.mark.parametrize(
    ("board", "players"), [(BOARDS[0], 2), (BOARDS[1], 3), (NARROW, 4)], ids=str
)
def test_nothing_hidden_can_be_told_from_what_a_policy_gets(board, players):
    for position in positions(board, players):
        state, seat, seen = position.state, position.seat, encode(position)
        assert 0 <= seen["observation"].min() <= seen["observation"].max() <= 1
        covered = state.copy()
        for other in range(players):
            if other != seat:
                covered.set_hand(other, [UNKNOWN] * len(state.hands[other]))
        covered.set_pile([UNKNOWN] * state.pile)
        blind = Position(covered, seat, random.Random(), 0)
        assert same(seen, encode(blind))
        if state.end is None:
            assert same(seen, encode(blind.sample(seed=1)))


def test_both_cores_are_encoded_alike():
    for one, other in zip(positions(NARROW, 3), positions(NARROW, 3, core=pure.State), strict=True):
        assert same(encode(one), encode(other))


def test_a_seat_that_is_not_to_move_has_no_action():
    position = next(positions(NARROW, 2))
    assert not encode(Position(position.state, 1, position.rng, 0))["action_mask"].any()


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_actions_and_moves_name_each_other(board):
    moves = [move_of(board, action) for action in range(actions(board))]
    assert [action_of(board, move) for move in moves] == list(range(actions(board)))
    assert moves == sorted(set(moves))


def test_what_is_no_action_or_no_placement_is_refused(refused):
    board = built_in("bird")
    for wrong in (-1, 3042):
        said = f"expected an action from 0 to 3041 on a board of 13 x 13, got {wrong}"
        with pytest.raises(ValueError, match=said):
            move_of(board, wrong)
    for wrong in (3.5, None, (7, None)):
        with refused(TypeError):
            move_of(board, wrong)
    for wrong in (PASS, 18 << 10, 13):
        said = f"expected a placement on a board of 13 x 13, got the move {wrong}"
        with pytest.raises(ValueError, match=said):
            action_of(board, wrong)


def test_a_policy_may_answer_with_any_whole_number():
    position = next(positions(built_in("bird"), 2))
    first = position.legal_moves()[0]
    for kind in (int, np.int64, np.array):
        assert choose_by(lambda _, mask, kind=kind: kind(np.argmax(mask)))(position) == first


def test_a_bot_that_plays_by_a_policy_loads_numpy_and_nothing_else_heavy():
    assert loaded_by("import arena.training") & set(HEAVY) == {"numpy"}


@pytest.mark.parametrize("missing", ["pettingzoo", "gymnasium"])
def test_the_environment_says_what_to_install(missing, snapshot):
    code = (
        f"import sys\nsys.modules[{missing!r}] = None\nimport arena.training\nfrom arena.training"
        " import qin_v0"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last == snapshot
