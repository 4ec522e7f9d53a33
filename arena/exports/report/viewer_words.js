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
const ruleLink = ({ rules }, number, attributes = {}, text = number) => {
  if (!rules[number]) return null;
  const href = `#${wording.ruleId(number)}`;
  const all = { href, title: rules[number], class: "rule", "data-rule": number, ...attributes };
  return draw.html("a", all, text);
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
  box.replaceChildren(draw.html("b", {}, link.dataset.rule), ` ${link.title}`);
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
  return time ? [wording.secondsWords(time)] : [];
};

/** The note at a step, as a list of at most one node. @param {Viewer} viewer */
const noteLine = (viewer, step) => {
  const note = noteAt(viewer, step);
  if (!note) return [];
  const { game } = viewer.story;
  const who = `${game.names[viewer.story.moveAt(step).seat]} notes: `;
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
    { class: "key", title: `Estimated by playing on many times (${judge})` },
    draw.html("b", { "aria-hidden": "true", class: "mark" }),
    `costs ${cost} of the chance to win; better: `,
    betterMoveButton(viewer, step, verdict.better, tabindex),
    adviser ? `, named by ${adviser}` : "",
  );
  return [line];
};

/** A short name for each kind of event. */
const EVENT_NAMES = {
  found: "new",
  expand: "larger",
  absorb: "joined",
  major: "five or more",
  connect: "village",
  conquer: "village taken",
  home: "back",
  end: "end",
};

/**
 * An event such as a founded province.
 *
 * @param {Viewer} viewer
 * @param {string[]} event its kind, what happened in words, and the number of its rule, if it has one
 */
const eventLine = (viewer, [kind, words, rule], linkAttributes = {}) => {
  const why = rule ? ruleLink(viewer, rule, linkAttributes, "why?") : null;
  return draw.html(
    "span",
    {},
    draw.html("b", { class: `kind ${kind}`, "aria-hidden": "true" }, EVENT_NAMES[kind] ?? kind),
    ...wording.withRuleLinks(words, (number) => ruleLink(viewer, number, linkAttributes)),
    ...(why ? [" ", why] : []),
  );
};

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
  const words = isPlaced ? wording.does(who, "place") : who;
  return [`Tile ${move.turn}: ${words} `, ...draw.loggedMove(move.move)];
};

/**
 * Above the board: who played, on which board, and who won; in a report also the number of the deal.
 *
 * @param {Story} story
 * @param {boolean} isAlone whether the page is that of one game
 */
const headingOf = (story, isAlone) => {
  const { game, states } = story;
  const names = game.bots.flatMap((bot, seat) => {
    const name = draw.html("bdi", {}, bot);
    return seat ? [" \u2013 ", name] : [name];
  });
  const board = game.board.charAt(0).toUpperCase() + game.board.slice(1);
  const deal = isAlone ? "" : `, deal ${game.deal}`;
  const details = ` ${board}${deal}, ${states.at(-1).turn} tiles.`;
  const result = ` ${story.winWords()}: ${wording.endReason(game)}.`;
  const reasons = game.reasons.length ? ` Chosen for: ${game.reasons.join("; ")}.` : "";
  return [draw.html("strong", {}, ...names), details + result + reasons];
};
