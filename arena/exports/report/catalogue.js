/* The list of the games on a page: the reader chooses whose games it has, or comes from the line of
   two bots with an address that names both.

   Needs `board.js` and `viewer_state.js`. */

/** @param {HTMLDetailsElement} box the list, which is closed at first */
const startCatalogue = (box) => {
  /** @type {HTMLElement} */
  const choices = box.querySelector(".choices");
  const [bot, other, winner] = choices.querySelectorAll("select");
  const status = choices.querySelector("[role=status]");
  /** @type {NodeListOf<HTMLElement>} */
  const rows = box.querySelectorAll("tbody tr");
  const entries = [...rows].map((row) => ({
    row,
    /** @type {string[]} */
    bots: JSON.parse(row.dataset.bots),
    /** @type {string[]} */
    winners: JSON.parse(row.dataset.won),
  }));
  const names = [...new Set(entries.flatMap(({ bots }) => bots))];
  names.sort((one, two) => one.localeCompare(two, "en", { numeric: true }));
  for (const select of [bot, other, winner]) {
    select.append(...names.map((name) => draw.html("option", { value: name }, name)));
    select.addEventListener("change", () => showChosen());
  }

  const showChosen = () => {
    const players = [bot.value, other.value].filter(Boolean);
    for (const { row, bots, winners } of entries) {
      const isOfThem = players.every((name) => bots.includes(name));
      row.hidden = !isOfThem || (winner.value !== "" && !winners.includes(winner.value));
    }
    const shown = entries.filter(({ row }) => !row.hidden).length;
    status.textContent = `${shown} of ${entries.length} games`;
  };
  const showNamed = () => {
    const { games, with: rival } = fieldsOfAddress(location.hash);
    if (games === undefined) return;
    bot.value = games;
    other.value = rival ?? "";
    winner.value = "";
    showChosen();
    box.open = true;
    box.scrollIntoView({ behavior: "instant" });
    box.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", showNamed);
  choices.hidden = false;
  showChosen();
  showNamed();
};

/** @type {HTMLDetailsElement} */
const gamesList = document.querySelector(".catalogue:has(.choices)");
if (gamesList) startCatalogue(gamesList);
