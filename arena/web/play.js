/* The form for a game. */
(() => {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("newgame"));
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = document.getElementById("problem");
    try {
      const reply = await fetch("/play", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(Object.fromEntries(new FormData(form))),
      });
      const { address, problem } = await reply.json();
      if (address) location.assign(address);
      else said.textContent = problem;
    } catch {
      said.textContent = "The server cannot be reached.";
    }
  });
})();

/* A game against bots. The server says what is so and what is legal; here it is shown, and a tile
   is aimed. */
(() => {
  const root = document.getElementById("playing");
  if (!root) return;
  const { html, svg } = draw;
  const at = (id) => document.getElementById(id);
  const ids =
    "ground grid tiles turn place hint said refused over ending look grade grading seats " +
    "pace list moves choose story leave rules rules-open";
  const by = /** @type {PlayParts} */ (
    Object.fromEntries(ids.split(" ").map((id) => [id, at(id)]))
  );
  const address = `/play/${root.dataset.name}`;
  const SIDE = 40;
  const FRAME = 22;
  const STEP_MS = 650;
  const MOST_BEHIND = 4;
  const COLOURS = { R: "red", Y: "yellow", B: "blue" };
  const GROUNDS = { ".": "grass", V: "village", "~": "lake" };
  const WAYS = [
    [0, 1],
    [1, 0],
    [0, -1],
    [-1, 0],
  ];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const live = by.ground.querySelector(".live");
  const lights = svg("g", { class: "lights" });
  const aimed = svg("g", { class: "aimed" });
  live.before(lights);
  live.after(aimed);

  /** @type {View} what the server said last */
  let view = null;
  /** @type {Story} the game as far as the server has said it */
  let story = null;
  /** @type {BoardElement[]} */
  const elements = [];
  /** @type {Step[]} */
  const steps = [];
  let shown = 0;
  let timer = 0;
  let isFresh = true;
  let chosen = 0;
  let way = 0;
  /** @type {{ row: number, column: number, move: string }} */
  let place = null;
  /** @type {[string, number][]} */
  let hinted = [];
  let isSent = false;
  /** @type {Set<string>} */
  let legal = new Set();
  /** @type {string[]} */
  let rows = [];
  let width = 0;

  /* squares and moves */
  const nameOf = (row, column) => `${String.fromCharCode(97 + column)}${row + 1}`;
  const isOn = (row, column) => row >= 0 && column >= 0 && row < rows.length && column < width;
  const squaresOf = (move) =>
    [...move.matchAll(/([RYB])([a-z])(\d+)/g)].map(([, colour, column, row]) => [
      Number(row) - 1,
      column.charCodeAt(0) - 97,
      colour,
    ]);
  const moveOf = (row, column, turned) => {
    const [down, right] = WAYS[turned];
    const [one, other] = view.hand[chosen] ?? "";
    if (!isOn(row, column) || !isOn(row + down, column + right)) return null;
    const halves = [
      `${one}${nameOf(row, column)}`,
      `${other}${nameOf(row + down, column + right)}`,
    ];
    return (down < 0 || right < 0 ? halves.reverse() : halves).join("");
  };
  /* The tile over a square, as it is turned: the first half lies there, or else, if that is legal,
     the second. */
  const over = (row, column, turned = way) => {
    const [down, right] = WAYS[turned];
    const both = [moveOf(row, column, turned), moveOf(row - down, column - right, turned)].filter(
      Boolean,
    );
    return both.find((move) => legal.has(move)) ?? both[0] ?? null;
  };
  const turns = () => (view.hand[chosen]?.[0] === view.hand[chosen]?.[1] ? [0, 1] : [0, 1, 2, 3]);
  /* All placements of the tile that cover a square, for a finger that has no other way to say
     which. */
  const covering = (row, column) =>
    [...legal].filter(
      (move) =>
        holds(move, view.hand[chosen]) &&
        squaresOf(move).some(([down, right]) => down === row && right === column),
    );
  /* The next way to turn it: one that is legal here, if there is any. */
  const turnedOn = (row, column) => {
    const all = turns();
    const from = all.indexOf(way % all.length);
    const order = [...all.slice(from + 1), ...all.slice(0, from)];
    const fits = (turned) =>
      place && legal.has(over(row, column, turned)) && over(row, column, turned) !== place.move;
    return order.find(fits) ?? order[0];
  };
  const spoken = (move) => {
    const [[, , one], [, , other]] = squaresOf(move);
    const [first, second] = squaresOf(move).map(([row, column]) => nameOf(row, column));
    return `${COLOURS[one]}-${COLOURS[other]} at ${first} ${second}`;
  };
  const isMine = () => view?.state === "yours" && shown === steps.length && !isSent;

  /* drawing */
  const tileAt = (move, more) => {
    const [[row, column], [below, beside]] = squaresOf(move);
    return svg(
      "g",
      more,
      draw.tile(move)[0],
      svg("rect", {
        x: column * SIDE + 1,
        y: row * SIDE + 1,
        width: (beside - column + 1) * SIDE - 2,
        height: (below - row + 1) * SIDE - 2,
        rx: 8,
      }),
    );
  };
  const showAim = () => {
    const isLegal = place && legal.has(place.move);
    by.place.disabled = !isMine() || !isLegal;
    aimed.replaceChildren(
      ...hinted.map(([move], number) => {
        const [[row, column], [below, beside]] = squaresOf(move);
        const mark = svg("text", {
          x: ((column + beside + 1) * SIDE) / 2,
          y: ((row + below + 1) * SIDE) / 2 + 7,
          class: "place-number",
        });
        mark.textContent = String(number + 1);
        const tile = tileAt(move, { class: "hinted" });
        tile.append(mark);
        return tile;
      }),
    );
    if (isMine() && place) {
      aimed.append(tileAt(place.move, { class: isLegal ? "trial" : "trial bad" }));
    }
  };
  const showLights = () => {
    const held = view.hand[chosen] ?? "";
    const wanted = [held, [...held].reverse().join("")];
    const squares = new Map();
    if (isMine()) {
      for (const move of legal) {
        const both = squaresOf(move);
        if (!wanted.includes(both[0][2] + both[1][2])) continue;
        for (const [row, column] of both) squares.set(`${row} ${column}`, [row, column]);
      }
    }
    lights.replaceChildren(
      ...[...squares.values()].map(([row, column]) =>
        svg("rect", {
          x: column * SIDE + 3,
          y: row * SIDE + 3,
          width: SIDE - 6,
          height: SIDE - 6,
          rx: 6,
        }),
      ),
    );
  };
  const aim = (row, column) => {
    const move = isMine() ? over(row, column) : null;
    place = move ? { row, column, move } : null;
    showAim();
  };
  const turn = () => {
    if (!view) return;
    const [row, column] = place ? [place.row, place.column] : focused;
    way = turnedOn(row, column);
    if (place) aim(row, column);
    showTiles();
  };
  const choose = (number) => {
    if (!view || number >= view.hand.length) return;
    chosen = number;
    if (way >= turns().length) way %= turns().length;
    showTiles();
    showLights();
    if (place) aim(place.row, place.column);
    showAim();
  };

  /* the hand: three buttons that stay, so that the focus does */
  const buttons = [0, 1, 2].map((number) => {
    const button = html("button", { type: "button", class: "tile" });
    button.addEventListener("click", () => choose(number));
    return button;
  });
  by.tiles.append(...buttons);
  const showTiles = () => {
    buttons.forEach((button, number) => {
      const tile = view.hand?.[number];
      button.hidden = !tile;
      if (!tile) return;
      const isChosen = number === chosen;
      button.setAttribute("aria-pressed", String(isChosen));
      button.setAttribute(
        "aria-label",
        `Tile ${number + 1}: ${COLOURS[tile[0]]} and ${COLOURS[tile[1]]}`,
      );
      const picture = draw.domino(tile);
      picture.setAttribute("aria-hidden", "true");
      if (isChosen) picture.classList.add(`way${way}`);
      button.replaceChildren(picture, html("kbd", { "aria-hidden": "true" }, String(number + 1)));
    });
  };

  /* the squares: a grid with one of them in the order of the tab key */
  /** @type {(HTMLElement & { place?: [number, number] })[][]} */
  let cells = [];
  let focused = [0, 0];
  const makeGrid = () => {
    by.ground.style.setProperty("--columns", String(width));
    by.ground.style.setProperty("--rows", String(rows.length));
    const [wide, high] = [width * SIDE + 2 * FRAME, rows.length * SIDE + 2 * FRAME];
    Object.assign(by.grid.style, {
      left: `${(100 * FRAME) / wide}%`,
      right: `${(100 * FRAME) / wide}%`,
      top: `${(100 * FRAME) / high}%`,
      bottom: `${(100 * FRAME) / high}%`,
    });
    root.style.setProperty("--shape", String(wide / high));
    cells = rows.map((line, row) =>
      [...line].map((_, column) => {
        const cell = html("div", { role: "gridcell", tabindex: "-1" });
        return Object.assign(cell, { place: /** @type {[number, number]} */ ([row, column]) });
      }),
    );
    by.grid.replaceChildren(...cells.map((line) => html("div", { role: "row" }, ...line)));
    focused = [Math.floor(rows.length / 2), Math.floor(width / 2)];
    cells[focused[0]][focused[1]].tabIndex = 0;
  };
  const nameCells = () =>
    view.cells.forEach((text, number) => {
      const row = Math.floor(number / width);
      const column = number % width;
      const owner = text[1];
      const what = COLOURS[text[0]] ? `${COLOURS[text[0]]} space` : GROUNDS[text[0]];
      cells[row][column].setAttribute(
        "aria-label",
        `${nameOf(row, column)}, ${what}${owner ? ` of ${called(Number(owner))}` : ""}`,
      );
    });
  const focusOn = (row, column) => {
    if (!isOn(row, column)) return;
    cells[focused[0]][focused[1]].tabIndex = -1;
    focused = [row, column];
    cells[row][column].tabIndex = 0;
    cells[row][column].focus({ preventScroll: true });
  };
  const called = (seat) => (seat === view.seat ? "you" : view.names[seat]);
  const Called = (seat) => (seat === view.seat ? "You" : view.names[seat]);

  /* what the server is asked */
  const ask = async (what, more = {}) => {
    try {
      const reply = await fetch(`${address}/${what}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ steps: steps.length, ...more }),
      });
      return await reply.json();
    } catch {
      return { problem: "the server cannot be reached: the game goes on once it is there again" };
    }
  };
  const refuse = (words) => {
    by.refused.hidden = !words;
    by.refused.replaceChildren(...said(words));
  };
  /* Words with every rule in them a link that opens its text. */
  const said = (words) =>
    draw.linked(words, (number) => {
      const rule = at(number.toLowerCase().replace(".", ""));
      if (!rule) return null;
      const link = html(
        "a",
        { href: `#${rule.id}`, class: "rule", title: rule.querySelector("dd").textContent },
        number,
      );
      link.addEventListener("click", (event) => {
        event.preventDefault();
        openRules(rule);
      });
      return link;
    });
  const openRules = (rule) => {
    by.rules.showModal();
    if (rule) rule.focus();
  };
  const send = async (move) => {
    if (!isMine() || !move) return;
    if (!legal.has(move)) {
      // the server says why
      const { problem } = await ask("move", { move });
      refuse(problem ?? "");
      return;
    }
    isSent = true;
    place = null;
    refuse("");
    showAim();
    showLights();
    const { problem } = await ask("move", { move });
    isSent = Boolean(!problem && isSent);
    if (problem) {
      refuse(problem);
      showAim();
      showLights();
    }
  };
  const hint = async () => {
    if (!isMine()) return;
    by.hint.disabled = true;
    const { answer, problem } = await ask("hint");
    by.hint.disabled = !isMine();
    if (problem) {
      refuse(problem);
      return;
    }
    hinted = answer;
    const best = hinted.map(
      ([move, share], number) =>
        `${number + 1}: ${spoken(move)} (${Math.round(100 * share)}\u00a0%)`,
    );
    by.said.replaceChildren(`Of many random games you win most after ${best.join(", ")}.`);
    showAim();
  };

  /* what happened */
  const stepWords = ({ seat, move }) => {
    if (move !== "pass") return `${Called(seat)} placed ${spoken(move)}`;
    if (seat === view.seat) return "You have no legal move and pass";
    return `${Called(seat)} has no legal move and passes`;
  };
  const tell = (/** @type {Step} */ step) => {
    const entry = html(
      "li",
      {},
      html(
        "p",
        {},
        `${step.turn}. `,
        html("bdi", {}, Called(step.seat)),
        " ",
        ...draw.laid(step.move),
      ),
      ...step.events.map(([, words]) => html("span", {}, ...said(words))),
    );
    entry.addEventListener("pointerenter", () => table.light(step.came, true));
    entry.addEventListener("pointerleave", () => table.light(step.came, false));
    by.story.append(entry);
    by.story.scrollTop = by.story.scrollHeight;
  };
  let toldFaults = 0;
  const tellFaults = () => {
    for (; toldFaults < view.faults.length; toldFaults += 1) {
      by.story.append(
        html("li", {}, html("span", { class: "key" }, ...said(view.faults[toldFaults].words))),
      );
    }
    by.story.scrollTop = by.story.scrollHeight;
  };
  const isOver = () => view.state === "over" || view.state === "broken";
  const lineOf = (_, state, seat, isNext) => {
    const isMe = seat === view.seat;
    const isGone = view.faults.some((fault) => fault.seat === seat);
    const held = Array(view.hands[seat] ?? 0)
      .fill("??")
      .map(draw.domino);
    const does = isGone ? "forfeited" : isNext ? (isMe ? "your move" : "thinks\u2026") : "";
    return [
      { name: called(seat), does, unit: "to place" },
      ...(isMe ? [] : [html("div", { class: "hand" }, ...held)]),
    ];
  };
  const table = tableOf(by.ground, by.seats, lineOf);
  const showTable = (isMoving) => {
    table.show(shown, isMoving, isOver() ? undefined : (steps[shown]?.seat ?? view.mover));
    curves.lines(
      by.pace,
      "pagodas to place",
      story,
      () => {},
      (seat) =>
        story.states
          .slice(0, shown + 1)
          .map(({ left }, number) => [number, left[seat] / view.stock]),
      { stairs: true },
    );
  };
  const advance = (isMoving) => {
    shown += 1;
    tell(steps[shown - 1]);
    if (isMoving) showTable(true);
  };
  const sentence = (step) =>
    `${[stepWords(step), ...step.events.map(([, told]) => told)].join("; ")}.`;
  /* What the mover did shows on the board; those who cannot see it hear of it. */
  const own = () => {
    const last = steps.findLast(({ seat }) => seat === view.seat);
    return last && view.state !== "over"
      ? [html("span", { class: "unseen" }, `${sentence(last)} `)]
      : [];
  };
  const words = () => {
    const before = steps
      .slice(steps.findLastIndex(({ seat }) => seat === view.seat) + 1)
      .map((step) => `${sentence(step)} `)
      .join("");
    if (view.state === "starting") return "The bots are made ready.";
    if (view.state === "yours") {
      const hasMoved = steps.some(({ seat }) => seat === view.seat);
      return `${before}${hasMoved ? "Your move." : firstWords()}`;
    }
    if (view.state === "theirs") {
      const mover = view.names[view.mover] ?? "A bot";
      return view.mover === view.seat ? before : `${before}${mover} thinks.`;
    }
    return `${before}${endWords()}`;
  };
  const firstWords = () => {
    const how = matchMedia("(pointer: coarse)").matches
      ? "tap a lit square, tap again for another way to lay it there, then Place"
      : "point at a lit square and click; R or the wheel turns it";
    return `You move. Be the first to place all ${view.stock} pagodas: choose a tile, ${how}.`;
  };
  const endWords = () => {
    if (view.state === "broken") return `The game has ended without a result: ${view.says}.`;
    const order = view.ranks
      .map((rank, seat) => [rank, seat])
      .sort((one, other) => one[0] - other[0]);
    const places = order
      .map(([rank, seat]) => `${rank}. ${called(seat)} (${view.final[seat]} left)`)
      .join(", ");
    const winners = order.filter(([rank]) => rank === 1);
    const isShared = winners.length > 1;
    let head = isShared ? "You share the win." : "You win!";
    if (view.ranks[view.seat] !== 1) {
      const names = winners.map(([, seat]) => view.names[seat]).join(" and ");
      head = `${names} ${isShared ? "share the win" : "wins"}.`;
    }
    const note = view.says ? `Note: ${view.says}.` : "";
    return `${head} The game is over (${view.end}): ${places}. ${note}`;
  };
  const showRest = () => {
    tellFaults();
    legal = new Set(isMine() ? view.legal : []);
    if (chosen >= view.hand.length) chosen = 0;
    if (isMine() && !hasPlace(chosen)) {
      chosen = Math.max(
        0,
        view.hand.findIndex((_, number) => hasPlace(number)),
      );
    }
    way %= Math.max(turns().length, 1);
    hinted = [];
    showTiles();
    showLights();
    nameCells();
    if (place) aim(place.row, place.column);
    else showAim();
    by.hint.disabled = by.turn.disabled = !isMine();
    by.list.hidden = !isMine();
    by.moves.replaceChildren(
      ...view.hand.flatMap((tile, number) =>
        view.hand.indexOf(tile) === number ? [group(tile)] : [],
      ),
    );
    by.said.replaceChildren(...own(), ...said(words()));
    showEnd();
  };
  const holds = (move, tile) => {
    const [[, , one], [, , other]] = squaresOf(move);
    return one + other === tile || other + one === tile;
  };
  const hasPlace = (number) => [...legal].some((move) => holds(move, view.hand[number]));
  const group = (tile) => {
    const found = [...legal].filter((move) => holds(move, tile));
    return html(
      "optgroup",
      { label: `${COLOURS[tile[0]]}-${COLOURS[tile[1]]}` },
      ...found.map((move) => html("option", { value: move }, spoken(move))),
    );
  };
  const showEnd = () => {
    const isEnded = isOver() && shown === steps.length;
    root.classList.toggle("is-over", isEnded);
    by.over.hidden = !isEnded;
    by.leave.hidden = isEnded;
    if (!isEnded) return;
    by.ending.textContent = endWords();
    if (view.seed) at("seed").textContent = `, seed ${view.seed}`;
    by.look.hidden = by.grade.hidden = !view.kept;
    if (view.kept) {
      const game = view.game.split("/").map(encodeURIComponent).join("/");
      by.look.href = `/runs/${encodeURIComponent(view.kept)}/games/${game}`;
    }
    if (view.grading) {
      by.grade.disabled = true;
      by.grading.hidden = false;
      by.grading.textContent = view.grading;
      if (view.graded) by.look.textContent = "Look at the game with its key moments";
    }
  };
  /* Shows the steps that came, one at a time; all at once to those who want no motion or do not
     look. */
  const follow = () => {
    clearTimeout(timer);
    while (
      steps.length - shown > MOST_BEHIND ||
      (shown < steps.length && (calm.matches || document.hidden || isFresh))
    ) {
      advance(false);
    }
    if (shown === steps.length) showTable(false);
    else advance(true);
    if (shown === steps.length) showRest();
    else timer = setTimeout(follow, STEP_MS);
  };
  const hear = (/** @type {View} */ news) => {
    elements.splice(0, elements.length, ...news.elements);
    steps.splice(0, steps.length, ...news.steps);
    view = { hand: [], ...news };
    isSent = false;
    if (!rows.length) {
      rows = view.rows;
      width = rows[0].length;
      makeGrid();
    }
    const { board, names, stock, start } = view;
    story = storyOf(
      {
        board,
        names,
        bots: names,
        stock,
        elements,
        steps,
        scene: start,
        hands: [],
        faults: [],
        ranks: [],
      },
      rows,
    );
    table.open(story);
    follow();
    isFresh = start.length === 0;
  };

  /* pointer, wheel, fingers */
  let lastTouch = 0;
  let lastWheel = -1e3;
  const cellOf = (event) => event.target.closest?.("[role=gridcell]");
  by.grid.addEventListener("pointermove", (event) => {
    const cell = cellOf(event);
    if (
      cell &&
      event.pointerType === "mouse" &&
      (place?.row !== cell.place[0] || place?.column !== cell.place[1])
    ) {
      aim(...cell.place);
    }
  });
  by.grid.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "mouse" || by.grid.contains(document.activeElement)) return;
    place = null;
    showAim();
  });
  by.grid.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse") lastTouch = event.timeStamp;
  });
  by.grid.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (!cell || !view) return;
    focusOn(...cell.place);
    const isTouch = lastTouch && event.timeStamp - lastTouch < 1500;
    if (!isTouch) {
      aim(...cell.place);
      if (place) send(place.move);
      return;
    }
    if (!isMine()) return;
    const found = covering(...cell.place);
    const next = found[(found.indexOf(place?.move) + 1) % found.length];
    place = { row: cell.place[0], column: cell.place[1], move: next ?? over(...cell.place) };
    if (!place.move) place = null;
    else if (!next) send(place.move);
    showAim();
  });
  by.ground.addEventListener(
    "wheel",
    (event) => {
      if (!isMine()) return;
      event.preventDefault();
      if (event.timeStamp - lastWheel < 120) return;
      lastWheel = event.timeStamp;
      turn();
    },
    { passive: false },
  );
  by.ground.addEventListener(
    "touchstart",
    (event) => {
      if (event.touches.length !== 2 || !isMine()) return;
      event.preventDefault();
      turn();
    },
    { passive: false },
  );

  /* keys */
  by.grid.addEventListener("focusin", (event) => {
    const cell = cellOf(event);
    if (cell && cell.matches(":focus-visible")) aim(...cell.place);
  });
  const steer = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  by.grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [row, column] = focused;
    if (steer[event.key]) focusOn(row + steer[event.key][0], column + steer[event.key][1]);
    else if (event.key === "Home") focusOn(row, 0);
    else if (event.key === "End") focusOn(row, width - 1);
    else if (event.key === "Enter" || event.key === " ") {
      aim(row, column);
      send(place?.move);
    } else return;
    if (steer[event.key] || event.key === "Home" || event.key === "End") aim(...focused);
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      by.rules.open ||
      /** @type {Element} */ (event.target).closest?.("input, select, textarea")
    ) {
      return;
    }
    const key = event.key.toLowerCase();
    if ("123".includes(key) && key.length === 1) choose(Number(key) - 1);
    else if (key === "r") turn();
    else if (key === "h") hint();
  });
  by.turn.addEventListener("click", turn);
  by.hint.addEventListener("click", hint);
  by.place.addEventListener("click", () => send(place?.move));
  by.choose.addEventListener("click", () => send(by.moves.value));
  by["rules-open"].addEventListener("click", () => openRules(null));
  by.leave.addEventListener("click", () => ask("leave"));
  by.grade.addEventListener("click", async () => {
    const { problem } = await ask("review");
    if (problem) refuse(problem);
  });
  /** @type {NodeListOf<HTMLElement>} */
  const again = root.querySelectorAll("[data-again]");
  for (const button of again) {
    button.addEventListener("click", async () => {
      const { address: next, problem } = await ask(`again/${button.dataset.again}`);
      if (next) location.assign(next);
      else refuse(problem);
    });
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && view) follow();
  });

  const source = new EventSource(`${address}/events`);
  source.addEventListener("message", (event) => hear(JSON.parse(event.data)));
  source.addEventListener("open", () => refuse(""));
  const LOST =
    "The connection is lost. The game waits: the page goes on with it as soon as the server can be reached.";
  const GONE = "The server does not know this game any more. It has probably been started again.";
  source.addEventListener("error", () =>
    refuse(source.readyState === EventSource.CLOSED ? GONE : LOST),
  );
})();
