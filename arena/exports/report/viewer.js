/* The viewer of finished games: opens the game that the reader or the address chooses. It does
   nothing on pages without games.

   Needs all scripts `viewer_*.js`. */

/**
 * Open a game at the position after `turn` tiles and then `passes` passes.
 *
 * @param {Viewer} viewer
 * @param {Story} story
 * @param {string} [beside] the id of the game to put beside it
 */
const openGame = (viewer, story, turn, passes, beside) => {
  stopPlaying(viewer);
  if (story !== viewer.story) showGame(viewer, story);
  const isOfDeal = story.game.seatings?.includes(beside) && beside !== story.game.id;
  setTwin(viewer, isOfDeal ? storyNamed(viewer, beside) : null);
  fillLog(viewer);
  showStep(viewer, story.stepOf(turn, passes));
};

/**
 * Show all that does not depend on the step.
 *
 * @param {Viewer} viewer
 * @param {Story} story
 */
const showGame = (viewer, story) => {
  const { parts } = viewer;
  const { game } = story;
  viewer.story = story;
  parts.game.value = game.id;
  viewer.table.open(story);
  const seats = game.names.map((name, seat) =>
    draw.html("option", { value: seat }, `as ${name} saw them`),
  );
  parts.eyes.replaceChildren(draw.html("option", { value: "" }, "all of them"), ...seats);
  const isAlone = parts.viewer.closest(".alone") !== null;
  parts.result.replaceChildren(...headingOf(story, isAlone));
  parts["key-on"].hidden = !story.costly.length;
  parts["moment-on"].hidden = !story.moments.length;
  parts["moment-back"].hidden = !story.moments.length;
  parts.tries.hidden = !story.game.steps.some((step) => step.tries);
  fillCurves(viewer);
};

/**
 * Open the game that the address of the page names.
 *
 * @param {Viewer} viewer
 * @returns {boolean} whether it names one
 */
const openFromAddress = (viewer) => {
  const { game, turn, beside } = fieldsOfAddress(location.hash || location.search);
  const id = game ?? (turn === undefined ? "" : viewer.games[0].id);
  const story = storyNamed(viewer, id);
  if (!story) return false;
  const [tiles, passes] = (turn ?? "0").split(".").map(Number);
  openGame(viewer, story, tiles || 0, passes || 0, beside);
  return true;
};

/**
 * Bring the viewer into sight. The page of one game begins with it: there nothing moves if the board
 * and its controls are in sight already.
 *
 * @param {Viewer} viewer
 */
const scrollToViewer = ({ parts }) => {
  if (parts.viewer.closest(".alone")) {
    parts.board.closest(".field").scrollIntoView({ behavior: "instant", block: "nearest" });
  } else {
    parts.viewer.scrollIntoView({ behavior: "instant" });
  }
  parts.board.focus({ preventScroll: true });
};

/**
 * Fill the list of games. It is hidden if all games are of one deal: then there are buttons.
 *
 * @param {Viewer} viewer
 */
const fillChoice = ({ games, parts }) => {
  const options = games.map(({ id, reasons }) => {
    const reason = reasons.length ? ` (${reasons[0]})` : "";
    return draw.html("option", { value: id }, id + reason);
  });
  parts.game.append(...options);
  const [first] = games;
  parts.choice.hidden = games.every((game) => game === first || first.seatings?.includes(game.id));
};

/** @param {Viewer} viewer */
const connectChoices = (viewer) => {
  const { parts } = viewer;
  parts.viewer.addEventListener("click", (event) => showRule(viewer, event));
  parts.eyes.addEventListener("change", () => {
    fillCurves(viewer);
    fillLog(viewer);
    fillDealTiles(viewer);
    showStep(viewer, viewer.cursor);
  });
  parts.game.addEventListener("change", () => {
    openGame(viewer, storyNamed(viewer, parts.game.value), 0, 0);
    keepAddress(viewer);
  });
  addEventListener("hashchange", () => {
    if (openFromAddress(viewer)) scrollToViewer(viewer);
  });
};

/** The page of one game begins at its first tile, a report at the end of its first game. */
const firstTurn = (/** @type {Viewer} */ { parts }) =>
  parts.viewer.closest(".alone") ? 1 : Infinity;

/** @param {HTMLElement} element the element that has the games of the page as JSON */
const startViewer = (element) => {
  const viewer = makeViewer(JSON.parse(element.textContent));
  connectKeys(viewer);
  connectButtons(viewer);
  connectSwipes(viewer);
  connectChoices(viewer);
  fillChoice(viewer);
  viewer.parts.viewer.hidden = false;
  if (openFromAddress(viewer)) scrollToViewer(viewer);
  else openGame(viewer, storyNamed(viewer, viewer.games[0].id), firstTurn(viewer), 0);
};

const gamesData = document.getElementById("games-data");
if (gamesData) startViewer(gamesData);
