/* Drawing: nodes, hands, pagodas, and the scenes of a game, whose elements the page says. It knows
   no rule of the game. */
const draw = (() => {
  const PAGODAS = 3; // the layer
  const SIDE = 40; // of a square
  const SVG = "http://www.w3.org/2000/svg";

  /**
   * @template {keyof SVGElementTagNameMap} Name
   * @param {Name} name
   * @returns {SVGElementTagNameMap[Name]}
   */
  const svg = (name, attributes = {}, ...children) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  /**
   * @template {keyof HTMLElementTagNameMap} Name
   * @param {Name} name
   * @returns {HTMLElementTagNameMap[Name]}
   */
  const html = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const part = (name, x = 0, y = 0) => svg("use", { href: `#${name}`, x, y });

  /* An element is a part at a place, or the border of an area in the colour of its owner. */
  const drawn = ([, what, ...rest]) =>
    typeof what === "string"
      ? part(what, ...rest)
      : svg(
          "g",
          { class: `q${what}` },
          svg("path", { class: "q-casing", d: rest[0] }),
          svg("path", { class: "q-border", d: rest[0] }),
        );

  /* The board on which scenes are shown, one after the other: only what changes is touched. */
  const stage = (live, elements) => {
    const nodes = new Map();
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    const show = (scene, isNext) => {
      const wanted = new Set(scene);
      for (const [number, node] of nodes) {
        if (wanted.has(number)) continue;
        nodes.delete(number);
        node.remove();
      }
      for (const number of scene) {
        const node = nodes.get(number) ?? drawn(elements[number]);
        const isNew = !nodes.has(number);
        node.classList.toggle("new", isNew && isNext && !calm.matches);
        nodes.set(number, node);
        if (isNew) live.children[elements[number][0]].append(node);
      }
    };
    show.light = (numbers, isLit) =>
      numbers.forEach((number) => nodes.get(number)?.classList.toggle("lit", isLit));
    return show;
  };

  /* A pagoda leaves the board for the place where its owner's pagodas are. */
  const flyHome = (live, [, name, x, y], home) => {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const node = part(name, x, y);
    live.append(node);
    const [from, to] = [node.getBoundingClientRect(), home.getBoundingClientRect()];
    const scale = SIDE / from.width;
    const way = `translate(${(to.x - from.x) * scale}px, ${(to.y - from.y) * scale}px)`;
    const flight = node.animate(
      [
        { transform: "none" },
        { transform: "translate(0, -20px)", offset: 0.25 },
        { transform: way, opacity: 0.4 },
      ],
      { duration: 900, easing: "ease-in-out" },
    );
    flight.onfinish = flight.oncancel = () => node.remove();
  };

  /* What a move sent home: a pagoda that went, unless another of the same owner came in its place.
   */
  const sendHome = (live, elements, { came = [], went = [] }, homeOf) => {
    const owner = (element) => element[1].at(-1);
    const pagodas = (numbers) =>
      numbers.map((number) => elements[number]).filter(([layer]) => layer === PAGODAS);
    const there = pagodas(came);
    for (const one of pagodas(went)) {
      const stays = there.some(
        (other) => owner(other) === owner(one) && other[2] === one[2] && other[3] === one[3],
      );
      if (!stays) flyHome(live, one, homeOf(owner(one)));
    }
  };

  const badge = (seat) =>
    svg("svg", { viewBox: "3 0 34 40", class: "badge", "aria-hidden": "true" }, part(`q2${seat}`));

  const domino = (letters) => {
    const known = letters !== "??";
    const node = svg("svg", {
      viewBox: "0 0 82 42",
      class: "domino",
      role: "img",
      "aria-label": known ? letters : "hidden tile",
    });
    if (known) node.append(part(`q${letters}h`));
    else {
      node.append(
        svg("rect", { x: 2, y: 2, width: 76, height: 36, rx: 7, class: "cover" }),
        svg("text", { x: 40, y: 26 }, "?"),
      );
    }
    return node;
  };

  /* A move's tile in its place, in a frame. */
  const tile = (move) => {
    const [, one, column, row, other, , below] = /^(\w)([a-z])(\d+)(\w)([a-z])(\d+)$/.exec(move);
    const way = row === below ? "h" : "v";
    const [x, y] = [(column.charCodeAt(0) - 97) * SIDE, (Number(row) - 1) * SIDE];
    return [part(`q${one}${other}${way}`, x, y), part(`qlast${way}`, x, y)];
  };

  /* A move in a log: its tile as a picture, and the squares that it covers. */
  const laid = (move) => {
    const found = /^(\w)([a-z]\d+)(\w)([a-z]\d+)$/.exec(move);
    return found ? [domino(found[1] + found[3]), ` ${found[2]}\u2013${found[4]}`] : ["passes"];
  };

  /* Words with every rule in them as ``link`` makes it; the number stays where that makes nothing.
   */
  const linked = (words, link) =>
    words.split(/\b(R\d\.\d)\b/).map((part) => (/^R\d\.\d$/.test(part) && link(part)) || part);

  /* The pagodas that a seat still holds, and the places of those it has put on the board. */
  const stock = (seat, left, all) => {
    const node = svg("svg", {
      viewBox: `0 0 ${all * 32} 40`,
      class: "stock",
      preserveAspectRatio: "xMinYMid meet",
      "aria-hidden": "true",
    });
    for (let number = 0; number < all; number += 1) {
      node.append(
        number < left
          ? part(`q1${seat}`, number * 32 - 4, 0)
          : svg("circle", { r: 3, cx: number * 32 + 16, cy: 22, class: "gone" }),
      );
    }
    return node;
  };

  /* A seat in the list beside the board: who sits there, what it holds, and how many pagodas more
     or fewer than before. */
  const seatLine = ({ seat, name, does, isNext, left, before, all, unit }, ...hand) => {
    const change = left - before;
    const chip = change
      ? [
          html(
            "i",
            { class: change > 0 ? "chip more" : "chip" },
            `${change > 0 ? "+" : "\u2212"}${Math.abs(change)}`,
          ),
        ]
      : [];
    const who = html(
      "div",
      { class: "who" },
      html("bdi", {}, name),
      html("small", {}, [`seat ${seat}`, does].filter(Boolean).join(", ")),
    );
    const count = html(
      "div",
      { class: "count" },
      ...chip,
      html("b", {}, String(left)),
      html("small", {}, ` ${unit}`),
    );
    return html(
      "li",
      { class: isNext ? "moves" : "" },
      badge(seat),
      who,
      count,
      stock(seat, left, all),
      ...hand,
    );
  };

  return Object.freeze({ svg, html, badge, domino, tile, laid, linked, stage, sendHome, seatLine });
})();
