/* Curves over the moves of a game, with a cursor; a click goes to its step. */
const curves = (() => {
  const { html, svg } = draw;
  const heightOf = (share) => 96 - 92 * share;
  /* The `d` of an SVG path through points, which are pairs of a step and a share. The path goes
     straight from point to point, or as stairs. */
  const linePath = (points) => {
    const drawTo = ([step, share], index) => `${index ? "L" : "M"}${step} ${heightOf(share)}`;
    return points.map(drawTo).join("");
  };
  const stairsPath = (points) => {
    const drawTo = ([step, share], index) =>
      index ? `H${step}V${heightOf(share)}` : `M${step} ${heightOf(share)}`;
    return points.map(drawTo).join("");
  };

  const picture = (/** @type {Story} */ story, go, ...children) => {
    const last = Math.max(story.last, 1);
    const node = svg(
      "svg",
      { viewBox: `0 0 ${last} 100`, preserveAspectRatio: "none" },
      ...children,
      svg("path", { class: "cursor" }),
    );
    node.addEventListener("click", (event) =>
      go(Math.round((event.offsetX / node.clientWidth) * last)),
    );
    return node;
  };
  const fill = (container, title, drawing) =>
    container.replaceChildren(html("span", {}, title, html("b", { class: "at-cursor" })), drawing);
  /* The line of a seat on its background. `h0` draws a single point as a dot. */
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
  const lines = (container, title, /** @type {Story} */ story, go, points, options = {}) => {
    const pathOf = options.stairs ? stairsPath : linePath;
    const drawn = story.game.bots.flatMap((_, seat) => line(pathOf(points(seat)), seat));
    fill(container, title, picture(story, go, ...grid(story.last, 0, 0.5, 1), ...drawn));
  };
  /* A game of two: the share of seat 0 of the win as an area, that of seat 1 above it. `points` are
     pairs of a step and the share of seat 0, from 0 to 1. Costly moves are dots. */
  const shares = (container, title, /** @type {Story} */ story, go, points) => {
    const [first] = points;
    const d = `M0 ${heightOf(first[1])}L${linePath(points).slice(1)}H${story.last}`;
    const area = [
      svg("rect", { class: "other", width: Math.max(story.last, 1), height: 100 }),
      svg("path", { class: "own", d: `${d}V100H0z` }),
      svg("path", { class: "edge", d }),
      ...grid(story.last, 0.5),
    ];
    const shareAt = (step) => points.find((point) => point[0] === step)?.[1];
    fill(container, title, picture(story, go, ...area, ...dots(story, shareAt)));
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
  /* Put the cursor at a step, with a text beside the title. */
  const mark = (container, step, text = "") => {
    container.querySelector(".cursor")?.setAttribute("d", `M${step} 0V100`);
    const label = container.querySelector(".at-cursor");
    if (label) label.textContent = text;
  };

  return Object.freeze({ lines, shares, mark });
})();
