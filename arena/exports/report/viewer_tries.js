/* The hand of the seat to move: while the pointer or the focus is on a tile, its best places lie pale
   on the board, and a line says what the tile would do there.

   Needs `notation.js`, `board.js` and `viewer_state.js`. */

/**
 * The best places for a tile of the seat that moves after a position.
 *
 * @param {Story} story
 * @param {Position} state
 * @returns {[move: string, words: string][]}
 */
const placesFor = (story, state, tile) => {
  const tries = story.moveAt(story.states.indexOf(state) + 1)?.tries ?? [];
  return tries.filter(([move]) => notation.isSameTile(notation.parseMove(move).tile, tile));
};

/** @param {Viewer} viewer */
const showPlaces = ({ table, parts }, places) => {
  table.showGhost(...places.map(([move]) => move));
  const lines = places.map(([move, words]) => {
    const { first, second } = notation.parseMove(move);
    return draw.html(
      "span",
      {},
      draw.html("b", {}, `${first.square}\u2013${second.square}`),
      ` ${words}`,
    );
  });
  parts.tries.replaceChildren(...(lines.length ? lines : [viewerHint(parts)]));
};

/** What stands in the line while no tile is pointed at. @param {ViewerParts} parts */
const viewerHint = (parts) => parts.tries.dataset.hint;

/**
 * The tile in the hand of the seat to move, as a button that shows its best places.
 *
 * @param {Viewer} viewer
 * @param {Story} story
 * @param {Position} state
 */
const tileToTry = (viewer, story, state, tile) => {
  const places = placesFor(story, state, tile);
  if (!places.length || story !== viewer.story) return draw.domino(tile);
  const label = `${notation.tileWords(tile)}: show the best places`;
  const button = draw.html("button", { type: "button", class: "try", "aria-label": label });
  button.append(draw.domino(tile));
  const show = () => showPlaces(viewer, places);
  const hide = () => showPlaces(viewer, []);
  button.addEventListener("pointerenter", show);
  button.addEventListener("focus", show);
  button.addEventListener("click", show);
  button.addEventListener("pointerleave", hide);
  button.addEventListener("blur", hide);
  return button;
};
