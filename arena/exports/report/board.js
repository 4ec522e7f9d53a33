/* Drawing: nodes, tiles, provinces, pagodas. It knows squares and colours, and no rule of the game. */
const draw = (() => {
  const SIDE = 40;
  const SVG = "http://www.w3.org/2000/svg";
  const PAGODA =
    "M-1.4 -18.5h2.8l1 4q2.6 3.4 7.6 4.2l-.6 2.4h-2.2v2.4q3.6 2.2 9 3l-.9 3h-3.1v16.5h-24.4v-16.5h-3.1l-.9 -3q5.4 -.8 9 -3v-2.4h-2.2l-.6 -2.4q5 -.8 7.6 -4.2z";
  const GLYPHS = { R: "M0 -7L7 0L0 7L-7 0Z", Y: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0Z", B: "M-6 -6h12v12h-12Z" };
  const SIDES = [[0, -1], [1, 0], [0, 1], [-1, 0]];
  const INSET = 4;

  const svg = (name, attributes = {}, ...children) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const html = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  /* A square of a tile, round on the corners that are not towards its other half. */
  const half = (x, y, toward) => {
    const [dx, dy] = toward;
    const corner = (cx, cy) => (cx === dx && dx ? 0 : cy === dy && dy ? 0 : 7);
    const [a, b, c, d] = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
    const l = x + (dx < 0 ? 0 : 2), r = x + SIDE - (dx > 0 ? 0 : 2), t = y + (dy < 0 ? 0 : 2), u = y + SIDE - (dy > 0 ? 0 : 2);
    return `M${l + a} ${t}H${r - b}q${b} 0 ${b} ${b}V${u - c}q0 ${c} ${-c} ${c}H${l + d}q${-d} 0 ${-d} ${-d}V${t + a}q0 ${-a} ${a} ${-a}Z`;
  };

  const tile = (placed, width) => {
    const [one, other] = placed.map((part) => ({ ...part, x: (part.at % width) * SIDE, y: Math.floor(part.at / width) * SIDE }));
    const across = one.y === other.y;
    const group = svg("g");
    for (const [part, sign] of [[one, 1], [other, -1]]) {
      const center = `translate(${part.x + SIDE / 2} ${part.y + SIDE / 2})`;
      group.append(
        svg("path", { d: half(part.x, part.y, across ? [sign, 0] : [0, sign]), class: part.colour }),
        svg("path", { d: GLYPHS[part.colour], transform: center, class: part.colour === "Y" ? "glyph dark" : "glyph" }),
      );
    }
    group.append(
      svg("line", { x1: other.x + (across ? 0 : 4), x2: other.x + (across ? 0 : SIDE - 4), y1: other.y + (across ? 4 : 0), y2: other.y + (across ? SIDE - 4 : 0), class: "seam" }),
      outline(one, across, "tile"),
    );
    return { node: group, ring: () => [outline(one, across, "latest", -1), outline(one, across, "latest inner", -1)] };
  };
  const outline = (one, across, kind, inset = 2) => {
    const width = (across ? 2 : 1) * SIDE - 2 * inset, height = (across ? 1 : 2) * SIDE - 2 * inset;
    return svg("rect", { x: one.x + inset, y: one.y + inset, width, height, rx: 7, class: kind });
  };

  /* Areas of equal cells that have an owner: the squares of each. */
  const areas = (cells, width) => {
    const seen = new Set();
    const found = [];
    cells.forEach((cell, start) => {
      if (seen.has(start) || !/^[RYB]\d$/.test(cell)) return;
      const squares = [start];
      seen.add(start);
      for (const square of squares) {
        for (const next of around(square, width, cells.length)) {
          if (!seen.has(next) && cells[next] === cell) {
            seen.add(next);
            squares.push(next);
          }
        }
      }
      found.push({ seat: cell[1], squares });
    });
    return found;
  };
  const around = (square, width, count) =>
    SIDES.map(([dx, dy]) => [(square % width) + dx, Math.floor(square / width) + dy])
      .filter(([x, y]) => x >= 0 && x < width && y >= 0 && y * width < count)
      .map(([x, y]) => y * width + x);

  /* The border of an area, a little inside its squares. Each side ends at a corner, runs on, or turns into the corner beyond. */
  const border = (squares, width) => {
    const inside = new Set(squares);
    const has = (x, y) => x >= 0 && x < width && inside.has(y * width + x);
    const parts = [];
    for (const square of squares) {
      const x = square % width, y = Math.floor(square / width);
      for (const [dx, dy] of SIDES) {
        if (has(x + dx, y + dy)) continue;
        const end = (sign) => {
          const sx = dy ? sign : 0, sy = dx ? sign : 0;
          if (!has(x + sx, y + sy)) return SIDE / 2 - INSET;
          return SIDE / 2 + (has(x + sx + dx, y + sy + dy) ? INSET : 0);
        };
        const cx = x * SIDE + SIDE / 2 + dx * (SIDE / 2 - INSET), cy = y * SIDE + SIDE / 2 + dy * (SIDE / 2 - INSET);
        const [from, to] = [end(-1), end(1)];
        parts.push(dx ? `M${cx} ${cy - from}V${cy + to}` : `M${cx - from} ${cy}H${cx + to}`);
      }
    }
    return parts.join("");
  };

  const pagoda = (seat, x, y, size = 1) =>
    svg("g", { class: `pagoda s${seat}`, transform: `translate(${x} ${y}) scale(${size})` }, svg("path", { d: PAGODA }), svg("text", { y: 14.5 }, String(seat)));

  /* The hand's tiles lie; the colours' letters stand on them. */
  const domino = (letters) => {
    const known = letters !== "??";
    const node = svg("svg", { viewBox: "0 0 80 40", class: "domino", role: "img", "aria-label": known ? letters : "hidden tile" });
    if (!known) {
      node.append(svg("rect", { x: 2, y: 2, width: 76, height: 36, rx: 7, class: "cover" }), svg("text", { x: 40, y: 26 }, "?"));
      return node;
    }
    [...letters].forEach((colour, place) => {
      node.append(
        svg("path", { d: half(place * SIDE, 0, [place ? -1 : 1, 0]), class: colour }),
        svg("text", { x: place * SIDE + 20, y: 26, class: `${colour}t` }, colour),
      );
    });
    node.append(svg("rect", { x: 2, y: 2, width: 76, height: 36, rx: 7, class: "tile" }));
    return node;
  };

  /* Everything that moves, into the group of the board that is kept for it. */
  const position = (live, board, state) => {
    const width = board.rows[0].length;
    const nodes = [];
    const tiles = state.tiles.map((placed) => tile(placed, width));
    nodes.push(...tiles.map((made) => made.node));
    const found = areas(state.cells, width);
    for (const area of found) {
      const d = border(area.squares, width);
      nodes.push(svg("path", { d, class: `casing s${area.seat}` }), svg("path", { d, class: `edge s${area.seat}` }));
    }
    const touched = new Set(state.touched);
    const lit = found.filter((area) => area.squares.some((square) => touched.has(square))).flatMap((area) => area.squares);
    const villages = board.villages.filter((village) => village.cells.some((square) => touched.has(square)));
    for (const square of [...lit, ...villages.flatMap((village) => village.cells)]) {
      nodes.push(svg("rect", { x: (square % width) * SIDE, y: Math.floor(square / width) * SIDE, width: SIDE, height: SIDE, class: "touched" }));
    }
    if (state.moved && tiles.length) nodes.push(...tiles.at(-1).ring());
    for (const [square, seat] of state.pagodas) {
      nodes.push(pagoda(seat, ((square % width) + 0.5) * SIDE, (Math.floor(square / width) + 0.5) * SIDE, 0.9));
    }
    for (const village of board.villages) {
      const owner = state.cells[village.cells[0]][1];
      if (owner !== undefined) nodes.push(pagoda(owner, village.x * SIDE, village.y * SIDE, 0.9));
    }
    live.replaceChildren(...nodes);
  };

  /* The pagodas that a seat still holds, and the places of those it has put on the board. */
  const stock = (seat, left, all) => {
    const node = svg("svg", { viewBox: `0 0 ${all * 12} 15`, class: "stock", preserveAspectRatio: "xMinYMid meet", "aria-hidden": "true" });
    for (let number = 0; number < all; number += 1) {
      const place = `translate(${number * 12 + 6} 7.2)`;
      const standing = svg("g", { class: `pagoda s${seat}`, transform: `${place} scale(.35)` }, svg("path", { d: PAGODA }));
      node.append(number < left ? standing : svg("circle", { r: 1.4, transform: place, class: "gone" }));
    }
    return node;
  };

  return { svg, html, domino, pagoda, position, stock };
})();
