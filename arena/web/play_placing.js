/**
 * The placements of a tile on a board, by the square that is pointed at and by the way the tile is
 * turned. The server says which of them are legal; no rule of the game is known here.
 *
 * A turn is a number of quarter turns, 0 to 3. With 0 the second half lies to the right of the
 * first.
 *
 * @param {string[]} rows the rows of the board
 */
const placingOn = (rows) => {
  const SECOND_HALF = [
    [0, 1],
    [1, 0],
    [0, -1],
    [-1, 0],
  ];
  const width = rows[0].length;
  const isOnBoard = (row, column) => row >= 0 && column >= 0 && row < rows.length && column < width;

  /* The placement with the first half on a square; null where the tile would leave the board. */
  const moveAt = (tile, row, column, turn) => {
    const [down, right] = SECOND_HALF[turn];
    const otherRow = row + down;
    const otherColumn = column + right;
    if (!isOnBoard(row, column) || !isOnBoard(otherRow, otherColumn)) return null;
    const first = tile[0] + notation.squareName(row, column);
    const second = tile[1] + notation.squareName(otherRow, otherColumn);
    // A move names the half first that lies above or to the left.
    return down < 0 || right < 0 ? second + first : first + second;
  };

  /**
   * The placement that a pointer on a square means: the tile's first half lies there, or, if only
   * that is legal, its second half.
   *
   * @param {Set<string>} legalMoves
   */
  const moveOver = (tile, row, column, turn, legalMoves) => {
    const [down, right] = SECOND_HALF[turn];
    const firstHalfHere = moveAt(tile, row, column, turn);
    const secondHalfHere = moveAt(tile, row - down, column - right, turn);
    const candidates = [firstHalfHere, secondHalfHere].filter(Boolean);
    return candidates.find((move) => legalMoves.has(move)) ?? candidates[0] ?? null;
  };

  return Object.freeze({ isOnBoard, moveOver });
};

/* The turns of a tile that differ: a tile with two equal halves looks the same upside down. */
const turnsOf = (tile) => (tile[0] === tile[1] ? [0, 1] : [0, 1, 2, 3]);

/**
 * The placements of one tile among the legal moves.
 *
 * @param {Set<string>} legalMoves
 */
const placementsOf = (tile, legalMoves) =>
  [...legalMoves].filter((move) => notation.isSameTile(notation.parseMove(move).tile, tile));
