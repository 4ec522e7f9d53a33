"""For training: positions and moves as numpy arrays, from which a policy learns and, once trained,
plays.

`arena.training.qin_v0` is a PettingZoo environment; it needs ``pip install qin-arena[pettingzoo]``.
A bot needs only what is here:

    from arena.sdk import run
    from arena.training import choose_by

    run(choose_by(policy))  # policy(observation, action_mask) -> action, as in QinEnv

The encoding is the same for the environment and for the bots trained in it.

*Observation*: float32 of shape (height, width, len(PLANES)), with every number from 0 to 1.
``PLANES`` names the planes in order. The first ten describe each square; the others have the same
number on all squares. Seats are counted from the observer: ``seat +0`` is its own seat, ``seat +1``
the next to move. Planes of seats that are not in the game are 0, so that one shape works for 2, 3
and 4 players.

    free                     free grassland; lakes, where no tile can lie, have 0 in planes 0 to 9
    village                  a village
    red, yellow, blue        a province space of the colour, including single spaces and starts
    major                    a space of a major province
    owner +0 to +3           who owns the province or village; single spaces have no owner
    hand RR to RB            how many of this tile the seat holds, out of 3
    unseen RR to RB          how many of this tile are in other hands or in the pile, out of 12
    left +0 to +3            pagodas left, out of 24
    tiles +0 to +3           tiles in the seat's hand, out of 3; 0 for a seat that has forfeited
    pile                     tiles in the draw pile, out of 72

*Action*: an int counted from 0, ``(kind * height + row) * width + column``, where ``kind`` is
``(first colour * 3 + second colour) * 2 + vertical`` with R, Y, B as 0, 1, 2, and row and column
are those of the tile's first square in reading order. This is the number of a move in
protocol/NOTATION.md without the gaps, in the same order. A board has ``18 * height * width``
actions. A seat is not asked when no tile fits (R3.2), so there is no action for a pass. *Action
mask*: int8, one number per action, 1 if it is legal, else 0.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import index, or_
from typing import SupportsIndex, TypedDict

import numpy as np
from numpy.typing import NDArray

from arena.rules.boards import COLOURS, Board
from arena.rules.notation import COPIES, DECK_SIZE, KIND_SHIFT, SQUARE_MASK, TILE_OF_KIND, TILES
from arena.rules.terms import HAND, MAJOR, NOBODY, PAGODAS
from arena.sdk import Choose, Position

__all__ = ["PLANES", "Policy", "action_of", "actions", "choose_by", "encode", "move_of"]

SEATS = max(PAGODAS)
"""The most seats in a game."""
KINDS = len(TILE_OF_KIND)
"""The number of kinds of placements: a tile's two colours in order, and its direction."""

_ON_SQUARES = (
    "free",
    "village",
    "red",
    "yellow",
    "blue",
    "major",
    *(f"owner +{seat}" for seat in range(SEATS)),
)
PLANES = (
    *_ON_SQUARES,
    *(f"hand {tile}" for tile in TILES),
    *(f"unseen {tile}" for tile in TILES),
    *(f"left +{seat}" for seat in range(SEATS)),
    *(f"tiles +{seat}" for seat in range(SEATS)),
    "pile",
)
"""The names of an observation's planes, in order; the module's docstring says what each means."""

_MOST = np.repeat(
    np.array([HAND, COPIES, max(PAGODAS.values()), HAND, DECK_SIZE], dtype=np.float32),
    [len(TILES), len(TILES), SEATS, SEATS, 1],
)
"""The largest value of each number that is the same on all squares."""

Policy = Callable[[NDArray[np.float32], NDArray[np.int8]], SupportsIndex]
"""A function that takes an observation and its action mask, and returns an action."""


class Encoded(TypedDict):
    """The observation and the action mask of a seat. If it is not the seat's turn, the mask is all
    0.
    """

    observation: NDArray[np.float32]
    action_mask: NDArray[np.int8]


def encode(position: Position) -> Encoded:
    """Encode a position as its seat sees it. Hidden tiles stay hidden even if the position's state
    knows them.

    Args:
        position: The position, as a bot gets it or from ``env.position(agent)``.

    Returns:
        A dict with ``observation``, float32 of shape (height, width, len(PLANES)), and
        ``action_mask``, int8 of length ``actions(position.board)``.

    Examples:
        >>> encode(position)["observation"].shape == (13, 13, len(PLANES))
        True
    """
    return {"observation": _observation(position), "action_mask": _mask(position)}


def actions(board: Board) -> int:
    """Count the actions on a board; an action mask has this length.

    Args:
        board: The board, such as ``position.board``.

    Returns:
        ``18 * height * width``.

    Examples:
        >>> actions(position.board)
        3042
    """
    return KINDS * board.height * board.width


def move_of(board: Board, action: SupportsIndex) -> int:
    """The move that an action stands for, legal or not.

    Args:
        board: The board of the game.
        action: The action, from 0 to ``actions(board) - 1``.

    Returns:
        The move as an int, as `arena.sdk.Position` takes it.

    Raises:
        TypeError: The action is not a whole number.
        ValueError: The board has no such action.

    Examples:
        >>> position.text(move_of(position.board, 0))
        'Ra1Rb1'
    """
    try:
        number = index(action)
    except TypeError:
        raise TypeError(f"expected an action as a whole number, got {action!r}") from None
    if not 0 <= number < actions(board):
        wanted = f"an action from 0 to {actions(board) - 1} on a board of {board.width} x"
        raise ValueError(f"expected {wanted} {board.height}, got {number}")
    kind_and_row, column = divmod(number, board.width)
    kind, row = divmod(kind_and_row, board.height)
    return kind << KIND_SHIFT | row * board.stride + column


def action_of(board: Board, move: int) -> int:
    """The action that stands for a move, for instance of a recorded game to imitate.

    Args:
        board: The board of the game.
        move: The move as an int.

    Returns:
        The action, from 0 to ``actions(board) - 1``.

    Raises:
        ValueError: The move is `PASS`, or no placement on this board.

    Examples:
        >>> move = position.move("Ye2Yf2")
        >>> move_of(position.board, action_of(position.board, move)) == move
        True
    """
    kind = move >> KIND_SHIFT
    row, column = divmod(move & SQUARE_MASK, board.stride)
    if not (0 <= kind < KINDS and row < board.height and column < board.width):
        wanted = f"a placement on a board of {board.width} x {board.height}"
        raise ValueError(f"expected {wanted}, got the move {move}")
    return (kind * board.height + row) * board.width + column


def choose_by(policy: Policy) -> Choose:
    """Make a bot's function from a policy.

    Args:
        policy: A function of an observation and its action mask that returns an action. An action
            whose mask is 0 is an illegal move, which loses the game.

    Returns:
        A function for `arena.sdk.run`.

    Example:
        A bot that plays what a trained network prefers:

            run(choose_by(policy))
    """

    def choose(position: Position) -> int:
        """The move of the policy's action in this position."""
        seen = encode(position)
        return move_of(position.board, policy(seen["observation"], seen["action_mask"]))

    return choose


def _mask(position: Position) -> NDArray[np.int8]:
    """The action mask of the position's seat; all 0 if the seat is not to move."""
    board = position.board
    mask = np.zeros(actions(board), dtype=np.int8)
    if position.mover == position.seat:
        moves = np.array(position.legal_moves(), dtype=np.intp)
        kinds = moves >> KIND_SHIFT
        squares = moves & SQUARE_MASK
        mask[kinds * (board.height * board.width) + squares - squares // board.stride] = 1
    return mask


def _observation(position: Position) -> NDArray[np.float32]:
    """The observation of the position's seat."""
    board = position.board
    planes = np.empty((board.height, board.width, len(PLANES)), dtype=np.float32)
    planes[:, :, : len(_ON_SQUARES)] = _bits(board, _masks(position))
    planes[:, :, len(_ON_SQUARES) :] = np.array(_numbers(position), dtype=np.float32) / _MOST
    return planes


def _masks(position: Position) -> list[int]:
    """The squares of each plane that differs between squares, as bit masks in the order of
    ``PLANES``.
    """
    state = position.state
    board = position.board
    major = 0
    owners = [0] * SEATS
    for _, province in state.provinces():
        owners[(province.owner - position.seat) % state.players] |= province.mask
        if province.size >= MAJOR:
            major |= province.mask
    for village, owner in zip(board.villages, state.villages, strict=True):
        if owner != NOBODY:
            owners[(owner - position.seat) % state.players] |= village
    return [
        state.free,
        reduce(or_, board.villages, 0),
        *(state.spaces(colour) for colour in range(len(COLOURS))),
        major,
        *owners,
    ]


def _bits(board: Board, masks: Sequence[int]) -> NDArray[np.uint8]:
    """The masks as zeros and ones, an array of shape (height, width, len(masks))."""
    squares = board.height * board.stride
    size = (squares + 7) // 8
    text = b"".join([mask.to_bytes(size, "little") for mask in masks])
    packed = np.frombuffer(text, dtype=np.uint8).reshape(len(masks), size)
    bits = np.unpackbits(packed, axis=1, count=squares, bitorder="little")
    planes = bits.reshape(len(masks), board.height, board.stride)[:, :, : board.width]
    return planes.transpose(1, 2, 0)


def _numbers(position: Position) -> list[int]:
    """The values of the planes that have the same number on all squares, in the order of
    ``PLANES``.
    """
    state = position.state
    seat = position.seat
    players = position.players
    hand = state.hands[seat]
    absent = [0] * (SEATS - players)
    order = [(seat + step) % players for step in range(players)]
    held = [hand.count(tile) for tile in range(len(TILES))]
    left = [state.left[other] for other in order]
    tiles = [0 if state.retired[other] else len(state.hands[other]) for other in order]
    unseen = position.unseen().values()
    return [*held, *unseen, *left, *absent, *tiles, *absent, state.pile]
