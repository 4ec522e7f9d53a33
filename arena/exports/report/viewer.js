/* The viewer: every state was computed beforehand, here they are only stepped through. */
(() => {
  const data = document.getElementById("games-data");
  if (!data) return;
  /** @type {{ boards: Record<string, string[]>, games: Game[], rules: Record<string, string> }} */
  const { boards, games, rules } = JSON.parse(data.textContent);
  const { html } = draw;
  const at = (id) => document.getElementById(id);
  const ids =
    "viewer game link result board board-about race values wins times step play kind " +
    "speed now eyes players log cells seatings twin twin-board twin-about twin-players " +
    "same-deal deal-results deal-tiles key-on rule-text own-seats";
  const by = /** @type {ViewerParts} */ (
    Object.fromEntries(ids.split(" ").map((id) => [id, at(id)]))
  );
  const lineOf = ({ game }, state, seat, isNext) => {
    const hand = state.hands[seat].match(/../g) ?? [];
    const tiles = hand.length
      ? hand.map((letters) => draw.domino(isSeen(seat) ? letters : "??"))
      : ["no tiles"];
    return [
      { name: game.bots[seat], does: isNext ? "to move" : "", unit: `of ${game.stock} left` },
      html("div", { class: "hand" }, ...tiles),
    ];
  };
  const table = tableOf(by.board, by.players, lineOf);
  const twinTable = tableOf(by["twin-board"], by["twin-players"], lineOf);
  /** @type {Map<string, Story>} */
  const stories = new Map();
  const storyNamed = (id) => {
    const game = games.find((one) => one.id === id);
    if (game && !stories.has(id)) stories.set(id, storyOf(game, boards[game.board]));
    return stories.get(id);
  };
  /* The cursor goes through both games of a pair, `step` is where the first of them is. */
  /** @type {Story} */
  let story = null;
  /** @type {Story} */
  let twin = null;
  let cursor = 0;
  let step = 0;
  let timer = 0;
  let kept = "";

  /* Of the other seats nothing while you look with one seat's eyes. */
  const isSeen = (seat) => by.eyes.value === "" || Number(by.eyes.value) === seat;
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
  const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}\u00a0%`;
  /* What a costly move cost; the better one is shown on the board while the pointer or the focus is
     on it. */
  const costLine = (number, tabindex = "0") => {
    const found = story.costOf(number);
    if (!found) return [];
    const { adviser, judge } = story.game;
    const better = html(
      "button",
      { type: "button", class: "better", tabindex },
      draw.domino(found.better.replace(/[^RYB]/g, "")),
      found.better,
    );
    for (const name of ["pointerenter", "focus"]) {
      better.addEventListener(name, () => step === number && table.showGhost(found.better));
    }
    for (const name of ["pointerleave", "blur"]) {
      better.addEventListener(name, () => table.showGhost(""));
    }
    better.addEventListener("click", () => {
      go(number);
      table.showGhost(found.better);
    });
    const cost = `${percent(found.cost)} \u00b1 ${percent(found.error)}`;
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
    return by.kind.value ? kinds.has(by.kind.value) : kinds.size > 0;
  };

  /* Words with every rule in them a link to its text at the end of the page, which is its tooltip
     too; a click shows it here. */
  const said = (words, more = {}) =>
    draw.linked(
      words,
      (rule) =>
        rules[rule] &&
        html(
          "a",
          {
            href: `#${rule.toLowerCase().replace(".", "")}`,
            title: rules[rule],
            class: "rule",
            ...more,
          },
          rule,
        ),
    );
  const showRule = (event) => {
    const link = event.target.closest("a.rule");
    if (!link || !by["rule-text"].showPopover) return;
    event.preventDefault();
    by["rule-text"].replaceChildren(html("b", {}, link.textContent), ` ${link.title}`);
    by["rule-text"].showPopover();
  };
  const eventLine = (/** @type {string[]} */ [kind, words], more = {}) =>
    html(
      "span",
      {},
      html("b", { class: `kind ${kind}`, "aria-hidden": "true" }, kind),
      ...said(words, more),
    );

  const headWords = (/** @type {Story} */ told, number) => {
    const move = told.moveAt(number);
    if (!move) return ["Start"];
    const who = told.game.names[move.seat];
    if (move.move === "pass") return [`Turn ${move.turn}: ${who} passes`];
    return [
      `Turn ${move.turn}: ${who} plays ${move.move}`,
      " ",
      draw.domino(move.move.replace(/[^RYB]/g, "")),
    ];
  };
  const showWords = () => {
    const [head, ...picture] = headWords(story, step);
    const state = story.states[step];
    const more = [...timeWords(step), `${state.pile} tiles in the pile`].map(
      (words) => `${words}. `,
    );
    by.now.replaceChildren(
      html("strong", {}, `${head}. `, ...picture),
      ...story.happened(step).map((one) => eventLine(one)),
      html("span", { class: "small" }, ...more),
      ...costLine(step),
      ...noteLine(step),
    );
    by.step.setAttribute("aria-valuetext", `move ${step} of ${story.last}, turn ${state.turn}`);
  };
  const showLog = () => {
    by.log.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const entry = /** @type {HTMLElement} */ (by.log.children[step]?.firstChild);
    if (!entry) return;
    entry.setAttribute("aria-current", "step");
    const top = entry.offsetTop - by.log.offsetTop;
    if (
      top < by.log.scrollTop ||
      top + entry.offsetHeight > by.log.scrollTop + by.log.clientHeight
    ) {
      by.log.scrollTop = top - by.log.clientHeight / 3;
    }
  };
  const showCells = () => {
    const width = story.rows[0].length;
    const cells = story.states[step].cells;
    const heads = [...story.rows[0]].map((_, column) =>
      html("th", { scope: "col" }, String.fromCharCode(97 + column)),
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
    by.cells.replaceChildren(by.cells.caption, ...body);
  };
  /* The other game of the deal at the same move, or at its end. */
  const showTwin = (isNext) => {
    if (!twin) return;
    const own = Math.min(cursor, twin.last);
    twinTable.show(own, isNext && own === cursor);
    for (const { place, told, number } of [
      { place: by["board-about"], told: story, number: step },
      { place: by["twin-about"], told: twin, number: own },
    ]) {
      const end = number === told.last ? ` ${told.won()}.` : "";
      place.replaceChildren(
        html("strong", {}, told.game.names.join(" \u2013 ")),
        html("span", {}, ...headWords(told, number), end),
      );
    }
    dealTables.mark(by["deal-tiles"], cursor);
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
    by.step.value = String(cursor);
    curves.mark(by.wins, step, winWords());
    for (const place of [by.race, by.values, by.times]) curves.mark(place, step);
    const isNext = cursor === before + 1;
    table.show(step, isNext && step === cursor);
    showTwin(isNext);
    showWords();
    showLog();
    showCells();
    by.link.href = kept = address(story.states[step].turn, story.passesAt(step));
    if (cursor === end()) stop();
  };
  const end = () => Math.max(story.last, twin?.last ?? 0);
  const keepAddress = () => {
    try {
      history.replaceState(null, "", kept);
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
    by.play.setAttribute("aria-pressed", "false");
    by.play.setAttribute("aria-label", "Play");
  };
  const start = () => {
    if (cursor === end()) show(0);
    timer = setInterval(() => go(cursor + 1), Number(by.speed.value));
    by.play.setAttribute("aria-pressed", "true");
    by.play.setAttribute("aria-label", "Pause");
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

  /* The first seat's share after each graded move, if there are two; else as [step, share, seat].
   */
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
      by.race,
      "pagodas left",
      story,
      goStill,
      (seat) => states.map((state, number) => [number, state.left[seat] / game.stock]),
      { stairs: true },
    );
    const told = game.steps.flatMap((move, at) =>
      noteOf(at + 1)?.[1] != null ? [[at + 1, move.note[1], move.seat]] : [],
    );
    by.values.hidden = told.length === 0;
    curves.lines(by.values, "expected share of the win, as noted", story, goStill, (seat) =>
      told.filter((point) => point[2] === seat),
    );
    const graded = winPoints();
    const title = `who wins, in games played on by ${game.judge}`;
    by.wins.hidden = graded.length === 0;
    if (graded.length && game.bots.length === 2) {
      curves.shares(by.wins, title, story, goStill, graded);
    } else {
      curves.lines(by.wins, title, story, goStill, (seat) =>
        graded.filter((point) => point[2] === seat),
      );
    }
    const most = Math.max(...game.steps.map((move) => move.ms ?? 0));
    by.times.hidden = most === 0;
    const spent = (seat) =>
      game.steps.flatMap((move, at) =>
        move.seat === seat && move.ms !== undefined ? [[at + 1, move.ms / most]] : [],
      );
    curves.lines(by.times, `time a move, up to ${most} ms`, story, goStill, spent);
  };
  const entryOf = (state, number) => {
    if (!number) return ["Start"];
    const { seat, move } = story.moveAt(number);
    const time = timeWords(number).map((words) => html("small", {}, words));
    return [
      `${state.turn}. `,
      html("bdi", {}, story.game.names[seat]),
      " ",
      ...draw.laid(move),
      " ",
      ...time,
    ];
  };
  const fillLog = () => {
    by.log.replaceChildren(
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
        const events = story.happened(number).map((one) => eventLine(one, { tabindex: "-1" }));
        return html("li", {}, entry, ...events, ...costLine(number, "-1"), ...noteLine(number));
      }),
    );
  };
  const heading = () => {
    const { game, states } = story;
    const names = game.bots.flatMap((bot, seat) =>
      seat ? [" \u2013 ", html("bdi", {}, bot)] : [html("bdi", {}, bot)],
    );
    const chosen = game.reasons.length ? ` Chosen for: ${game.reasons.join("; ")}.` : "";
    return [
      html("strong", {}, ...names),
      ` ${game.board}, deal ${game.deal}, ${states.at(-1).turn} tiles. ${story.won()} (${game.end}).${chosen}`,
    ];
  };

  /* The games of the same deal, of which one can lie beside this one. */
  const fillSeatings = () => {
    const ids = story.game.seatings ?? [];
    const others = ids.filter((id) => id !== story.game.id).map(storyNamed);
    const button = (other) => {
      const words =
        others.length === 1 ? "Same deal, seats swapped" : other.game.names.join(" \u2013 ");
      const made = html(
        "button",
        { type: "button", "aria-pressed": String(other === twin) },
        words,
      );
      made.addEventListener("click", () => {
        setTwin(other === twin ? null : other);
        go(cursor);
        by.seatings.querySelectorAll("button")[others.indexOf(other)].focus();
      });
      return made;
    };
    by.seatings.hidden = !others.length;
    by.seatings.replaceChildren(
      ...(others.length > 1 ? ["Same deal: "] : []),
      ...others.map(button),
    );
  };
  const setTwin = (/** @type {Story} */ wanted) => {
    twin = wanted ?? null;
    by.viewer.classList.toggle("paired", Boolean(twin));
    for (const part of ["twin", "same-deal", "board-about"]) by[part].hidden = !twin;
    (twin ? by.board.parentNode : by["own-seats"]).append(by.players);
    by.step.max = String(end());
    fillSeatings();
    if (!twin) return;
    twinTable.open(twin);
    const together = story.game.seatings.map(storyNamed);
    by["deal-results"].replaceChildren(
      by["deal-results"].caption,
      ...dealTables.results(together, (game) =>
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
    twin && by["deal-tiles"].replaceChildren(...dealTables.tiles([story, twin], isSeen));
  const open = (/** @type {Story} */ wanted, turn, passes, beside) => {
    stop();
    if (wanted !== story) {
      story = wanted;
      by.game.value = story.game.id;
      table.open(story);
      by.eyes.replaceChildren(
        html("option", { value: "" }, "all of them"),
        ...story.game.names.map((name, seat) =>
          html("option", { value: seat }, `as seat ${seat}, ${name}, saw them`),
        ),
      );
      by.result.replaceChildren(...heading());
      at("key-on").hidden = !story.costly.length;
      fillCurves();
    }
    setTwin(
      story.game.seatings?.includes(beside) && beside !== story.game.id ? storyNamed(beside) : null,
    );
    fillLog();
    show(story.stepOf(turn, passes));
  };
  const fromAddress = () => {
    const parts = Object.fromEntries(
      location.hash
        .slice(1)
        .split("&")
        .map((part) => part.split("=").map(decoded)),
    );
    const wanted = storyNamed(parts.game ?? (parts.turn === undefined ? "" : games[0].id));
    if (!wanted) return false;
    const [turn, passes] = (parts.turn ?? "0").split(".").map(Number);
    open(wanted, turn || 0, passes || 0, parts.beside);
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
    by.viewer.scrollIntoView({ behavior: "instant" });
    by.board.focus({ preventScroll: true });
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
  /* All keys where the focus is on the board or the moves; wherever else nothing but the game uses
     them, left and right, and on the page of one game also those that jump and play. Up and down
     scroll there. */
  const isOwn = (node) => node === by.board || node === by.log || by.log.contains(node);
  const isAlone = by.viewer.closest(".alone") !== null;
  const isFree = (node, key) => {
    if (key === " ") {
      return (
        isAlone &&
        (node === by.step || !node.closest("button, input, select, summary, [role=group].scroll"))
      );
    }
    return (
      (isAlone ? /^(Arrow(Left|Right)|Home|End|k|K)$/ : /^(Arrow(Left|Right)|k|K)$/).test(key) &&
      !node.closest("input, select, summary, [role=group].scroll")
    );
  };
  const isInView = () => {
    const { top, bottom } = by.board.getBoundingClientRect();
    return top < innerHeight / 2 && bottom > innerHeight / 2;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (!isOwn(event.target) && !(isFree(event.target, event.key) && isInView())) return;
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
    at(id).addEventListener("click", () => {
      stop();
      action();
    });
  }
  /* A finger that goes left or right across a board steps. */
  let touched = null;
  for (const board of [by.board, by["twin-board"]]) {
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
  by.viewer.addEventListener("click", showRule);
  by.play.addEventListener("click", toggle);
  by.step.addEventListener("input", () => goStill(Number(by.step.value)));
  by.speed.addEventListener("change", () => {
    if (timer) {
      stop();
      start();
    }
  });
  by.eyes.addEventListener("change", () => {
    fillCurves();
    fillLog();
    fillTiles();
    show(cursor);
  });
  by.game.addEventListener("change", () => {
    open(storyNamed(by.game.value), 0, 0);
    keepAddress();
  });
  addEventListener("hashchange", () => {
    if (fromAddress()) toViewer();
  });

  by.game.append(
    ...games.map((one) =>
      html(
        "option",
        { value: one.id },
        one.id + (one.reasons.length ? ` (${one.reasons[0]})` : ""),
      ),
    ),
  );
  at("choice").hidden = games.every(
    (one) => one === games[0] || games[0].seatings?.includes(one.id),
  );
  by.viewer.hidden = false;
  if (fromAddress()) toViewer();
  else open(storyNamed(games[0].id), Infinity, 0); // the end: nobody should meet an empty board
})();
