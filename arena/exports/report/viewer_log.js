/* The lists of the viewer: the log of all moves, and the position as a table.

   Needs `notation.js`, `board.js`, `viewer_state.js` and `viewer_words.js`. A click on a move calls
   `stopAt` of `viewer_steps.js`. */

/**
 * A move in the log, or the start of the game.
 *
 * @param {Viewer} viewer
 */
const loggedStep = (viewer, step) => {
  const { story } = viewer;
  if (!step) return ["Start"];
  const { seat, move } = story.moveAt(step);
  const times = timeWords(viewer, step).map((words) => draw.html("small", {}, words));
  const name = draw.html("bdi", {}, story.game.names[seat]);
  return [`${story.states[step].turn}. `, name, " ", ...draw.loggedMove(move), " ", ...times];
};

/**
 * A link to a step in the log. While the pointer is on it, the board lights what the move brought.
 *
 * @param {Viewer} viewer
 */
const stepLink = (viewer, step) => {
  const href = addressOf(viewer, viewer.story.states[step].turn);
  const link = draw.html("a", { href, tabindex: "-1" }, ...loggedStep(viewer, step));
  const light = (isLit) => viewer.table.light(viewer.story.moveAt(step)?.came ?? [], isLit);
  link.addEventListener("pointerenter", () => light(true));
  link.addEventListener("pointerleave", () => light(false));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    stopAt(viewer, step);
  });
  return link;
};

/**
 * Fill the log with all steps of the open game.
 *
 * @param {Viewer} viewer
 */
const fillLog = (viewer) => {
  const { story, parts } = viewer;
  const lines = story.states.map((_, step) => {
    const events = story
      .happened(step)
      .map((event) => eventLine(viewer, event, { tabindex: "-1" }));
    return draw.html(
      "li",
      {},
      stepLink(viewer, step),
      ...events,
      ...costLine(viewer, step, "-1"),
      ...noteLine(viewer, step),
    );
  });
  parts.log.replaceChildren(...lines);
};

/**
 * Mark the shown step in the log, and scroll the log to it.
 *
 * @param {Viewer} viewer
 */
const markLog = ({ parts: { log }, step }) => {
  log.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const entry = /** @type {HTMLElement} */ (log.children[step]?.firstChild);
  if (!entry) return;
  entry.setAttribute("aria-current", "step");
  const top = entry.offsetTop - log.offsetTop;
  const bottom = top + entry.offsetHeight;
  if (top < log.scrollTop || bottom > log.scrollTop + log.clientHeight) {
    log.scrollTop = top - log.clientHeight / 3;
  }
};

/**
 * Write the position into the table of squares.
 *
 * @param {Viewer} viewer
 */
const fillSquares = ({ story, step, parts }) => {
  const { html } = draw;
  const width = story.rows[0].length;
  const { cells } = story.states[step];
  const heads = [...story.rows[0]].map((_, column) =>
    html("th", { scope: "col" }, notation.columnName(column)),
  );
  const lines = story.rows.map((_, row) => {
    const squares = cells.slice(row * width, (row + 1) * width);
    const head = html("th", { scope: "row" }, String(row + 1));
    return html("tr", {}, head, ...squares.map((square) => html("td", {}, square)));
  });
  parts.cells.replaceChildren(
    parts.cells.caption,
    html("thead", {}, html("tr", {}, html("td"), ...heads)),
    html("tbody", {}, ...lines),
  );
};
