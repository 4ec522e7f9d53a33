/* The viewer: every state was computed beforehand, here they are only stepped through. */
(() => {
  const data = document.getElementById("games-data");
  if (!data) return;
  const { boards, games, rules } = JSON.parse(data.textContent);
  const { html, svg } = draw;
  const KEY = 0.05; // of the win
  const at = (id) => document.getElementById(id);
  const by = Object.fromEntries(
    ["viewer", "game", "link", "result", "board", "race", "values", "wins", "times", "step", "play", "kind", "speed", "now", "stderr", "eyes", "players", "log", "cells"].map((id) => [id, at(id)]),
  );
  let game = null, states = [], step = 0, live = null, showScene = null, timer = 0, kept = "";

  /* All positions of a game from what each move changed. */
  const unfold = (played) => {
    const first = {
      cells: [...boards[played.board].join("")], scene: played.scene, left: Array(played.bots.length).fill(played.stock), hands: played.hands, pile: played.pile, turn: 0,
    };
    const all = [first];
    for (const move of played.steps) {
      const before = all.at(-1);
      const cells = [...before.cells], hands = [...before.hands];
      for (const [square, cell] of Object.entries(move.cells ?? {})) cells[square] = cell;
      hands[move.seat] = move.hand;
      const scene = [...before.scene.filter((number) => !move.went?.includes(number)), ...(move.came ?? [])];
      all.push({ cells, scene, hands, left: move.left ?? before.left, pile: move.pile, turn: move.turn });
    }
    return all;
  };

  /* Faults stand after the last move before them. */
  const faultsAt = (number) => game.faults.filter((fault) => stepOf(fault.turn, 0) === number);
  const stepOf = (turn, passes) => {
    const found = states.findIndex((state) => state.turn === turn);
    return found < 0 ? states.length - 1 : Math.min(found + passes, states.length - 1);
  };
  const faultWords = (fault) => `${game.names[fault.seat]} forfeits (${fault.kind}): ${fault.detail}`;
  const endWords = () => {
    const order = game.ranks.map((rank, seat) => [rank, seat]).sort((one, other) => one[0] - other[0]);
    const places = order.map(([rank, seat]) => `${rank}. ${game.names[seat]} (${game.left[seat]} left)`);
    return `End (${game.end}): ${places.join(", ")}`;
  };
  const moveWords = (number) => {
    const move = game.steps[number - 1];
    return move.move === "pass" ? `${game.names[move.seat]} passes` : `${game.names[move.seat]} plays ${move.move}`;
  };
  const consequences = (number) => [
    ...(number ? (game.steps[number - 1].events ?? []).map((event) => event[1]) : []),
    ...faultsAt(number).map(faultWords),
    ...(number === states.length - 1 ? [endWords()] : []),
  ];
  /* What it cost, and what the bot said; of the other seats nothing while you look with one seat's eyes. */
  const isSeen = (seat) => by.eyes.value === "" || Number(by.eyes.value) === seat;
  const noteOf = (number) => {
    const move = game.steps[number - 1];
    return move?.note && isSeen(move.seat) ? move.note : null;
  };
  const timeWords = (number) => (game.steps[number - 1]?.ms === undefined ? [] : [`${game.steps[number - 1].ms} ms`]);
  const noteLine = (number) => {
    const note = noteOf(number);
    return note ? [html("span", { class: "note" }, `note of seat ${game.steps[number - 1].seat}: `, html("bdi", {}, note[0]))] : [];
  };
  /* What a judge made of the move, where it cost more than a little and more than its error. */
  const percent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;
  const costLine = (number) => {
    const [cost, error, better] = game.steps[number - 1]?.grade ?? [0, 0, ""];
    if (cost < KEY || cost < error) return [];
    const named = game.adviser ? `, named by ${game.adviser}` : "";
    return [html("span", { class: "key" }, `costs ${percent(cost)} \u00b1 ${percent(error)} of the win, says ${game.judge}; better: ${better}${named}`)];
  };
  const hasEvent = (number) => {
    const kind = by.kind.value, move = game.steps[number - 1];
    const events = move?.events ?? [];
    const happened = new Set([...events.map((event) => event[0]), ...(events.some((event) => event[2]) ? ["home"] : [])]);
    if (move?.move === "pass") happened.add("pass");
    if (faultsAt(number).length) happened.add("forfeit");
    if (number && costLine(number).length) happened.add("key");
    return kind ? happened.has(kind) : happened.size > 0;
  };

  /* Words with every rule in them a link to its text at the end of the page, which is its tooltip too. */
  const said = (words, more = {}) =>
    words.split(/\b(R\d\.\d)\b/).map((part) =>
      Object.hasOwn(rules, part) ? html("a", { href: `#${part.toLowerCase().replace(".", "")}`, title: rules[part], class: "rule", ...more }, part) : part,
    );

  const chip = (change) => (change ? [html("i", { class: change > 0 ? "chip more" : "chip" }, `${change > 0 ? "+" : "\u2212"}${Math.abs(change)}`)] : []);
  /* A pagoda that went flies to its owner, unless another of the same owner came in its place. */
  const sendHome = (move) => {
    const owner = (element) => element[1].at(-1);
    const pagodas = (numbers = []) => numbers.map((number) => game.elements[number]).filter(([layer]) => layer === draw.PAGODAS);
    const came = pagodas(move.came);
    for (const went of pagodas(move.went)) {
      const stays = came.some((one) => owner(one) === owner(went) && one[2] === went[2] && one[3] === went[3]);
      if (!stays) draw.flyHome(live, went, by.players.children[owner(went)].querySelector(".stock"));
    }
  };
  const showPlayers = (before) => {
    const state = states[step], mover = game.steps[step]?.seat, eyes = by.eyes.value;
    by.players.replaceChildren(
      ...game.bots.map((bot, seat) => {
        const hand = state.hands[seat].match(/../g) ?? [];
        const seen = eyes === "" || Number(eyes) === seat;
        const moves = seat === mover ? "to move" : "";
        const who = html("div", { class: "who" }, html("bdi", {}, bot), html("small", {}, [`seat ${seat}`, moves].filter(Boolean).join(", ")));
        const count = html("div", { class: "count" }, ...chip(state.left[seat] - before[seat]), html("b", {}, String(state.left[seat])), html("small", {}, ` of ${game.stock} left`));
        const tiles = hand.length ? hand.map((letters) => draw.domino(seen ? letters : "??")) : ["no tiles"];
        return html("li", { class: seat === mover ? "moves" : "" }, draw.badge(seat), who, count, draw.stock(seat, state.left[seat], game.stock), html("div", { class: "hand" }, ...tiles));
      }),
    );
  };
  const showWords = () => {
    const head = step ? `Turn ${states[step].turn}: ${moveWords(step)}` : "Start";
    const lines = [...consequences(step), ...timeWords(step), `${states[step].pile} tiles in the pile`];
    const spans = lines.map((words) => html("span", {}, ...said(`${words}. `)));
    by.now.replaceChildren(html("strong", {}, `${head}. `), ...spans, ...costLine(step), ...noteLine(step));
    by.step.setAttribute("aria-valuetext", `move ${step} of ${states.length - 1}, turn ${states[step].turn}`);
  };
  const showStderr = () => {
    /* As high at every move of a game that has any, so that nothing below jumps. */
    by.stderr.hidden = !game.stderr?.length;
    const found = (game.stderr ?? []).filter(([number, seat]) => number === step && isSeen(seat));
    by.stderr.replaceChildren(...found.flatMap(([, seat, text]) => [
      html("h3", {}, `stderr of seat ${seat}`),
      html("pre", { tabindex: "0", role: "group", "aria-label": `stderr of seat ${seat}` }, html("bdi", {}, text)),
    ]));
  };
  const showLog = () => {
    by.log.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const entry = by.log.children[step]?.firstChild;
    if (!entry) return;
    entry.setAttribute("aria-current", "step");
    const top = entry.offsetTop - by.log.offsetTop;
    if (top < by.log.scrollTop || top + entry.offsetHeight > by.log.scrollTop + by.log.clientHeight) by.log.scrollTop = top - by.log.clientHeight / 3;
  };
  const showCells = () => {
    const rows = boards[game.board], width = rows[0].length, cells = states[step].cells;
    const heads = [...rows[0]].map((_, column) => html("th", { scope: "col" }, String.fromCharCode(97 + column)));
    const lines = rows.map((_, row) =>
      html("tr", {}, html("th", { scope: "row" }, String(row + 1)), ...cells.slice(row * width, (row + 1) * width).map((cell) => html("td", {}, cell))),
    );
    const body = [html("thead", {}, html("tr", {}, html("td"), ...heads)), html("tbody", {}, ...lines)];
    by.cells.replaceChildren(by.cells.caption, ...body);
  };
  const hash = () => {
    const passes = step - stepOf(states[step].turn, 0);
    return `#game=${encodeURIComponent(game.id)}&turn=${states[step].turn}${passes ? `.${passes}` : ""}`;
  };
  const show = (number) => {
    const before = step;
    step = Math.max(0, Math.min(number, states.length - 1));
    by.step.value = step;
    for (const picture of [by.race, by.values, by.wins, by.times]) picture.querySelector(".cursor")?.setAttribute("d", `M${step} 0V100`);
    const isNext = step === before + 1;
    showScene(states[step].scene, isNext);
    by.board.firstChild.setAttribute("aria-label", `The board ${game.board} after turn ${states[step].turn}`);
    showPlayers(isNext ? states[before].left : states[step].left);
    if (isNext) sendHome(game.steps[before]);
    showWords();
    showStderr();
    showLog();
    showCells();
    by.link.href = kept = hash();
    if (step === states.length - 1) stop();
  };
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
    if (step === states.length - 1) show(0);
    timer = setInterval(() => go(step + 1), Number(by.speed.value));
    by.play.setAttribute("aria-pressed", "true");
    by.play.setAttribute("aria-label", "Pause");
  };
  const toggle = () => (timer ? stop() : start());
  const seek = (sign) => {
    for (let number = step + sign; number >= 0 && number < states.length; number += sign) {
      if (hasEvent(number)) return go(number);
    }
    return go(sign > 0 ? states.length - 1 : 0);
  };

  /* A line for each seat, from `points(seat)`: pairs of a step and a height, 0 to 1. */
  const fillCurves = (place, title, points) => {
    const last = Math.max(states.length - 1, 1);
    const picture = svg("svg", { viewBox: `0 0 ${last} 100`, preserveAspectRatio: "none" });
    game.bots.forEach((_, seat) => {
      const d = points(seat).map(([number, height], at) => `${at ? "L" : "M"}${number} ${96 - 92 * height}`).join("");
      /* h0: a single point is drawn as a dot. */
      if (d) picture.append(svg("path", { d: `${d}h0`, class: "back" }), svg("path", { d: `${d}h0`, class: `s${seat}` }));
    });
    picture.append(svg("path", { class: "cursor", d: `M${step} 0V100` }));
    picture.addEventListener("click", (event) => {
      stop();
      go(Math.round((event.offsetX / picture.clientWidth) * last));
    });
    place.replaceChildren(html("span", {}, title), picture);
  };
  const fillRace = () => fillCurves(by.race, "pagodas left", (seat) => states.map((state, number) => [number, state.left[seat] / game.stock]));
  const fillValues = () => {
    const told = game.steps.flatMap((move, at) => (noteOf(at + 1)?.[1] != null ? [[at + 1, move.note[1], move.seat]] : []));
    by.values.hidden = told.length === 0;
    fillCurves(by.values, "expected share of the win, as noted", (seat) => told.filter((point) => point[2] === seat));
  };
  const fillWins = () => {
    const graded = game.steps.flatMap((move, at) => (move.grade ? [[at + 1, move.grade[3], move.seat]] : []));
    by.wins.hidden = graded.length === 0;
    fillCurves(by.wins, `who wins, in games played on by ${game.judge}`, (seat) => graded.filter((point) => point[2] === seat));
  };
  const fillTimes = () => {
    const most = Math.max(...game.steps.map((move) => move.ms ?? 0));
    by.times.hidden = most === 0;
    const spent = (seat) => game.steps.flatMap((move, at) => (move.seat === seat && move.ms !== undefined ? [[at + 1, move.ms / most]] : []));
    fillCurves(by.times, `time a move, up to ${most} ms`, spent);
  };
  /* A move in the log has its tile as a picture, and the squares that it covers. */
  const entryOf = (state, number) => {
    if (!number) return ["Start"];
    const { seat, move } = game.steps[number - 1];
    const found = /^(\w)([a-z]\d+)(\w)([a-z]\d+)$/.exec(move);
    const what = found ? [draw.domino(found[1] + found[3]), ` ${found[2]}\u2013${found[4]}`] : ["passes"];
    const time = timeWords(number).map((words) => html("small", {}, words));
    return [`${state.turn}. `, html("bdi", {}, game.names[seat]), " ", ...what, " ", ...time];
  };
  const fillLog = () => {
    by.log.replaceChildren(
      ...states.map((state, number) => {
        const entry = html("a", { href: `#game=${encodeURIComponent(game.id)}&turn=${state.turn}`, tabindex: "-1" });
        entry.append(...entryOf(state, number));
        for (const [name, isLit] of [["pointerenter", true], ["pointerleave", false]]) {
          entry.addEventListener(name, () => showScene.light(game.steps[number - 1]?.came ?? [], isLit));
        }
        entry.addEventListener("click", (event) => {
          event.preventDefault();
          stop();
          go(number);
        });
        return html("li", {}, entry, ...consequences(number).map((words) => html("span", {}, ...said(words, { tabindex: "-1" }))), ...costLine(number), ...noteLine(number));
      }),
    );
  };
  const heading = () => {
    const names = game.bots.flatMap((bot, seat) => (seat ? [" \u2013 ", html("bdi", {}, bot)] : [html("bdi", {}, bot)]));
    const winners = game.names.filter((_, seat) => game.ranks[seat] === 1);
    const won = winners.length > 1 ? `${winners.join(" and ")} share the win` : `${winners[0]} wins`;
    const chosen = game.reasons.length ? ` Chosen for: ${game.reasons.join("; ")}.` : "";
    return [html("strong", {}, ...names), ` ${game.board}, deal ${game.deal}, ${states.at(-1).turn} tiles. ${won} (${game.end}).${chosen}`];
  };
  const open = (wanted, turn, passes) => {
    stop();
    if (wanted !== game) {
      game = wanted;
      states = unfold(game);
      by.game.value = game.id;
      by.board.replaceChildren(document.querySelector(`template[data-board="${CSS.escape(game.board)}"]`).content.firstElementChild.cloneNode(true));
      live = by.board.querySelector(".live");
      showScene = draw.stage(live, game.elements);
      by.step.max = states.length - 1;
      by.eyes.replaceChildren(
        html("option", { value: "" }, "all of them"),
        ...game.names.map((name, seat) => html("option", { value: seat }, `as seat ${seat}, ${name}, saw them`)),
      );
      by.result.replaceChildren(...heading());
      fillRace();
      fillValues();
      fillWins();
      fillTimes();
      fillLog();
    }
    show(stepOf(turn, passes));
  };
  const fromAddress = () => {
    const parts = Object.fromEntries(location.hash.slice(1).split("&").map((part) => part.split("=").map(decoded)));
    const wanted = games.find((one) => one.id === parts.game);
    if (!wanted) return false;
    const [turn, passes] = (parts.turn ?? "0").split(".").map(Number);
    open(wanted, turn || 0, passes || 0);
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

  const keys = { ArrowRight: () => go(step + 1), ArrowLeft: () => go(step - 1), ArrowDown: () => seek(1), ArrowUp: () => seek(-1), Home: () => go(0), End: () => go(states.length - 1), " ": toggle };
  /* All keys where the focus is on the board or the moves; wherever else nothing but the game uses them, left and right. */
  const isOwn = (node) => node === by.board || node === by.log || by.log.contains(node);
  const isFree = (node, key) => /^Arrow(Left|Right)$/.test(key) && !node.closest("input, select, summary, [role=group].scroll");
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
  const press = { first: () => go(0), back: () => go(step - 1), forward: () => go(step + 1), last: () => go(states.length - 1), "event-back": () => seek(-1), "event-on": () => seek(1) };
  for (const [id, action] of Object.entries(press)) {
    at(id).addEventListener("click", () => {
      stop();
      action();
    });
  }
  /* A finger that goes left or right across the board steps. */
  let touched = null;
  by.board.addEventListener("touchstart", (event) => { touched = event.touches.length === 1 ? event.touches[0] : null; }, { passive: true });
  by.board.addEventListener("touchend", (event) => {
    const [lifted] = event.changedTouches;
    const [dx, dy] = touched ? [lifted.clientX - touched.clientX, lifted.clientY - touched.clientY] : [0, 0];
    if (Math.abs(dx) < 40 || Math.abs(dx) < 2 * Math.abs(dy)) return;
    stop();
    go(step - Math.sign(dx));
  });
  by.play.addEventListener("click", toggle);
  by.step.addEventListener("input", () => {
    stop();
    go(Number(by.step.value));
  });
  by.speed.addEventListener("change", () => {
    if (timer) {
      stop();
      start();
    }
  });
  by.eyes.addEventListener("change", () => {
    fillValues();
    fillLog();
    show(step);
  });
  by.game.addEventListener("change", () => {
    open(games.find((one) => one.id === by.game.value), 0, 0);
    keepAddress();
  });
  addEventListener("hashchange", () => {
    if (fromAddress()) toViewer();
  });

  by.game.append(...games.map((one) => html("option", { value: one.id }, one.id + (one.reasons.length ? ` (${one.reasons[0]})` : ""))));
  at("choice").hidden = games.length === 1;
  by.viewer.hidden = false;
  if (fromAddress()) toViewer();
  else open(games[0], Infinity, 0); // the end: nobody should meet an empty board
})();
