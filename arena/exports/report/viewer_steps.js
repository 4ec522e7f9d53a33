/* Steps through the open game: shows one step, goes to others, and plays the game as a film.

   Needs `viewer_state.js`, `viewer_words.js`, `viewer_log.js`, `viewer_curves.js` and
   `viewer_pair.js`. */

/**
 * Say what happened at the shown step.
 *
 * @param {Viewer} viewer
 */
const showWords = (viewer) => {
  const { story, step, parts } = viewer;
  const state = story.states[step];
  const thought = timeWords(viewer, step).map((words) => `Thought for ${words}`);
  const details = [`${state.pile} tiles to draw`, ...thought];
  parts.now.replaceChildren(
    draw.html("strong", {}, ...moveWords(story, step), ". "),
    ...story.happened(step).map((event) => eventLine(viewer, event)),
    draw.html("span", { class: "small" }, ...details.map((words) => `${words}. `)),
    ...costLine(viewer, step),
    ...noteLine(viewer, step),
  );
  parts.step.setAttribute("aria-valuetext", `move ${step} of ${story.last}, tile ${state.turn}`);
};

/**
 * Show a step of the open game and of its twin.
 *
 * @param {Viewer} viewer
 */
const showStep = (viewer, wanted) => {
  const { story, parts, table } = viewer;
  const before = viewer.cursor;
  viewer.cursor = Math.max(0, Math.min(wanted, lastCursor(viewer)));
  viewer.step = Math.min(viewer.cursor, story.last);
  const { cursor, step } = viewer;
  const isNext = cursor === before + 1;
  parts.step.value = String(cursor);
  markCurves(viewer);
  table.show(step, isNext && step === cursor);
  showTwin(viewer, isNext);
  showWords(viewer);
  showPlaces(viewer, []);
  markLog(viewer);
  fillSquares(viewer);
  viewer.shownAddress = addressToShare(viewer, story.states[step].turn, story.passesAt(step));
  parts.link.href = viewer.shownAddress;
  if (cursor === lastCursor(viewer)) stopPlaying(viewer);
};

/**
 * Write the address of the shown step into the address line of the browser.
 *
 * @param {Viewer} viewer
 */
const keepAddress = ({ shownAddress }) => {
  try {
    history.replaceState(null, "", shownAddress);
  } catch {
    /* some browsers refuse it for files; the link is still there */
  }
};

/** Show a step, and put it into the address line. @param {Viewer} viewer */
const goTo = (viewer, step) => {
  showStep(viewer, step);
  keepAddress(viewer);
};

/** Stop playing, and show a step. @param {Viewer} viewer */
const stopAt = (viewer, step) => {
  stopPlaying(viewer);
  goTo(viewer, step);
};

/** @param {Viewer} viewer */
const stopPlaying = (viewer) => {
  clearInterval(viewer.timer);
  viewer.timer = 0;
  viewer.parts.play.setAttribute("aria-pressed", "false");
  namePlayButton(viewer, "Play");
};

/** The name of the button for readers of the screen, and its tooltip. @param {Viewer} viewer */
const namePlayButton = ({ parts: { play } }, name) => {
  play.setAttribute("aria-label", name);
  play.title = name;
};

/** Play from the shown step on; from the start if it is the last one. @param {Viewer} viewer */
const startPlaying = (viewer) => {
  const { parts } = viewer;
  if (viewer.cursor === lastCursor(viewer)) showStep(viewer, 0);
  const showNext = () => goTo(viewer, viewer.cursor + 1);
  viewer.timer = setInterval(showNext, Number(parts.speed.value));
  parts.play.setAttribute("aria-pressed", "true");
  namePlayButton(viewer, "Pause");
};

/** @param {Viewer} viewer */
const togglePlaying = (viewer) => {
  if (viewer.timer) stopPlaying(viewer);
  else startPlaying(viewer);
};

/**
 * Whether a step has an event of the kind that the reader has chosen.
 *
 * @param {Viewer} viewer
 */
const hasEvent = ({ story, parts }, step) => {
  const kinds = story.kindsOf(step);
  return parts.kind.value ? kinds.has(parts.kind.value) : kinds.size > 0;
};

/**
 * Go to the next step with an event, else to the end of the game.
 *
 * @param {Viewer} viewer
 * @param {1 | -1} direction -1 goes to the event before, else to the start
 */
const goToEvent = (viewer, direction) => {
  const { last } = viewer.story;
  let step = viewer.step + direction;
  while (step >= 0 && step <= last && !hasEvent(viewer, step)) step += direction;
  goTo(viewer, Math.max(0, Math.min(step, last)));
};

/**
 * Go to the next key moment: a large change of the chances, a village or province that was taken, or
 * a costly move. After the last one comes the first.
 *
 * @param {Viewer} viewer
 * @param {1 | -1} direction -1 goes to the moment before, and before the first to the last
 */
const goToMoment = (viewer, direction) => goToOneOf(viewer, viewer.story.moments, direction);

/**
 * Go to the next costly move, and after the last one to the first.
 *
 * @param {Viewer} viewer
 * @param {1 | -1} direction -1 goes to the costly move before, and before the first to the last
 */
const goToCostly = (viewer, direction) => goToOneOf(viewer, viewer.story.costly, direction);

/**
 * Go to the next of some steps, and after the last one to the first; backward likewise.
 *
 * @param {Viewer} viewer
 * @param {number[]} steps in their order
 * @param {1 | -1} direction
 */
const goToOneOf = (viewer, steps, direction) => {
  if (!steps.length) return;
  const next =
    direction > 0
      ? (steps.find((step) => step > viewer.step) ?? steps[0])
      : (steps.findLast((step) => step < viewer.step) ?? steps.at(-1));
  stopAt(viewer, next);
};
