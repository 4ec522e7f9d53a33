/* Drawing: nodes, hands, pagodas, and the scenes of a game, which are lists of numbers of elements.
   Nothing here knows a rule of the game. */
const draw = (() => {
  const PAGODA_LAYER = 3;
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
  /* A part of pictures that `arena/exports/parts.py` has put into the page under this name. */
  const part = (name, x = 0, y = 0) => svg("use", { href: `#${name}`, x, y });

  /* The size of a square and of the frame, in the units of the board's picture. */
  const sizesOf = (/** @type {Element} */ container) => {
    /** @type {SVGSVGElement} */
    const picture = container.querySelector("svg.board");
    return { side: Number(picture.dataset.side), frame: Number(picture.dataset.frame) };
  };

  const drawBorder = (seat, path) =>
    svg(
      "g",
      { class: `q${seat}` },
      svg("path", { class: "q-casing", d: path }),
      svg("path", { class: "q-border", d: path }),
    );
  const drawElement = (/** @type {BoardElement} */ [, subject, ...details]) => {
    if (typeof subject === "number") return drawBorder(subject, details[0]);
    const [x, y] = details;
    return part(subject, x, y);
  };

  /* Make a function that shows a scene, a list of numbers of `elements`, in the layers of `live` in
     place of the scene before. It touches only what changes. With `isNext` the new elements appear in a
     motion. Its function `light` lights elements, or stops that. */
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
        const node = nodes.get(number) ?? drawElement(elements[number]);
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

  /* Let a pagoda fly from the board to `home`, the element beside the board with the pagodas of its
     owner. */
  const flyHome = (live, /** @type {BoardElement} */ [, name, x, y], home, side) => {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const node = part(name, x, y);
    live.append(node);
    const from = node.getBoundingClientRect();
    const to = home.getBoundingClientRect();
    const unitsPerPixel = side / from.width;
    const across = (to.x - from.x) * unitsPerPixel;
    const down = (to.y - from.y) * unitsPerPixel;
    const flight = node.animate(
      [
        { transform: "none" },
        { transform: "translate(0, -20px)", offset: 0.25 },
        { transform: `translate(${across}px, ${down}px)`, opacity: 0.4 },
      ],
      { duration: 900, easing: "ease-in-out" },
    );
    flight.onfinish = () => node.remove();
    flight.oncancel = () => node.remove();
  };

  /* Let the pagodas fly home that a move took off the board. A pagoda stays if the move put another
     one of its owner on the same square: then it only changed its size. */
  const sendHome = (live, elements, { came = [], went = [] }, homeOf, side) => {
    const ownerOf = (/** @type {BoardElement} */ pagoda) => String(pagoda[1]).at(-1);
    const pagodasAmong = (numbers) =>
      numbers.map((number) => elements[number]).filter(([layer]) => layer === PAGODA_LAYER);
    const newPagodas = pagodasAmong(came);
    for (const pagoda of pagodasAmong(went)) {
      const isReplaced = newPagodas.some(
        (other) =>
          ownerOf(other) === ownerOf(pagoda) && other[2] === pagoda[2] && other[3] === pagoda[3],
      );
      if (!isReplaced) flyHome(live, pagoda, homeOf(ownerOf(pagoda)), side);
    }
  };

  /* The sign of a seat: its pagoda. */
  const badge = (seat) =>
    svg("svg", { viewBox: "3 0 34 40", class: "badge", "aria-hidden": "true" }, part(`q1${seat}`));

  /* A small picture of the tile with these two letters, face down for "??". */
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

  /* The tile of a placement where it lies on the board. */
  const placedTile = (/** @type {Placement} */ { first, tile, isHorizontal }, side) =>
    part(`q${tile}${isHorizontal ? "h" : "v"}`, first.column * side, first.row * side);
  /* The ring around that tile. */
  const ring = (/** @type {Placement} */ { first, isHorizontal }, side) =>
    part(`qlast${isHorizontal ? "h" : "v"}`, first.column * side, first.row * side);

  /* A move in a log: a picture of the tile, and the squares that it covers. */
  const loggedMove = (move) => {
    const placement = notation.parseMove(move);
    if (!placement) return ["passes"];
    const { first, second, tile } = placement;
    return [domino(tile), ` ${first.square}\u2013${second.square}`];
  };

  /* The pagodas that a seat still holds, and a dot for each one that it has put on the board. */
  const stockOf = (seat, left, stock) => {
    const node = svg("svg", {
      viewBox: `0 0 ${stock * 32} 40`,
      class: "stock",
      preserveAspectRatio: "xMinYMid meet",
      "aria-hidden": "true",
    });
    for (let number = 0; number < stock; number += 1) {
      node.append(
        number < left
          ? part(`q1${seat}`, number * 32 - 4, 0)
          : svg("circle", { r: 3, cx: number * 32 + 16, cy: 22, class: "gone" }),
      );
    }
    return node;
  };

  /* The number of pagodas that a seat holds more or fewer than before; nothing for no change. */
  const changeChip = (change) => {
    if (!change) return [];
    const sign = change > 0 ? "+" : "\u2212";
    const style = change > 0 ? "chip more" : "chip";
    return [html("i", { class: style }, `${sign}${Math.abs(change)}`)];
  };

  /* A seat in the list beside the board: its player, its pagodas, and then `nodes`, such as a hand.
   */
  const seatLine = (/** @type {SeatLine} */ line, ...nodes) => {
    const {
      seat,
      name,
      label = wording.turnWords(seat),
      status,
      isNext,
      left,
      before,
      stock,
      unit,
    } = line;
    const who = html(
      "div",
      { class: "who" },
      html("bdi", {}, name),
      html("small", {}, [label, status].filter(Boolean).join(", ")),
    );
    const count = html(
      "div",
      { class: "count" },
      ...changeChip(left - before),
      html("b", {}, String(left)),
      html("small", {}, ` ${unit}`),
    );
    return html(
      "li",
      { class: isNext ? "moves" : "" },
      badge(seat),
      who,
      count,
      stockOf(seat, left, stock),
      ...nodes,
    );
  };

  return Object.freeze({
    svg,
    html,
    sizesOf,
    badge,
    domino,
    placedTile,
    ring,
    loggedMove,
    stage,
    sendHome,
    seatLine,
  });
})();
