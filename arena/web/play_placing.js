/**
 * The placements of a tile on a board, by the square that is pointed at and by the way the tile is
 * turned. The server says which of them are legal; no rule of the game is known here.
 *
 * A turn is a number of quarter turns, 0 to 3. With 0 the tile's second half lies to the right of
 * its first half. The half that lies on the square that is pointed at is the aimed half: 0 for the
 * tile's first half, 1 for its second.
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
  const TURNS = SECOND_HALF.length;
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
   * The way in which a tile lies with one of its halves on a square; null off the board.
   *
   * @returns {Way | null}
   */
  const wayAt = (tile, row, column, turn, half) => {
    const [down, right] = SECOND_HALF[turn];
    const move = moveAt(tile, row - half * down, column - half * right, turn);
    return move ? { move, turn, half, quarters: 0 } : null;
  };

  /* All ways of a tile over a square, those in this turn first and the others clockwise from it. */
  const waysAt = (tile, row, column, turn) => {
    const turns = [...SECOND_HALF.keys()].map((quarters) => (turn + quarters) % TURNS);
    const firstHalf = turns.map((other) => wayAt(tile, row, column, other, 0));
    const secondHalf = turns.map((other) => wayAt(tile, row, column, other, 1));
    const ways = [firstHalf[0], secondHalf[0], ...firstHalf.slice(1), ...secondHalf.slice(1)];
    return ways.filter(Boolean);
  };

  /**
   * The way in which a tile is shown over a square: a legal one, in this turn if possible, or else
   * any.
   *
   * @param {Set<string>} legalMoves
   * @returns {Way}
   */
  const bestAt = (tile, row, column, turn, legalMoves) => {
    const ways = waysAt(tile, row, column, turn);
    return ways.find((way) => legalMoves.has(way.move)) ?? ways[0];
  };

  /**
   * The way after a quarter turn clockwise round the aimed half, or more turns where the tile would
   * leave the board. After a whole round the other half is the aimed one.
   *
   * @param {Way} way
   * @returns {Way}
   */
  const turned = (tile, row, column, way) => {
    const isRound = way.quarters === TURNS - 1 && tile[0] !== tile[1];
    const half = isRound ? 1 - way.half : way.half;
    // With its halves exchanged the tile is turned half round, so that it goes on clockwise.
    const turn = (way.turn + (isRound ? 1 + TURNS / 2 : 1)) % TURNS;
    const quarters = (way.quarters + 1) % TURNS;
    const next = wayAt(tile, row, column, turn, half);
    return next
      ? { ...next, quarters }
      : turned(tile, row, column, { ...way, turn, half, quarters });
  };

  /* The way in which a tile lies in a placement, with a half on this square. */
  const wayOf = (tile, move, row, column) =>
    [...SECOND_HALF.keys()]
      .flatMap((turn) => waysAt(tile, row, column, turn))
      .find((way) => way.move === move);

  return Object.freeze({ bestAt, turned, wayOf });
};

/**
 * The placements of one tile among the legal moves.
 *
 * @param {Set<string>} legalMoves
 */
const placementsOf = (tile, legalMoves) =>
  [...legalMoves].filter((move) => notation.isSameTile(notation.parseMove(move).tile, tile));
