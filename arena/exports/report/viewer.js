/* The viewer of finished games: it steps through positions that `story.js` has worked out. */
(() => {
  const data = document.getElementById("games-data");
  if (!data) return;
  /** @type {{ boards: Record<string, string[]>, games: Game[], rules: Record<string, string> }} */
  const { boards, games, rules } = JSON.parse(data.textContent);
  const { html } = draw;
  const byId = (id) => document.getElementById(id);
  const ids =
    "viewer game link result board board-about race values wins times step play kind " +
    "speed now eyes players log cells seatings twin twin-board twin-about twin-players " +
    "same-deal deal-results deal-tiles key-on rule-text own-seats";
  const parts = /** @type {ViewerParts} */ (
    Object.fromEntries(ids.split(" ").map((id) => [id, byId(id)]))
  );
  /** @type {LineOf} */
  const lineOf = ({ game }, state, seat, isNext) => {
    const hand = notation.tilesOf(state.hands[seat]);
    const tiles = hand.length
      ? hand.map((letters) => draw.domino(isSeen(seat) ? letters : "??"))
      : ["no tiles"];
    return [
      { name: game.bots[seat], status: isNext ? "to move" : "", unit: `of ${game.stock} left` },
      html("div", { class: "hand" }, ...tiles),
    ];
  };
  const table = tableOf(parts.board, parts.players, lineOf);
  const twinTable = tableOf(parts["twin-board"], parts["twin-players"], lineOf);
  /** @type {Map<string, Story>} */
  const stories = new Map();
  const storyNamed = (id) => {
    const game = games.find((candidate) => candidate.id === id);
    if (game && !stories.has(id)) stories.set(id, storyOf(game, boards[game.board]));
    return stories.get(id);
  };
  /* `cursor` steps through both games of a pair. `step` is the step of the first one: it stays at
     that game's end while the cursor goes on through a longer twin. */
  /** @type {Story} */
  let story = null;
  /** @type {Story} */
  let twin = null;
  let cursor = 0;
  let step = 0;
  let timer = 0;
  let shownAddress = "";

  /* Whether the hand of a seat is shown: a reader can choose to see only what one seat saw. */
  const isSeen = (seat) => parts.eyes.value === "" || Number(parts.eyes.value) === seat;
  const noteOf = (number) => {
    const move = story.moveAt(number);
    return move?.note && isSeen(move.seat) ? move.note : null;
  };
  const timeWords = (number) =>
    story.moveAt(number)?.ms === undefined ? [] : [`${story.moveAt(number).ms} ms`];
  const noteLine = (number) => {
    const note = noteOf(number);
    return note
      ? [
          html(
            "span",
            { class: "note" },
            `note of seat ${story.moveAt(number).seat}: `,
            html("bdi", {}, note[0]),
          ),
        ]
      : [];
  };
  /* What a costly move cost, and a better one, which is shown on the board while the pointer or the
     focus is on it. */
  const costLine = (number, tabindex = "0") => {
    const verdict = story.costOf(number);
    if (!verdict) return [];
    const { adviser, judge } = story.game;
    const better = html(
      "button",
      { type: "button", class: "better", tabindex },
      draw.domino(notation.parseMove(verdict.better).tile),
      verdict.better,
    );
    for (const name of ["pointerenter", "focus"]) {
      better.addEventListener(name, () => step === number && table.showGhost(verdict.better));
    }
    for (const name of ["pointerleave", "blur"]) {
      better.addEventListener(name, () => table.showGhost(""));
    }
    better.addEventListener("click", () => {
      go(number);
      table.showGhost(verdict.better);
    });
    const cost = `${wording.percent(verdict.cost, 1)} \u00b1 ${wording.percent(verdict.error, 1)}`;
    const words = `costs ${cost} of the win, says ${judge}; better: `;
    return [
      html(
        "span",
        { class: "key" },
        html("b", { "aria-hidden": "true", class: "mark" }),
        words,
        better,
        adviser ? `, named by ${adviser}` : "",
      ),
    ];
  };
  const hasEvent = (number) => {
    const kinds = story.kindsOf(number);
    return parts.kind.value ? kinds.has(parts.kind.value) : kinds.size > 0;
  };

  /* A link to the text of a rule at the end of the page, which is the link's tooltip too. A click
     shows the text here. Null for a rule that the page does not have. */
  const ruleLink = (number, attributes) => {
    if (!rules[number]) return null;
    const href = `#${wording.ruleId(number)}`;
    return html("a", { href, title: rules[number], class: "rule", ...attributes }, number);
  };
  const withRuleLinks = (text, attributes = {}) =>
    wording.withRuleLinks(text, (number) => ruleLink(number, attributes));
  const showRule = (event) => {
    const link = event.target.closest("a.rule");
    if (!link || !parts["rule-text"].showPopover) return;
    event.preventDefault();
    parts["rule-text"].replaceChildren(html("b", {}, link.textContent), ` ${link.title}`);
    parts["rule-text"].showPopover();
  };
  const eventLine = (/** @type {string[]} */ [kind, words], linkAttributes = {}) =>
    html(
      "span",
      {},
      html("b", { class: `kind ${kind}`, "aria-hidden": "true" }, kind),
      ...withRuleLinks(words, linkAttributes),
    );

  const headWords = (/** @type {Story} */ shownStory, number) => {
    const move = shownStory.moveAt(number);
    if (!move) return ["Start"];
    const who = shownStory.game.names[move.seat];
    const placement = notation.parseMove(move.move);
    if (!placement) return [`Turn ${move.turn}: ${who} passes`];
    return [`Turn ${move.turn}: ${who} plays ${move.move}`, " ", draw.domino(placement.tile)];
  };
  const showWords = () => {
    const [head, ...picture] = headWords(story, step);
    const state = story.states[step];
    const details = [...timeWords(step), `${state.pile} tiles in the pile`].map(
      (words) => `${words}. `,
    );
    parts.now.replaceChildren(
      html("strong", {}, `${head}. `, ...picture),
      ...story.happened(step).map((event) => eventLine(event)),
      html("span", { class: "small" }, ...details),
      ...costLine(step),
      ...noteLine(step),
    );
    parts.step.setAttribute("aria-valuetext", `move ${step} of ${story.last}, turn ${state.turn}`);
  };
  const showLog = () => {
    parts.log.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const entry = /** @type {HTMLElement} */ (parts.log.children[step]?.firstChild);
    if (!entry) return;
    entry.setAttribute("aria-current", "step");
    const top = entry.offsetTop - parts.log.offsetTop;
    if (
      top < parts.log.scrollTop ||
      top + entry.offsetHeight > parts.log.scrollTop + parts.log.clientHeight
    ) {
      parts.log.scrollTop = top - parts.log.clientHeight / 3;
    }
  };
  const showCells = () => {
    const width = story.rows[0].length;
    const cells = story.states[step].cells;
    const heads = [...story.rows[0]].map((_, column) =>
      html("th", { scope: "col" }, notation.columnName(column)),
    );
    const lines = story.rows.map((_, row) =>
      html(
        "tr",
        {},
        html("th", { scope: "row" }, String(row + 1)),
        ...cells.slice(row * width, (row + 1) * width).map((cell) => html("td", {}, cell)),
      ),
    );
    const body = [
      html("thead", {}, html("tr", {}, html("td"), ...heads)),
      html("tbody", {}, ...lines),
    ];
    parts.cells.replaceChildren(parts.cells.caption, ...body);
  };
  /* Above each board of a pair: who plays, and the move, and at the end who wins. */
  const showTitle = (title, /** @type {Story} */ shownStory, number) => {
    const end = number === shownStory.last ? ` ${shownStory.winWords()}.` : "";
    title.replaceChildren(
      html("strong", {}, shownStory.game.names.join(" \u2013 ")),
      html("span", {}, ...headWords(shownStory, number), end),
    );
  };
  /* Show the other game of the deal at the same move, or at its end if it has fewer moves. */
  const showTwin = (isNext) => {
    if (!twin) return;
    const twinStep = Math.min(cursor, twin.last);
    twinTable.show(twinStep, isNext && twinStep === cursor);
    showTitle(parts["board-about"], story, step);
    showTitle(parts["twin-about"], twin, twinStep);
    dealTables.mark(parts["deal-tiles"], cursor);
  };
  const address = (turn, passes = 0, id = story.game.id) => {
    const pass = passes ? `.${passes}` : "";
    const beside = twin ? `&beside=${encodeURIComponent(twin.game.id)}` : "";
    return `#game=${encodeURIComponent(id)}&turn=${turn}${pass}${beside}`;
  };
  const winWords = () => {
    const graded = winPoints().filter(([number]) => number <= step);
    if (story.game.bots.length !== 2 || !graded.length) return "";
    const share = Math.round(100 * graded.at(-1)[1]);
    const [first, second] = story.game.names;
    return `${first} ${share}\u00a0% \u00b7 ${100 - share}\u00a0% ${second}`;
  };
  const show = (number) => {
    const before = cursor;
    cursor = Math.max(0, Math.min(number, end()));
    step = Math.min(cursor, story.last);
    parts.step.value = String(cursor);
    curves.mark(parts.wins, step, winWords());
    for (const curve of [parts.race, parts.values, parts.times]) curves.mark(curve, step);
    const isNext = cursor === before + 1;
    table.show(step, isNext && step === cursor);
    showTwin(isNext);
    showWords();
    showLog();
    showCells();
    shownAddress = address(story.states[step].turn, story.passesAt(step));
    parts.link.href = shownAddress;
    if (cursor === end()) stop();
  };
  const end = () => Math.max(story.last, twin?.last ?? 0);
  const keepAddress = () => {
    try {
      history.replaceState(null, "", shownAddress);
    } catch {
      /* some browsers refuse it for files; the link is still there */
    }
  };
  const go = (number) => {
    show(number);
    keepAddress();
  };

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    parts.play.setAttribute("aria-pressed", "false");
    parts.play.setAttribute("aria-label", "Play");
  };
  const start = () => {
    if (cursor === end()) show(0);
    timer = setInterval(() => go(cursor + 1), Number(parts.speed.value));
    parts.play.setAttribute("aria-pressed", "true");
    parts.play.setAttribute("aria-label", "Pause");
  };
  const toggle = () => (timer ? stop() : start());
  const goStill = (number) => {
    stop();
    go(number);
  };
  const seek = (sign) => {
    for (let number = step + sign; number >= 0 && number <= story.last; number += sign) {
      if (hasEvent(number)) return go(number);
    }
    return go(sign > 0 ? story.last : 0);
  };
  /* The next costly move, and after the last one the first again. */
  const goToKey = (sign) => {
    const { costly } = story;
    if (costly.length) {
      goStill(
        sign > 0
          ? (costly.find((number) => number > step) ?? costly[0])
          : (costly.findLast((number) => number < step) ?? costly.at(-1)),
      );
    }
  };

  /* The shares of the win after each graded move. In a game of two the list has pairs of a step and
     the first seat's share; in a larger game it has triples of a step, a share and the seat whose
     share it is. */
  const winPoints = () => {
    const graded = story.states.flatMap((_, number) =>
      story.winAt(number) === undefined
        ? []
        : [[number, story.winAt(number), story.moveAt(number).seat]],
    );
    return story.game.bots.length === 2
      ? graded.map(([number, share, seat]) => [number, seat ? 1 - share : share])
      : graded;
  };
  const fillCurves = () => {
    const { game, states } = story;
    curves.lines(
      parts.race,
      "pagodas left",
      story,
      goStill,
      (seat) => states.map((state, number) => [number, state.left[seat] / game.stock]),
      { stairs: true },
    );
    const notedShares = game.steps.flatMap((move, index) => {
      const share = noteOf(index + 1)?.[1];
      return share == null ? [] : [[index + 1, share, move.seat]];
    });
    parts.values.hidden = notedShares.length === 0;
    curves.lines(parts.values, "expected share of the win, as noted", story, goStill, (seat) =>
      notedShares.filter((point) => point[2] === seat),
    );
    const graded = winPoints();
    const title = `who wins, in games played on by ${game.judge}`;
    parts.wins.hidden = graded.length === 0;
    if (graded.length && game.bots.length === 2) {
      curves.shares(parts.wins, title, story, goStill, graded);
    } else {
      curves.lines(parts.wins, title, story, goStill, (seat) =>
        graded.filter((point) => point[2] === seat),
      );
    }
    const longestMs = Math.max(...game.steps.map((move) => move.ms ?? 0));
    parts.times.hidden = longestMs === 0;
    const timesOf = (seat) =>
      game.steps.flatMap((move, index) =>
        move.seat === seat && move.ms !== undefined ? [[index + 1, move.ms / longestMs]] : [],
      );
    curves.lines(parts.times, `time a move, up to ${longestMs} ms`, story, goStill, timesOf);
  };
  const entryOf = (state, number) => {
    if (!number) return ["Start"];
    const { seat, move } = story.moveAt(number);
    const time = timeWords(number).map((words) => html("small", {}, words));
    return [
      `${state.turn}. `,
      html("bdi", {}, story.game.names[seat]),
      " ",
      ...draw.loggedMove(move),
      " ",
      ...time,
    ];
  };
  const fillLog = () => {
    parts.log.replaceChildren(
      ...story.states.map((state, number) => {
        const entry = html("a", { href: address(state.turn), tabindex: "-1" });
        entry.append(...entryOf(state, number));
        const light = (isLit) => table.light(story.moveAt(number)?.came ?? [], isLit);
        entry.addEventListener("pointerenter", () => light(true));
        entry.addEventListener("pointerleave", () => light(false));
        entry.addEventListener("click", (event) => {
          event.preventDefault();
          goStill(number);
        });
        const events = story.happened(number).map((event) => eventLine(event, { tabindex: "-1" }));
        return html("li", {}, entry, ...events, ...costLine(number, "-1"), ...noteLine(number));
      }),
    );
  };
  const heading = () => {
    const { game, states } = story;
    const names = game.bots.flatMap((bot, seat) =>
      seat ? [" \u2013 ", html("bdi", {}, bot)] : [html("bdi", {}, bot)],
    );
    const details = ` ${game.board}, deal ${game.deal}, ${states.at(-1).turn} tiles.`;
    const result = ` ${story.winWords()} (${game.end}).`;
    const reasons = game.reasons.length ? ` Chosen for: ${game.reasons.join("; ")}.` : "";
    return [html("strong", {}, ...names), details + result + reasons];
  };

  /* A button for each other game of the same deal: it puts that game beside this one. */
  const fillSeatings = () => {
    const ids = story.game.seatings ?? [];
    const others = ids.filter((id) => id !== story.game.id).map(storyNamed);
    const button = (other) => {
      const words =
        others.length === 1 ? "Same deal, seats swapped" : other.game.names.join(" \u2013 ");
      const node = html(
        "button",
        { type: "button", "aria-pressed": String(other === twin) },
        words,
      );
      node.addEventListener("click", () => {
        setTwin(other === twin ? null : other);
        go(cursor);
        parts.seatings.querySelectorAll("button")[others.indexOf(other)].focus();
      });
      return node;
    };
    parts.seatings.hidden = !others.length;
    parts.seatings.replaceChildren(
      ...(others.length > 1 ? ["Same deal: "] : []),
      ...others.map(button),
    );
  };
  /* Put another game of the deal beside this one, or none. */
  const setTwin = (/** @type {Story} */ newTwin) => {
    twin = newTwin ?? null;
    parts.viewer.classList.toggle("paired", Boolean(twin));
    for (const id of ["twin", "same-deal", "board-about"]) parts[id].hidden = !twin;
    (twin ? parts.board.parentNode : parts["own-seats"]).append(parts.players);
    parts.step.max = String(end());
    fillSeatings();
    if (!twin) return;
    twinTable.open(twin);
    const gamesOfDeal = story.game.seatings.map(storyNamed);
    parts["deal-results"].replaceChildren(
      parts["deal-results"].caption,
      ...dealTables.results(gamesOfDeal, (game) =>
        html(
          "a",
          { href: `#game=${encodeURIComponent(game.id)}&turn=0` },
          game.names.join(" \u2013 "),
        ),
      ),
    );
    fillTiles();
  };
  const fillTiles = () =>
    twin && parts["deal-tiles"].replaceChildren(...dealTables.tiles([story, twin], isSeen));
  /* Open a game at the position after `turn` tiles and then `passes` passes. `beside` is the id of
     the game to put beside it. */
  const open = (/** @type {Story} */ newStory, turn, passes, beside) => {
    stop();
    if (newStory !== story) {
      story = newStory;
      parts.game.value = story.game.id;
      table.open(story);
      parts.eyes.replaceChildren(
        html("option", { value: "" }, "all of them"),
        ...story.game.names.map((name, seat) =>
          html("option", { value: seat }, `as seat ${seat}, ${name}, saw them`),
        ),
      );
      parts.result.replaceChildren(...heading());
      byId("key-on").hidden = !story.costly.length;
      fillCurves();
    }
    setTwin(
      story.game.seatings?.includes(beside) && beside !== story.game.id ? storyNamed(beside) : null,
    );
    fillLog();
    show(story.stepOf(turn, passes));
  };
  const fromAddress = () => {
    const fields = Object.fromEntries(
      location.hash
        .slice(1)
        .split("&")
        .map((field) => field.split("=").map(decoded)),
    );
    const wanted = storyNamed(fields.game ?? (fields.turn === undefined ? "" : games[0].id));
    if (!wanted) return false;
    const [turn, passes] = (fields.turn ?? "0").split(".").map(Number);
    open(wanted, turn || 0, passes || 0, fields.beside);
    return true;
  };
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const toViewer = () => {
    parts.viewer.scrollIntoView({ behavior: "instant" });
    parts.board.focus({ preventScroll: true });
  };

  const keys = {
    ArrowRight: () => go(cursor + 1),
    ArrowLeft: () => go(cursor - 1),
    ArrowDown: () => seek(1),
    ArrowUp: () => seek(-1),
    Home: () => go(0),
    End: () => go(end()),
    " ": toggle,
    k: () => goToKey(1),
    K: () => goToKey(-1),
  };
  /* While the focus is on the board or in the log, all keys belong to the viewer. Elsewhere only
     left, right and K do, and on the page of one game also the keys that jump and play: up and down
     scroll the page. */
  const isInViewer = (node) =>
    node === parts.board || node === parts.log || parts.log.contains(node);
  const isAlone = parts.viewer.closest(".alone") !== null;
  const isFree = (node, key) => {
    if (key === " ") {
      return (
        isAlone &&
        (node === parts.step ||
          !node.closest("button, input, select, summary, [role=group].scroll"))
      );
    }
    return (
      (isAlone ? /^(Arrow(Left|Right)|Home|End|k|K)$/ : /^(Arrow(Left|Right)|k|K)$/).test(key) &&
      !node.closest("input, select, summary, [role=group].scroll")
    );
  };
  const isInView = () => {
    const { top, bottom } = parts.board.getBoundingClientRect();
    return top < innerHeight / 2 && bottom > innerHeight / 2;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (!isInViewer(event.target) && !(isFree(event.target, event.key) && isInView())) return;
    event.preventDefault();
    if (event.key !== " ") stop();
    keys[event.key]();
  });
  const press = {
    first: () => go(0),
    back: () => go(cursor - 1),
    forward: () => go(cursor + 1),
    last: () => go(end()),
    "event-back": () => seek(-1),
    "event-on": () => seek(1),
    "key-on": () => goToKey(1),
  };
  for (const [id, action] of Object.entries(press)) {
    byId(id).addEventListener("click", () => {
      stop();
      action();
    });
  }
  /* A finger that goes left or right across a board steps. */
  let touched = null;
  for (const board of [parts.board, parts["twin-board"]]) {
    board.addEventListener(
      "touchstart",
      (event) => {
        touched = event.touches.length === 1 ? event.touches[0] : null;
      },
      { passive: true },
    );
    board.addEventListener("touchend", (event) => {
      const [lifted] = event.changedTouches;
      const [dx, dy] = touched
        ? [lifted.clientX - touched.clientX, lifted.clientY - touched.clientY]
        : [0, 0];
      if (Math.abs(dx) >= 40 && Math.abs(dx) >= 2 * Math.abs(dy)) goStill(cursor - Math.sign(dx));
    });
  }
  parts.viewer.addEventListener("click", showRule);
  parts.play.addEventListener("click", toggle);
  parts.step.addEventListener("input", () => goStill(Number(parts.step.value)));
  parts.speed.addEventListener("change", () => {
    if (timer) {
      stop();
      start();
    }
  });
  parts.eyes.addEventListener("change", () => {
    fillCurves();
    fillLog();
    fillTiles();
    show(cursor);
  });
  parts.game.addEventListener("change", () => {
    open(storyNamed(parts.game.value), 0, 0);
    keepAddress();
  });
  addEventListener("hashchange", () => {
    if (fromAddress()) toViewer();
  });

  parts.game.append(
    ...games.map(({ id, reasons }) => {
      const reason = reasons.length ? ` (${reasons[0]})` : "";
      return html("option", { value: id }, id + reason);
    }),
  );
  byId("choice").hidden = games.every(
    (game) => game === games[0] || games[0].seatings?.includes(game.id),
  );
  parts.viewer.hidden = false;
  if (fromAddress()) toViewer();
  else open(storyNamed(games[0].id), Infinity, 0); // at its end, since an empty board tells nothing
})();
