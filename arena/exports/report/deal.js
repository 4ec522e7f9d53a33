/* Tables about the games of one deal: how each bot did in it, and the tiles that each seat got. */
const dealTables = (() => {
  const { html } = draw;
  const PLACES = ["1st", "2nd", "3rd", "4th"];
  const cell = (...children) => html("td", {}, ...children);

  /* A row for each bot, a column for each game, and the sum. */
  const results = (/** @type {Story[]} */ stories, link) => {
    const bots = [...new Set(stories[0].game.bots)].sort();
    const heads = ["Bot", ...stories.map(({ game }) => link(game)), "Wins", "Left in all"];
    const shareOfWin = ({ game }, seat) =>
      game.ranks[seat] === 1 ? 1 / wording.winnersOf(game).length : 0;
    const pagodasLeft = ({ game }, seat) => game.left[seat];
    const lines = bots.map((bot) => {
      const seatsIn = ({ game }) => [...game.bots.keys()].filter((seat) => game.bots[seat] === bot);
      const sum = (value) => {
        let total = 0;
        for (const story of stories) {
          for (const seat of seatsIn(story)) total += value(story, seat);
        }
        return total;
      };
      const cells = stories.map((story) => {
        const { game } = story;
        return cell(
          ...seatsIn(story).flatMap((seat, index) => [
            index ? "; " : "",
            draw.badge(seat),
            ` ${wording.turnWords(seat)}: ${PLACES[game.ranks[seat] - 1]}, ${game.left[seat]} left`,
          ]),
        );
      });
      const wins = sum(shareOfWin);
      return html(
        "tr",
        {},
        html("th", { scope: "row" }, html("bdi", {}, bot)),
        ...cells,
        cell(html("b", {}, Number.isInteger(wins) ? String(wins) : wins.toFixed(2))),
        cell(String(sum(pagodasLeft))),
      );
    });
    return [
      html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
      html("tbody", {}, ...lines),
    ];
  };

  /* The tiles of each seat in the order in which it got them: one line if all games agree, else one
     line for each game. */
  const tiles = (/** @type {Story[]} */ stories, isSeen) =>
    stories[0].game.bots.flatMap((_, seat) => {
      if (!isSeen(seat)) return [];
      const lists = stories.map((story) => story.tilesOf(seat));
      const longest = lists.reduce((best, list) => (list.length > best.length ? list : best));
      const doAgree = lists.every((list) =>
        list.every(([tile], index) => tile === longest[index][0]),
      );
      if (doAgree) return [line(seat, stories, longest)];
      return stories.map((story, index) => line(seat, [story], lists[index]));
    });
  const line = (seat, stories, received) => {
    const names = stories.map(({ game }) => html("bdi", {}, game.bots[seat]));
    const who = html(
      "span",
      {},
      `${wording.turnWords(seat)}: `,
      ...names.flatMap((name, index) => (index ? [", then ", name] : [name])),
    );
    const drawn = received.map(([letters, step]) => {
      const tile = draw.domino(letters);
      tile.dataset.step = step;
      return tile;
    });
    return html("li", {}, draw.badge(seat), who, html("div", { class: "got" }, ...drawn));
  };
  /* Make the tiles pale that were not drawn yet at a step. */
  const mark = (list, step) => {
    for (const tile of list.querySelectorAll("[data-step]")) {
      tile.classList.toggle("later", Number(tile.dataset.step) > step);
    }
  };

  return Object.freeze({ results, tiles, mark });
})();
