/**
 * What lies over a board while a person chooses a move: lit squares, the tile that is aimed, hints.
 *
 * @param {HTMLElement} ground the element that has the picture of the board
 */
const overlayOn = (ground) => {
  const { svg } = draw;
  const { side } = draw.sizesOf(ground);
  const lights = svg("g", { class: "lights" });
  const aimed = svg("g", { class: "aimed" });
  const live = ground.querySelector(".live");
  live.before(lights);
  live.after(aimed);

  const framedTile = (move, className) => {
    const placement = notation.parseMove(move);
    const { first, second } = placement;
    const frame = svg("rect", {
      x: first.column * side + 1,
      y: first.row * side + 1,
      width: (second.column - first.column + 1) * side - 2,
      height: (second.row - first.row + 1) * side - 2,
      rx: 8,
    });
    return svg("g", { class: className }, draw.placedTile(placement, side), frame);
  };
  /* The squares that some placements cover, each once, as rectangles that are so much smaller. */
  const squaresUnder = (/** @type {string[]} */ moves, inset, radius, attributes = {}) => {
    /** @type {Map<string, Half>} */
    const halves = new Map();
    for (const move of moves) {
      const { first, second } = notation.parseMove(move);
      halves.set(first.square, first).set(second.square, second);
    }
    return [...halves.values()].map(({ row, column }) =>
      svg("rect", {
        x: column * side + inset,
        y: row * side + inset,
        width: side - 2 * inset,
        height: side - 2 * inset,
        rx: radius,
        ...attributes,
      }),
    );
  };
  /* Frames around the squares that good moves cover: not which tile, and not which way. */
  const marksOf = (moves) => squaresUnder(moves, 2, 8, { class: "hint-mark" });

  /**
   * Show the hints, and the move that is aimed at.
   *
   * @param {Hints} hints
   * @param {string | null} aimedMove
   * @param {boolean} isLegal
   */
  const showTiles = (hints, aimedMove, isLegal) => {
    const shown = hints.best ? [framedTile(hints.best, "hinted")] : marksOf(hints.moves);
    aimed.replaceChildren(...shown);
    if (aimedMove) aimed.append(framedTile(aimedMove, isLegal ? "trial" : "trial bad"));
  };

  /**
   * Light the squares that some placements cover.
   *
   * @param {string[]} moves
   */
  const showLights = (moves) => lights.replaceChildren(...squaresUnder(moves, 3, 6));

  return Object.freeze({ showTiles, showLights });
};
