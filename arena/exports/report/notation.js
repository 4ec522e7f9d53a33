/* Moves, squares and tiles as the protocol writes them. "Rc3Yd3" lays the tile "RY" on c3 and d3.
 */
const notation = (() => {
  /** @type {Record<string, string>} */
  const COLOUR_NAMES = { R: "red", Y: "yellow", B: "blue" };
  const PLACEMENT = /^([RYB])([a-z])(\d+)([RYB])([a-z])(\d+)$/;
  const CODE_OF_A = "a".charCodeAt(0);

  const columnName = (column) => String.fromCharCode(CODE_OF_A + column);
  const squareName = (row, column) => `${columnName(column)}${row + 1}`;

  /** @returns {Half} */
  const makeHalf = (colour, letter, number) => ({
    colour,
    square: `${letter}${number}`,
    row: Number(number) - 1,
    column: letter.charCodeAt(0) - CODE_OF_A,
  });

  /**
   * Read a placement. Its first half lies above or to the left of the second one.
   *
   * @param {string} move
   * @returns {Placement | null} null for a pass
   */
  const parseMove = (move) => {
    const fields = PLACEMENT.exec(move);
    if (!fields) return null;
    const first = makeHalf(fields[1], fields[2], fields[3]);
    const second = makeHalf(fields[4], fields[5], fields[6]);
    return {
      first,
      second,
      tile: first.colour + second.colour,
      isHorizontal: first.row === second.row,
    };
  };

  /* The colours of a tile, such as "red-blue". */
  const tileWords = (tile) => [...tile].map((colour) => COLOUR_NAMES[colour]).join("-");

  /* Whether two texts name the same tile: "RY" and "YR" do. */
  const isSameTile = (tile, other) => tile === other || tile === other[1] + other[0];

  /**
   * Split a hand such as "RYBB" into its tiles.
   *
   * @param {string} hand
   * @returns {string[]}
   */
  const tilesOf = (hand) => hand.match(/../g) ?? [];

  return Object.freeze({
    COLOUR_NAMES,
    columnName,
    squareName,
    parseMove,
    isSameTile,
    tileWords,
    tilesOf,
  });
})();
