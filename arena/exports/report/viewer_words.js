/* What the viewer says about one step of a game: the move, what it brought, its note and its cost.
   The numbers of rules are links to their texts.

   Needs `words.js`, `board.js` and `viewer_state.js`. A click on a better move calls `goTo` of
   `viewer_steps.js`. */

/**
 * A link to the text of a rule at the end of the page, which is the link's tooltip too.
 *
 * @param {Viewer} viewer
 * @returns {HTMLAnchorElement | null} null for a rule that the page does not have
 */
const ruleLink = ({ rules }, number, attributes = {}) => {
  if (!rules[number]) return null;
  const href = `#${wording.ruleId(number)}`;
  return draw.html("a", { href, title: rules[number], class: "rule", ...attributes }, number);
};

/**
 * Show the text of a rule in the page when its link is clicked. A browser that cannot do that
 * follows the link.
 *
 * @param {Viewer} viewer
 */
const showRule = ({ parts }, event) => {
  const link = event.target.closest("a.rule");
  const box = parts["rule-text"];
  if (!link || !box.showPopover) return;
  event.preventDefault();
  box.replaceChildren(draw.html("b", {}, link.textContent), ` ${link.title}`);
  box.showPopover();
};

/**
 * The note of the bot with its move.
 *
 * @param {Viewer} viewer
 * @returns {Step["note"] | null} null if there is none, or if the seat's hand is not shown
 */
const noteAt = (viewer, step) => {
  const move = viewer.story.moveAt(step);
  return move?.note && isHandSeen(viewer, move.seat) ? move.note : null;
};

/** The time that a move took, as a list of at most one text. @param {Viewer} viewer */
const timeWords = ({ story }, step) => {
  const time = story.moveAt(step)?.ms;
  return time === undefined ? [] : [`${time} ms`];
};

/** The note at a step, as a list of at most one node. @param {Viewer} viewer */
const noteLine = (viewer, step) => {
  const note = noteAt(viewer, step);
  if (!note) return [];
  const { game } = viewer.story;
  const who = `note of ${game.names[viewer.story.moveAt(step).seat]}: `;
  return [draw.html("span", { class: "note" }, who, draw.html("bdi", {}, note[0]))];
};

/**
 * A button that shows a better move on the board while the pointer or the focus is on it.
 *
 * @param {Viewer} viewer
 * @param {string} move
 */
const betterMoveButton = (viewer, step, move, tabindex) => {
  const button = draw.html(
    "button",
    { type: "button", class: "better", tabindex },
    draw.domino(notation.parseMove(move).tile),
    move,
  );
  const showHere = () => viewer.step === step && viewer.table.showGhost(move);
  for (const name of ["pointerenter", "focus"]) button.addEventListener(name, showHere);
  for (const name of ["pointerleave", "blur"]) {
    button.addEventListener(name, () => viewer.table.showGhost(""));
  }
  button.addEventListener("click", () => {
    goTo(viewer, step);
    viewer.table.showGhost(move);
  });
  return button;
};

/**
 * What a costly move cost, and a better move, as a list of one node; empty for any other move.
 *
 * @param {Viewer} viewer
 */
const costLine = (viewer, step, tabindex = "0") => {
  const verdict = viewer.story.costOf(step);
  if (!verdict) return [];
  const { adviser, judge } = viewer.story.game;
  const cost = `${wording.percent(verdict.cost, 1)} \u00b1 ${wording.percent(verdict.error, 1)}`;
  const line = draw.html(
    "span",
    { class: "key" },
    draw.html("b", { "aria-hidden": "true", class: "mark" }),
    `costs ${cost} of the win, says ${judge}; better: `,
    betterMoveButton(viewer, step, verdict.better, tabindex),
    adviser ? `, named by ${adviser}` : "",
  );
  return [line];
};

/**
 * An event such as a founded province.
 *
 * @param {Viewer} viewer
 * @param {string[]} event its kind, and what happened in words
 */
const eventLine = (viewer, [kind, words], linkAttributes = {}) =>
  draw.html(
    "span",
    {},
    draw.html("b", { class: `kind ${kind}`, "aria-hidden": "true" }, kind),
    ...wording.withRuleLinks(words, (number) => ruleLink(viewer, number, linkAttributes)),
  );

/**
 * Who plays what, with a picture of the tile.
 *
 * @param {Story} story
 * @returns {(string | Node)[]}
 */
const moveWords = (story, step) => {
  const move = story.moveAt(step);
  if (!move) return ["Start"];
  const who = story.game.names[move.seat];
  const isPlaced = notation.parseMove(move.move) !== null;
  const places = isPlaced ? " places" : "";
  return [`Turn ${move.turn}: ${who}${places} `, ...draw.loggedMove(move.move)];
};

/**
 * Above the board: who played, on which board and deal, and who won.
 *
 * @param {Story} story
 */
const headingOf = (story) => {
  const { game, states } = story;
  const names = game.bots.flatMap((bot, seat) => {
    const name = draw.html("bdi", {}, bot);
    return seat ? [" \u2013 ", name] : [name];
  });
  const details = ` ${game.board}, deal ${game.deal}, ${states.at(-1).turn} tiles.`;
  const result = ` ${story.winWords()} (${game.end}).`;
  const reasons = game.reasons.length ? ` Chosen for: ${game.reasons.join("; ")}.` : "";
  return [draw.html("strong", {}, ...names), details + result + reasons];
};
