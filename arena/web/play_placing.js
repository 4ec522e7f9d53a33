/**
 * The placements of a tile on a board, by the square that is pointed at and by the way the tile is
 * turned. The server says which of them are legal; no rule of the game is known here.
 *
 * A turn is a number of quarter turns, 0 to 3. With 0 the tile's second half lies to the right of
 * its first half.
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

  /* The two placements over a square in one turn: with the first half on it, and with the second. */
  const bothAt = (tile, row, column, turn) => {
    const [down, right] = SECOND_HALF[turn];
    const firstHalfHere = moveAt(tile, row, column, turn);
    const secondHalfHere = moveAt(tile, row - down, column - right, turn);
    return [firstHalfHere, secondHalfHere].filter(Boolean);
  };

  /**
   * The legal placements of a tile over a square, each once: first those with the tile's first half
   * on the square, by turn, then those with its second half there.
   *
   * @param {Set<string>} legalMoves
   * @returns {string[]}
   */
  const waysAt = (tile, row, column, legalMoves) => {
    const turns = turnsOf(tile);
    const withFirstHalf = turns.map((turn) => moveAt(tile, row, column, turn));
    const all = turns.flatMap((turn) => bothAt(tile, row, column, turn));
    const legal = [...withFirstHalf, ...all].filter((move) => legalMoves.has(move));
    return [...new Set(legal)];
  };

  /* A placement over a square that is shown although no placement there is legal; null where no
     placement stays on the board. */
  const anyAt = (tile, row, column, turn) => bothAt(tile, row, column, turn)[0] ?? null;

  /* The turn in which a tile lies in a placement. */
  const turnOf = (tile, move) => {
    const { first, isHorizontal } = notation.parseMove(move);
    const isUpright = first.colour === tile[0];
    if (isHorizontal) return isUpright ? 0 : 2;
    return isUpright ? 1 : 3;
  };

  return Object.freeze({ waysAt, anyAt, turnOf });
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
