/* The four curves of the viewer: pagodas left, the bots' expected shares of the win, who wins in
   the judge's games, and the time of each move.

   Needs `curves.js`, `viewer_state.js` and `viewer_words.js`. A click on a curve calls `stopAt` of
   `viewer_steps.js`. */

/**
 * The shares of the win after each graded move: a step, a share, and the seat whose share it is. In
 * a game of two all shares are those of seat 0.
 *
 * @param {Viewer} viewer
 * @returns {[step: number, share: number, seat: number][]}
 */
const winPoints = ({ story }) => {
  const isGameOfTwo = story.game.bots.length === 2;
  /** @type {[number, number, number][]} */
  const points = [];
  for (const step of story.states.keys()) {
    const share = story.winAt(step);
    if (share === undefined) continue;
    const { seat } = story.moveAt(step);
    if (isGameOfTwo) points.push([step, seat ? 1 - share : share, 0]);
    else points.push([step, share, seat]);
  }
  return points;
};

/**
 * The shares of both seats at the shown step, such as "a 60 % · 40 % b"; empty in a larger game, and
 * before the first graded move.
 *
 * @param {Viewer} viewer
 */
const winWordsAtStep = (viewer) => {
  const { story, step } = viewer;
  const latest = winPoints(viewer).findLast((point) => point[0] <= step);
  if (story.game.bots.length !== 2 || !latest) return "";
  const share = Math.round(100 * latest[1]);
  const [first, second] = story.game.names;
  return `${first} ${share}\u00a0% \u00b7 ${100 - share}\u00a0% ${second}`;
};

/** @param {Viewer} viewer @param {(step: number) => void} onClick */
const fillRace = ({ story, parts }, onClick) => {
  const { game, states } = story;
  const pagodasOf = (seat) => states.map(({ left }, step) => [step, left[seat] / game.stock]);
  curves.lines(parts.race, "Pagodas still to place", story, onClick, pagodasOf, { stairs: true });
};

/** @param {Viewer} viewer @param {(step: number) => void} onClick */
const fillNotedShares = (viewer, onClick) => {
  const { story, parts } = viewer;
  const points = story.game.steps.flatMap((move, index) => {
    const share = noteAt(viewer, index + 1)?.[1];
    return share == null ? [] : [[index + 1, share, move.seat]];
  });
  const pointsOf = (seat) => points.filter((point) => point[2] === seat);
  parts.values.hidden = points.length === 0;
  const title = "Chance of winning, as the bots saw it";
  curves.lines(parts.values, title, story, onClick, pointsOf);
};

/** @param {Viewer} viewer @param {(step: number) => void} onClick */
const fillWins = (viewer, onClick) => {
  const { story, parts } = viewer;
  const points = winPoints(viewer);
  const title = "Chance of winning, estimated by playing on many times";
  parts.wins.hidden = points.length === 0;
  parts.wins.title = `Estimated by ${story.game.judge}`;
  if (points.length && story.game.bots.length === 2) {
    curves.shares(parts.wins, title, story, onClick, points);
  } else {
    const pointsOf = (seat) => points.filter((point) => point[2] === seat);
    curves.lines(parts.wins, title, story, onClick, pointsOf);
  }
};

/** @param {Viewer} viewer @param {(step: number) => void} onClick */
const fillTimes = ({ story, parts }, onClick) => {
  const { steps } = story.game;
  const longestMs = Math.max(...steps.map((move) => move.ms ?? 0));
  const pointsOf = (seat) =>
    steps.flatMap((move, index) => {
      const isTimed = move.seat === seat && move.ms !== undefined;
      return isTimed ? [[index + 1, move.ms / longestMs]] : [];
    });
  parts.times.hidden = longestMs === 0;
  curves.lines(
    parts.times,
    `Time for each move, at most ${wording.secondsWords(longestMs)}`,
    story,
    onClick,
    pointsOf,
  );
};

/**
 * Draw all curves of the open game.
 *
 * @param {Viewer} viewer
 */
const fillCurves = (viewer) => {
  const onClick = (step) => stopAt(viewer, step);
  fillRace(viewer, onClick);
  fillNotedShares(viewer, onClick);
  fillWins(viewer, onClick);
  fillTimes(viewer, onClick);
};

/**
 * Put the cursors of all curves at the shown step.
 *
 * @param {Viewer} viewer
 */
const markCurves = (viewer) => {
  const { parts, step } = viewer;
  curves.mark(parts.wins, step, winWordsAtStep(viewer));
  for (const curve of [parts.race, parts.values, parts.times]) curves.mark(curve, step);
};
