/* The page of a game against bots. The server says what the position is and which moves are legal;
   the page shows it, and sends the move that a person chooses. */
(() => {
  const playing = document.getElementById("playing");
  if (!playing) return;
  const { html } = draw;
  const STEP_MS = 650;
  const MAX_STEPS_BEHIND = 4;
  const IDS =
    "playing ground grid tiles turn place hint said refused over ending look grade grading seats " +
    "seed pace list moves choose story leave rules rules-open";
  const parts = /** @type {PlayParts} */ (
    Object.fromEntries(IDS.split(" ").map((id) => [id, document.getElementById(id)]))
  );
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  /* The game as far as the server has said it. `elements` and `steps` stay the same lists, so that
     the board knows that a later view is of the game that it shows. */
  /** @type {View} */
  let view = null;
  /** @type {Story} */
  let story = null;
  /** @type {BoardElement[]} */
  const elements = [];
  /** @type {Step[]} */
  const steps = [];
  /* How many steps the page has shown. */
  let shown = 0;
  let timer = 0;
  let isFirstView = true;
  let shownFaults = 0;

  /* What the person is about to play. */
  /** @type {Set<string>} */
  let legalMoves = new Set();
  let chosenIndex = 0;
  let turn = 0;
  /** @type {{ row: number, column: number, move: string }} */
  let aim = null;
  /** @type {[string, number][]} */
  let hints = [];
  let isSending = false;

  const isOver = () => view.state === "over" || view.state === "broken";
  const isMyTurn = () => view?.state === "yours" && shown === steps.length && !isSending;
  const chosenTile = () => view.hand[chosenIndex];

  /* The parts of the page that have a script of their own. */
  const overlay = overlayOn(parts.ground);
  const hand = handIn(parts.tiles, (index) => choose(index));
  const server = connectToGame(
    `/play/${playing.dataset.name}`,
    (newView) => receive(newView),
    (problem) => showRefusal(problem),
  );
  /** @type {LineOf} */
  const lineOf = (_story, _state, seat, isNext) => {
    const isMe = seat === view.seat;
    const hidden = Array.from({ length: view.hands[seat] ?? 0 }, () => draw.domino("??"));
    const words = {
      name: playWording.playerName(view, seat),
      status: statusOf(seat, isNext),
      unit: "to place",
    };
    return isMe ? [words] : [words, html("div", { class: "hand" }, ...hidden)];
  };
  const statusOf = (seat, isNext) => {
    if (view.faults.some((fault) => fault.seat === seat)) return "forfeited";
    if (!isNext) return "";
    return seat === view.seat ? "your move" : "thinks\u2026";
  };
  const table = tableOf(parts.ground, parts.seats, lineOf);
  /* Both are made when the first view has brought the rows of the board. */
  /** @type {ReturnType<typeof placingOn>} */
  let placing = null;
  /** @type {ReturnType<typeof gridOver>} */
  let grid = null;

  /* ---- choosing a move */

  const showHand = () => hand.show(view.hand, chosenIndex, turn);
  const showAim = () => {
    const isLegal = Boolean(aim) && legalMoves.has(aim.move);
    parts.place.disabled = !isMyTurn() || !isLegal;
    overlay.showTiles(hints, isMyTurn() && aim ? aim.move : null, isLegal);
  };
  const showLights = () => {
    const isLit = isMyTurn() && chosenTile();
    overlay.showLights(isLit ? placementsOf(chosenTile(), legalMoves) : []);
  };
  const moveOver = (row, column, wantedTurn) =>
    placing.moveOver(chosenTile(), row, column, wantedTurn, legalMoves);
  const aimAt = (row, column) => {
    const move = isMyTurn() && chosenTile() ? moveOver(row, column, turn) : null;
    aim = move ? { row, column, move } : null;
    showAim();
  };
  const clearAim = () => {
    aim = null;
    showAim();
  };
  const isAimedAt = (row, column) => aim?.row === row && aim?.column === column;

  /* The next turn of the tile: one in which it is legal where it is aimed, if there is any. */
  const nextTurn = () => {
    const all = turnsOf(chosenTile());
    const current = all.indexOf(turn % all.length);
    const following = [...all.slice(current + 1), ...all.slice(0, current)];
    const fits = (candidate) => {
      if (!aim) return false;
      const move = moveOver(aim.row, aim.column, candidate);
      return legalMoves.has(move) && move !== aim.move;
    };
    return following.find(fits) ?? following[0];
  };
  const turnTile = () => {
    if (!view || !chosenTile()) return;
    turn = nextTurn();
    if (aim) aimAt(aim.row, aim.column);
    showHand();
  };
  const choose = (index) => {
    if (!view || index >= view.hand.length) return;
    chosenIndex = index;
    turn %= turnsOf(chosenTile()).length;
    showHand();
    showLights();
    if (aim) aimAt(aim.row, aim.column);
    showAim();
  };
  /* A finger cannot turn the tile, so each tap on a square aims at the next legal placement there.
     Where the tile cannot lie, a tap sends the move, so that the server says which rule forbids it.
   */
  const aimByTap = (row, column) => {
    if (!isMyTurn()) return;
    const here = notation.squareName(row, column);
    const candidates = placementsOf(chosenTile(), legalMoves).filter((move) => {
      const { first, second } = notation.parseMove(move);
      return first.square === here || second.square === here;
    });
    if (candidates.length) {
      const next = (candidates.indexOf(aim?.move) + 1) % candidates.length;
      aim = { row, column, move: candidates[next] };
    } else {
      aimAt(row, column);
      send(aim?.move);
    }
    showAim();
  };

  /* ---- asking the server */

  const showRefusal = (text) => {
    parts.refused.hidden = !text;
    parts.refused.replaceChildren(...withRuleLinks(text));
  };
  const showMoveState = () => {
    showAim();
    showLights();
  };
  const send = async (move) => {
    if (!isMyTurn() || !move) return;
    if (!legalMoves.has(move)) {
      // The server refuses the move, and says why.
      const { problem } = await server.ask("move", { move });
      showRefusal(problem ?? "");
      return;
    }
    isSending = true;
    aim = null;
    showRefusal("");
    showMoveState();
    const { problem } = await server.ask("move", { move });
    if (!problem) return;
    isSending = false;
    showRefusal(problem);
    showMoveState();
  };
  const askForHints = async () => {
    if (!isMyTurn()) return;
    parts.hint.disabled = true;
    const { answer, problem } = await server.ask("hint");
    parts.hint.disabled = !isMyTurn();
    if (problem) {
      showRefusal(problem);
      return;
    }
    hints = answer;
    parts.said.replaceChildren(playWording.hintWords(hints));
    showAim();
  };
  const playAgain = async (how) => {
    const { address, problem } = await server.ask(`again/${how}`);
    if (address) location.assign(address);
    else showRefusal(problem);
  };
  const askForGrades = async () => {
    const { problem } = await server.ask("review");
    if (problem) showRefusal(problem);
  };

  /* ---- the rules */

  const openRules = (rule) => {
    parts.rules.showModal();
    rule?.focus();
  };
  const ruleLink = (number) => {
    const rule = document.getElementById(wording.ruleId(number));
    if (!rule) return null;
    const title = rule.querySelector("dd").textContent;
    const link = html("a", { href: `#${rule.id}`, class: "rule", title }, number);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      openRules(rule);
    });
    return link;
  };
  const withRuleLinks = (text) => wording.withRuleLinks(text, ruleLink);

  /* ---- showing the steps of the game, one after another */

  const addToLog = (...nodes) => {
    const entry = html("li", {}, ...nodes);
    parts.story.append(entry);
    return entry;
  };
  const scrollLog = () => {
    parts.story.scrollTop = parts.story.scrollHeight;
  };
  const logStep = (/** @type {Step} */ step) => {
    const player = html("bdi", {}, playWording.playerNameAtStart(view, step.seat));
    const head = html("p", {}, `${step.turn}. `, player, " ", ...draw.loggedMove(step.move));
    const events = step.events.map(([, words]) => html("span", {}, ...withRuleLinks(words)));
    const entry = addToLog(head, ...events);
    entry.addEventListener("pointerenter", () => table.light(step.came, true));
    entry.addEventListener("pointerleave", () => table.light(step.came, false));
    scrollLog();
  };
  const logFaults = () => {
    for (const fault of view.faults.slice(shownFaults)) {
      addToLog(html("span", { class: "key" }, ...withRuleLinks(fault.words)));
    }
    shownFaults = view.faults.length;
    scrollLog();
  };
  const showTable = (isMoving) => {
    const mover = isOver() ? undefined : (steps[shown]?.seat ?? view.mover);
    table.show(shown, isMoving, mover);
    const pagodasOf = (seat) =>
      story.states.slice(0, shown + 1).map(({ left }, number) => [number, left[seat] / view.stock]);
    const ignoreClick = () => {};
    curves.lines(parts.pace, "pagodas to place", story, ignoreClick, pagodasOf, { stairs: true });
  };
  const showNextStep = (isMoving) => {
    shown += 1;
    logStep(steps[shown - 1]);
    if (isMoving) showTable(true);
  };
  /* Show the steps that came, one at a time. They are shown all at once to those who want no motion
     or do not look, and where the page is too far behind. */
  const follow = () => {
    clearTimeout(timer);
    const isQuick = calm.matches || document.hidden || isFirstView;
    while (shown < steps.length && (isQuick || steps.length - shown > MAX_STEPS_BEHIND)) {
      showNextStep(false);
    }
    if (shown === steps.length) showTable(false);
    else showNextStep(true);
    if (shown === steps.length) showPresent();
    else timer = setTimeout(follow, STEP_MS);
  };

  /* ---- showing the present state, once all steps are shown */

  /* A tile of the hand that has a legal placement: the chosen one if it has, else the first. */
  const playableIndex = () => {
    const hasPlace = (tile) => placementsOf(tile, legalMoves).length > 0;
    if (!isMyTurn() || hasPlace(chosenTile())) return chosenIndex;
    return Math.max(0, view.hand.findIndex(hasPlace));
  };
  const moveGroup = (tile) =>
    html(
      "optgroup",
      { label: playWording.tileWords(tile) },
      ...placementsOf(tile, legalMoves).map((move) =>
        html("option", { value: move }, playWording.placementWords(move)),
      ),
    );
  const showMoveList = () => {
    parts.list.hidden = !isMyTurn();
    parts.moves.replaceChildren(...[...new Set(view.hand)].map(moveGroup));
  };
  const showWords = () => {
    const ownMove = playWording.ownMoveWords(view);
    const unseen = ownMove ? [html("span", { class: "unseen" }, ownMove)] : [];
    parts.said.replaceChildren(...unseen, ...withRuleLinks(playWording.statusWords(view)));
  };
  const showPresent = () => {
    logFaults();
    legalMoves = new Set(isMyTurn() ? view.legal : []);
    if (chosenIndex >= view.hand.length) chosenIndex = 0;
    if (view.hand.length) {
      chosenIndex = playableIndex();
      turn %= turnsOf(chosenTile()).length;
    }
    hints = [];
    showHand();
    showLights();
    grid.label((row, column) => playWording.squareWords(view, row, column));
    if (aim) aimAt(aim.row, aim.column);
    else showAim();
    parts.hint.disabled = !isMyTurn();
    parts.turn.disabled = !isMyTurn();
    showMoveList();
    showWords();
    showEnd();
  };
  const showEnd = () => {
    const isEnded = isOver();
    playing.classList.toggle("is-over", isEnded);
    parts.over.hidden = !isEnded;
    parts.leave.hidden = isEnded;
    if (!isEnded) return;
    parts.ending.textContent = playWording.endWords(view);
    if (view.seed) parts.seed.textContent = `, seed ${view.seed}`;
    parts.look.hidden = !view.kept;
    parts.grade.hidden = !view.kept;
    if (view.kept) {
      const game = view.game.split("/").map(encodeURIComponent).join("/");
      parts.look.href = `/runs/${encodeURIComponent(view.kept)}/games/${game}`;
    }
    if (view.grading) showGrading();
  };
  const showGrading = () => {
    parts.grade.disabled = true;
    parts.grading.hidden = false;
    parts.grading.textContent = view.grading;
    if (view.graded) parts.look.textContent = "Look at the game with its key moments";
  };

  /* ---- a new view from the server */

  const makeBoard = () => {
    placing = placingOn(view.rows);
    grid = gridOver(parts, view.rows, {
      onPoint: (row, column) => {
        if (!isAimedAt(row, column)) aimAt(row, column);
      },
      onLeave: clearAim,
      onClick: (row, column) => {
        aimAt(row, column);
        send(aim?.move);
      },
      onTap: aimByTap,
    });
  };
  const receive = (/** @type {View} */ newView) => {
    elements.splice(0, elements.length, ...newView.elements);
    steps.splice(0, steps.length, ...newView.steps);
    view = { hand: [], ...newView };
    isSending = false;
    if (!grid) makeBoard();
    const { board, names, stock, start, rows } = view;
    /** @type {Game} */
    const game = {
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
    };
    story = storyOf(game, rows);
    table.open(story);
    follow();
    isFirstView = start.length === 0;
  };

  /* ---- buttons and keys */

  turnByGesture(parts.ground, isMyTurn, turnTile);
  document.addEventListener("keydown", (event) => {
    const isInField = /** @type {Element} */ (event.target).closest?.("input, select, textarea");
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (hasModifier || isInField || parts.rules.open) return;
    const key = event.key.toLowerCase();
    if (["1", "2", "3"].includes(key)) choose(Number(key) - 1);
    else if (key === "r") turnTile();
    else if (key === "h") askForHints();
  });
  parts.turn.addEventListener("click", turnTile);
  parts.hint.addEventListener("click", askForHints);
  parts.place.addEventListener("click", () => send(aim?.move));
  parts.choose.addEventListener("click", () => send(parts.moves.value));
  parts["rules-open"].addEventListener("click", () => openRules(null));
  parts.leave.addEventListener("click", () => server.ask("leave"));
  parts.grade.addEventListener("click", askForGrades);
  /** @type {NodeListOf<HTMLElement>} */
  const againButtons = playing.querySelectorAll("[data-again]");
  for (const button of againButtons) {
    button.addEventListener("click", () => playAgain(button.dataset.again));
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && view) follow();
  });
})();
