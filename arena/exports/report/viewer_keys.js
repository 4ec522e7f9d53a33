/* Keys, buttons and fingers that lead through the open game.

   Needs `viewer_state.js` and `viewer_steps.js`. */

const MIN_SWIPE_PX = 40;

/** What each key does. @type {Record<string, (viewer: Viewer) => void>} */
const KEY_ACTIONS = {
  ArrowRight: (viewer) => goTo(viewer, viewer.cursor + 1),
  ArrowLeft: (viewer) => goTo(viewer, viewer.cursor - 1),
  ArrowDown: (viewer) => goToEvent(viewer, 1),
  ArrowUp: (viewer) => goToEvent(viewer, -1),
  Home: (viewer) => goTo(viewer, 0),
  End: (viewer) => goTo(viewer, lastCursor(viewer)),
  " ": togglePlaying,
  k: (viewer) => goToCostly(viewer, 1),
  K: (viewer) => goToCostly(viewer, -1),
  n: (viewer) => goToMoment(viewer, 1),
  N: (viewer) => goToMoment(viewer, -1),
};

/** What each button does, by its id. @type {Record<string, (viewer: Viewer) => void>} */
const BUTTON_ACTIONS = {
  first: KEY_ACTIONS.Home,
  back: KEY_ACTIONS.ArrowLeft,
  forward: KEY_ACTIONS.ArrowRight,
  last: KEY_ACTIONS.End,
  "event-back": KEY_ACTIONS.ArrowUp,
  "event-on": KEY_ACTIONS.ArrowDown,
  "key-on": KEY_ACTIONS.k,
  "moment-on": KEY_ACTIONS.n,
  "moment-back": KEY_ACTIONS.N,
};

/**
 * Whether a key belongs to the viewer while the focus is on a node. On the board and in the log all
 * keys do. Elsewhere only left, right, K and N do, and on the page of one game also the keys that jump
 * and play: up and down scroll the page.
 *
 * @param {Viewer} viewer
 * @param {Element} focused
 */
const isKeyOfViewer = ({ parts }, focused, key) => {
  if (focused === parts.board || parts.log.contains(focused)) return true;
  if (!isInView(parts.board)) return false;
  const isPageOfOneGame = parts.viewer.closest(".alone") !== null;
  if (key === " ") {
    const hasKeysOfItsOwn = focused.closest("button, input, select, summary, [role=group].scroll");
    return isPageOfOneGame && (focused === parts.step || !hasKeysOfItsOwn);
  }
  const keys = isPageOfOneGame
    ? /^(Arrow(Left|Right)|Home|End|[kKnN])$/
    : /^(Arrow(Left|Right)|[kKnN])$/;
  return keys.test(key) && !focused.closest("input, select, summary, [role=group].scroll");
};

/** Whether an element reaches over the middle of the window. @param {Element} element */
const isInView = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top < innerHeight / 2 && bottom > innerHeight / 2;
};

/** @param {Viewer} viewer */
const connectKeys = (viewer) => {
  document.addEventListener("keydown", (event) => {
    const action = KEY_ACTIONS[event.key];
    const focused = /** @type {Element} */ (event.target);
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!isKeyOfViewer(viewer, focused, event.key)) return;
    event.preventDefault();
    if (event.key !== " ") stopPlaying(viewer);
    action(viewer);
  });
};

/** @param {Viewer} viewer */
const connectButtons = (viewer) => {
  const { parts } = viewer;
  for (const [id, action] of Object.entries(BUTTON_ACTIONS)) {
    document.getElementById(id).addEventListener("click", () => {
      stopPlaying(viewer);
      action(viewer);
    });
  }
  parts.play.addEventListener("click", () => togglePlaying(viewer));
  parts.step.addEventListener("input", () => stopAt(viewer, Number(parts.step.value)));
  parts.speed.addEventListener("change", () => {
    if (!viewer.timer) return;
    stopPlaying(viewer);
    startPlaying(viewer);
  });
};

/** A finger that goes left or right across a board steps. @param {Viewer} viewer */
const connectSwipes = (viewer) => {
  const { parts } = viewer;
  /** @type {Touch | null} */
  let touched = null;
  const onStart = (/** @type {TouchEvent} */ event) => {
    touched = event.touches.length === 1 ? event.touches[0] : null;
  };
  const onEnd = (/** @type {TouchEvent} */ event) => {
    if (!touched) return;
    const [lifted] = event.changedTouches;
    const across = lifted.clientX - touched.clientX;
    const down = lifted.clientY - touched.clientY;
    const isSwipe = Math.abs(across) >= MIN_SWIPE_PX && Math.abs(across) >= 2 * Math.abs(down);
    if (isSwipe) stopAt(viewer, viewer.cursor - Math.sign(across));
  };
  for (const board of [parts.board, parts["twin-board"]]) {
    board.addEventListener("touchstart", onStart, { passive: true });
    board.addEventListener("touchend", onEnd);
  }
};
