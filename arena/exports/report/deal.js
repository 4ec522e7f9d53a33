/* A deal with its seats swapped: what each bot made of it, and the tiles that each seat got. */
const dealTables = (() => {
  const { html } = draw;
  const PLACES = ["1st", "2nd", "3rd", "4th"];
  const cell = (...children) => html("td", {}, ...children);

  /* A row for each bot, a column for each game, and the sum. */
  const results = (/** @type {Story[]} */ stories, link) => {
    const bots = [...new Set(stories[0].game.bots)].sort();
    const heads = ["Bot", ...stories.map(({ game }) => link(game)), "Wins", "Left in all"];
    const share = ({ game }, seat) =>
      game.ranks[seat] === 1 ? 1 / game.ranks.filter((rank) => rank === 1).length : 0;
    const lines = bots.map((bot) => {
      const seats = stories.map(({ game }) =>
        [...game.bots.keys()].filter((seat) => game.bots[seat] === bot),
      );
      const sum = (value) =>
        seats
          .flatMap((own, at) => own.map((seat) => value(stories[at], seat)))
          .reduce((one, other) => one + other, 0);
      const cells = seats.map((own, at) => {
        const { game } = stories[at];
        return cell(
          ...own.flatMap((seat, number) => [
            number ? "; " : "",
            draw.badge(seat),
            ` seat ${seat}: ${PLACES[game.ranks[seat] - 1]}, ${game.left[seat]} left`,
          ]),
        );
      });
      const wins = sum(share);
      return html(
        "tr",
        {},
        html("th", { scope: "row" }, html("bdi", {}, bot)),
        ...cells,
        cell(html("b", {}, Number.isInteger(wins) ? String(wins) : wins.toFixed(2))),
        cell(String(sum(({ game }, seat) => game.left[seat]))),
      );
    });
    return [
      html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
      html("tbody", {}, ...lines),
    ];
  };

  /* The tiles of each seat as it got them: one line where the games agree, else one for each game.
   */
  const tiles = (/** @type {Story[]} */ stories, isSeen) =>
    stories[0].game.bots.flatMap((_, seat) => {
      if (!isSeen(seat)) return [];
      const found = stories.map((story) => story.tilesOf(seat));
      const long = found.reduce((one, other) => (other.length > one.length ? other : one));
      const agree = found.every((own) => own.every(([tile], at) => tile === long[at][0]));
      return agree
        ? [line(seat, stories, long)]
        : stories.map((story, at) => line(seat, [story], found[at]));
    });
  const line = (seat, stories, got) => {
    const names = stories.map(({ game }) => html("bdi", {}, game.bots[seat]));
    const who = html(
      "span",
      {},
      `seat ${seat}: `,
      ...names.flatMap((name, at) => (at ? [", then ", name] : [name])),
    );
    const drawn = got.map(([letters, step]) => {
      const tile = draw.domino(letters);
      tile.dataset.step = step;
      return tile;
    });
    return html("li", {}, draw.badge(seat), who, html("div", { class: "got" }, ...drawn));
  };
  /* Pale is what was not drawn yet. */
  const mark = (list, step) => {
    for (const tile of list.querySelectorAll("[data-step]")) {
      tile.classList.toggle("later", Number(tile.dataset.step) > step);
    }
  };

  return Object.freeze({ results, tiles, mark });
})();
