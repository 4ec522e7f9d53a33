/* Curves over the moves of a game, with a cursor; a click goes to its step. */
const curves = (() => {
  const { html, svg } = draw;
  const heightOf = (share) => 96 - 92 * share;
  const pathOf = (points) =>
    points.map(([number, share], at) => `${at ? "L" : "M"}${number} ${heightOf(share)}`).join("");
  const stairsOf = (points) =>
    points
      .map(([number, share], at) => `${at ? `H${number}V` : `M${number} `}${heightOf(share)}`)
      .join("");

  const picture = (/** @type {Story} */ story, go, ...children) => {
    const last = Math.max(story.last, 1);
    const found = svg(
      "svg",
      { viewBox: `0 0 ${last} 100`, preserveAspectRatio: "none" },
      ...children,
      svg("path", { class: "cursor" }),
    );
    found.addEventListener("click", (event) =>
      go(Math.round((event.offsetX / found.clientWidth) * last)),
    );
    return found;
  };
  const put = (place, title, drawn) =>
    place.replaceChildren(html("span", {}, title, html("b", { class: "told" })), drawn);
  /* h0: a single point is drawn as a dot. */
  const line = (d, seat) =>
    d
      ? [
          svg("path", { d: `${d}h0`, class: "back" }),
          svg("path", { d: `${d}h0`, class: `s${seat}` }),
        ]
      : [];
  const grid = (last, ...shares) =>
    shares.map((share) => svg("line", { x2: last, y1: heightOf(share), y2: heightOf(share) }));

  /* A line for each seat, from `points(seat)`: pairs of a step and a height, 0 to 1. */
  const lines = (place, title, /** @type {Story} */ story, go, points, { stairs = false } = {}) => {
    const drawn = story.game.bots.flatMap((_, seat) =>
      line((stairs ? stairsOf : pathOf)(points(seat)), seat),
    );
    put(place, title, picture(story, go, ...grid(story.last, 0, 0.5, 1), ...drawn));
  };
  /* The first of two seats' share of the win as an area, the other's above it; the costly moves are
     dots. */
  const shares = (place, title, /** @type {Story} */ story, go, points) => {
    const [first] = points;
    const d = `M0 ${heightOf(first[1])}L${pathOf(points).slice(1)}H${story.last}`;
    const area = [
      svg("rect", { class: "other", width: Math.max(story.last, 1), height: 100 }),
      svg("path", { class: "own", d: `${d}V100H0z` }),
      svg("path", { class: "edge", d }),
      ...grid(story.last, 0.5),
    ];
    put(
      place,
      title,
      picture(
        story,
        go,
        ...area,
        ...dots(story, (number) => points.find(([at]) => at === number)?.[1]),
      ),
    );
  };
  const dots = (/** @type {Story} */ story, shareAt) =>
    story.costly.flatMap((number) => {
      const share = shareAt(number);
      return share === undefined
        ? []
        : ["dot-back", "dot"].map((name) =>
            svg("path", { class: name, d: `M${number} ${heightOf(share)}h0` }),
          );
    });
  const mark = (place, step, told = "") => {
    place.querySelector(".cursor")?.setAttribute("d", `M${step} 0V100`);
    const words = place.querySelector(".told");
    if (words) words.textContent = told;
  };

  return Object.freeze({ lines, shares, mark });
})();
