/**
 * The slot beside the board, which has one of three things at a time: what has happened, what the
 * aimed move would do, or why something was refused. Its height is fixed, so that nothing else on
 * the page moves.
 *
 * @param {PlayParts} parts
 * @param {(number: string, words?: string) => Node | null} ruleLink a link to the text of a rule
 */
const slotIn = (parts, ruleLink) => {
  const { html } = draw;
  const MAX_LINES = 4;
  const box = parts.said.parentElement;
  /* What happened, a node for each step, as far as it is among the words in the slot. */
  /** @type {HTMLElement[]} */
  let news = [];

  const isFull = () => box.scrollHeight > box.clientHeight;
  /* Hide the earliest steps where the words do not fit; the list of what happened has them, too. */
  const hideOldNews = () => {
    for (const step of news) step.classList.remove("unseen");
    for (const step of news) {
      if (!isFull()) return;
      step.classList.add("unseen");
    }
  };
  const showOne = () => {
    const isRefused = !parts.refused.hidden;
    parts.does.hidden = isRefused || !parts.does.childElementCount;
    const isSaid = !isRefused && parts.does.hidden;
    parts.said.classList.toggle("unseen", !isSaid);
    if (isSaid) hideOldNews();
  };

  /* Such as "you 18 → 17", for each seat whose number of pagodas changes. */
  const changes = (/** @type {View} */ view, /** @type {number[]} */ left) => {
    const before = view.steps.at(-1)?.left ?? view.names.map(() => view.stock);
    const changed = left.map((_, seat) => seat).filter((seat) => left[seat] !== before[seat]);
    return changed.map((seat) => {
      const isGood = left[seat] < before[seat] === (seat === view.seat);
      const words = `${playWording.playerName(view, seat)} ${before[seat]} \u2192 ${left[seat]}`;
      return html("span", { class: isGood ? "change good" : "change bad" }, html("bdi", {}, words));
    });
  };
  const lineOf = ([kind, , words, why, rule]) => {
    const link = ruleLink(rule, "why?");
    const reason = html("span", { class: "why" }, why ? `${why} ` : "");
    const small = html("small", {}, reason, ...(link ? [link] : []));
    return html("li", { class: `does-${kind}` }, html("span", {}, words), " ", small);
  };

  /**
   * Show what a move would do; null shows what has happened instead.
   *
   * @param {View} view
   * @param {string | null} move
   */
  const showEffects = (view, move) => {
    const effects = move ? view.effects.moves[move] : null;
    // A legal aim takes the place of what was refused before.
    if (effects) parts.refused.hidden = true;
    if (!effects) {
      parts.does.replaceChildren();
      showOne();
      return;
    }
    const [left, numbers] = effects;
    const lines = numbers.slice(0, MAX_LINES).map((number) => lineOf(view.effects.lines[number]));
    const head = html("p", { class: "does-head" }, html("b", {}, "What this move does"), " ");
    const changed = changes(view, left);
    if (changed.length) head.append(...changed, html("small", {}, "to place"));
    parts.does.replaceChildren(head, html("ul", {}, ...lines));
    parts.does.classList.remove("brief");
    showOne();
    // Where the slot is too small for the reasons, the links to them are enough.
    if (isFull()) parts.does.classList.add("brief");
  };
  /**
   * Show words, among them the news.
   *
   * @param {HTMLElement[]} steps what happened, a node for each step
   * @param {(Node | string)[]} words all words, with these nodes
   */
  const showNews = (steps, words) => {
    news = steps;
    parts.said.replaceChildren(...words);
    showOne();
  };
  const showWords = (...nodes) => showNews([], nodes);
  const showRefusal = (...nodes) => {
    parts.refused.hidden = nodes.length === 0;
    parts.refused.replaceChildren(...nodes);
    showOne();
  };

  /**
   * Ask whether a move is to be placed though it costs much.
   *
   * @param {{ cost: number, words: string }} caution
   * @param {() => void} onPlace
   * @param {() => void} onLeave
   */
  const showCaution = ({ cost, words }, onPlace, onLeave) => {
    const button = (label, isMain, onClick) => {
      const node = html("button", { type: "button", class: isMain ? "main" : "" }, label);
      node.addEventListener("click", () => {
        showRefusal();
        onClick();
      });
      return node;
    };
    const think = button("Think again", true, onLeave);
    showRefusal(
      html("b", {}, `This costs about ${wording.percent(cost)} of your chance of winning.`),
      ` ${words} `,
      html("span", { class: "acts" }, think, button("Place it all the same", false, onPlace)),
    );
    think.focus();
  };

  return Object.freeze({ showCaution, showEffects, showNews, showWords, showRefusal });
};
