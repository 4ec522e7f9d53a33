/**
 * The list of what happened in the game.
 *
 * @param {HTMLElement} list
 * @param {(text: string) => (Node | string)[]} withRuleLinks
 * @param {(numbers: number[], isLit: boolean) => void} light lights elements on the board
 */
const logIn = (list, withRuleLinks, light) => {
  const { html } = draw;
  let shownFaults = 0;

  const showEnd = () => {
    list.scrollTop = list.scrollHeight;
  };
  // The list has the room that the seats leave, which are drawn after the first entries.
  new ResizeObserver(showEnd).observe(list);
  const add = (...nodes) => {
    const entry = html("li", {}, ...nodes);
    list.append(entry);
    showEnd();
    return entry;
  };
  const addStep = (/** @type {View} */ view, /** @type {Step} */ step) => {
    const player = html("bdi", {}, playWording.playerNameAtStart(view, step.seat));
    const head = html("p", {}, `${step.turn}. `, player, " ", ...draw.loggedMove(step.move));
    const events = step.events.map(([, words]) => html("span", {}, ...withRuleLinks(words)));
    const entry = add(head, ...events);
    entry.addEventListener("pointerenter", () => light(step.came, true));
    entry.addEventListener("pointerleave", () => light(step.came, false));
  };
  const addFaults = (/** @type {View} */ view) => {
    for (const fault of view.faults.slice(shownFaults)) {
      add(html("span", { class: "key" }, ...withRuleLinks(fault.words)));
    }
    shownFaults = view.faults.length;
  };
  const clear = () => {
    list.replaceChildren();
    shownFaults = 0;
  };
  return Object.freeze({ addStep, addFaults, clear });
};
