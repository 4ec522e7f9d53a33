/**
 * What the page shows once the game has ended: who won by how much, the curve of the person's
 * chance of winning, where the result came from, and the moments that decided the game.
 *
 * @param {PlayParts} parts
 * @param {EndActions} actions
 */
const endIn = (parts, actions) => {
  const { html } = draw;
  const ARROW = "\u00a0\u2192\u00a0";
  /* The moments are drawn once: a later view of the game has the same ones. */
  let isDrawn = false;
  let isBelow = false;
  const tally = tallyIn(parts.playing.dataset.name);

  /* The parts beside the board come below the end. They are put into the page anew, so that they
     are not seen to jump. */
  const moveBelow = () => {
    if (isBelow) return;
    isBelow = true;
    parts.beside.parentElement.append(parts.beside);
    parts.ending.scrollIntoView({ block: "nearest" });
  };
  /* Whoever has won climbs on: then the first button is the one for the next bot. */
  const showButtons = (/** @type {View} */ view) => {
    const [same, harder] = ["same", "harder"].map((how) =>
      parts.over.querySelector(`[data-again=${how}]`),
    );
    const hasWon = view.state === "over" && view.ranks[view.seat] === 1 && harder !== null;
    harder?.toggleAttribute("hidden", !hasWon);
    parts.continue.hidden = !view.left;
    same.classList.toggle("main", !hasWon && !view.left);
  };

  const chanceWords = ({ before, after }) =>
    `Your chance of winning: ${Math.round(100 * before)}${ARROW}${wording.percent(after)}.`;

  /* A small picture of the board before a move. */
  const smallBoard = (/** @type {Story} */ story, step) => {
    const picture = /** @type {SVGSVGElement} */ (
      parts.ground.querySelector("svg.board").cloneNode(true)
    );
    for (const over of picture.querySelectorAll(".lights, .aimed, .ghost, .q-names")) over.remove();
    const live = picture.querySelector(".live");
    for (const layer of live.children) layer.replaceChildren();
    draw.stage(live, story.game.elements)(story.states[step].scene, false);
    picture.removeAttribute("role");
    picture.removeAttribute("aria-label");
    picture.setAttribute("aria-hidden", "true");
    return picture;
  };
  const button = (attributes, words, onClick) => {
    const node = html("button", { type: "button", ...attributes }, words);
    node.addEventListener("click", onClick);
    return node;
  };
  const momentLine = (/** @type {Story} */ story, moment, number) => {
    const tile = moment.turn + 1;
    const small = button({
      class: "small-board",
      "aria-label": `Tile ${tile}: find a better move`,
    });
    small.replaceChildren(smallBoard(story, moment.step));
    small.addEventListener("click", () => actions.onAsk(number));
    const words = [moment.words, chanceWords(moment)].filter(Boolean).join(" ");
    return html(
      "li",
      {},
      small,
      html(
        "div",
        {},
        html("h3", {}, html("span", { class: "turn" }, String(tile)), ` ${moment.title}`),
        html("p", {}, words),
        html(
          "p",
          { class: "acts" },
          button({ class: "ask" }, "Find a better move", () => actions.onAsk(number)),
          button({ class: "retry" }, "Try again from here", () => actions.onRetry(moment.step)),
        ),
      ),
    );
  };
  const showMoments = (/** @type {View} */ view, /** @type {Story} */ story) => {
    isDrawn = true;
    const ignoreClick = () => {};
    const points = view.chances.map((chance, step) => [step, chance]);
    const costly = view.moments.map(({ step }) => step + 1);
    const ofMoments = { ...story, costly };
    if (points.length > 1) {
      curves.shares(parts.chance, "your chance of winning", ofMoments, ignoreClick, points);
    }
    parts.sources.textContent = view.sources;
    parts.moments.classList.add("is-known");
    parts.moments.replaceChildren(
      ...view.moments.map((moment, number) => momentLine(story, moment, number)),
    );
  };

  /**
   * @param {View} view
   * @param {Story} story
   */
  const show = (view, story) => {
    const isEnded = view.state === "over" || view.state === "broken";
    parts.playing.classList.toggle("is-over", isEnded);
    parts.over.hidden = !isEnded;
    parts.leave.hidden = isEnded;
    if (!isEnded) return;
    moveBelow();
    showButtons(view);
    parts.over.classList.toggle("is-broken", view.state === "broken");
    parts.ending.textContent = playWording.endWords(view);
    if (view.ranks) parts.tally.textContent = tally.count(view);
    if (view.seed) parts.seed.textContent = `, seed ${view.seed}`;
    parts.look.hidden = !view.kept;
    if (view.kept) {
      const game = view.game.split("/").map(encodeURIComponent).join("/");
      parts.look.href = `/runs/${encodeURIComponent(view.kept)}/games/${game}`;
      parts.share.hidden = false;
      parts.share.dataset.share = parts.look.getAttribute("href");
    }
    parts.grading.textContent = view.grading ?? "";
    if (view.graded && !isDrawn) showMoments(view, story);
  };
  return Object.freeze({ show });
};
