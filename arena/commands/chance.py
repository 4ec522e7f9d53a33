"""A board made up by chance, for a person who knows the others."""

from random import Random

from arena.rules.boards import COLOURS, GRASS, LAKE, VILLAGE, Board

SIDE, MIDDLE = 13, 3
VILLAGES, LAKES = (9, 14), (2, 5)
SHORES = ((0, 0), (0, 1), (1, 0))


def chance_board(number: int) -> Board:
    """The board of that number: starts around the middle, villages and lakes anywhere else."""
    # Not for secrets: the number is the board's name.
    luck = Random(number)  # noqa: S311
    cells = [[GRASS] * SIDE for _ in range(SIDE)]
    free = [(row, column) for row in range(SIDE) for column in range(SIDE)]
    luck.shuffle(free)
    for colour in COLOURS:
        row, column = next(
            (row, column)
            for row, column in free
            if _is_middle(row) and _is_middle(column) and _is_alone(cells, row, column)
        )
        cells[row][column] = colour
    for _ in range(luck.randint(*LAKES)):
        row, column = luck.randrange(SIDE - 1), luck.randrange(SIDE - 1)
        for down, right in SHORES:
            if _is_alone(cells, row + down, column + right, "RYB"):
                cells[row + down][column + right] = LAKE
    wanted = luck.randint(*VILLAGES)
    for row, column in free:
        if wanted and _is_alone(cells, row, column):
            cells[row][column] = VILLAGE
            wanted -= 1
    return Board(f"chance-{number}", tuple(map("".join, cells)))


def _is_middle(at: int) -> bool:
    return MIDDLE <= at < SIDE - MIDDLE


def _is_alone(
    cells: list[list[str]], row: int, column: int, others: str = f"RYB{VILLAGE}{LAKE}"
) -> bool:
    """Whether a square and those around it hold none of these."""
    around = [
        cells[y][x]
        for y in range(max(row - 1, 0), min(row + 2, SIDE))
        for x in range(max(column - 1, 0), min(column + 2, SIDE))
    ]
    return not set(others).intersection(around)
