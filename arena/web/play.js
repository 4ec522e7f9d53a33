/* The page of a game against bots. The server says what the position is and which moves are legal;
   the page shows it, and sends the move that a person chooses. */
(() => {
  const playing = document.getElementById("playing");
  if (!playing) return;
  const { html } = draw;
  const STEP_MS = 650;
  const MAX_STEPS_BEHIND = 4;
  const IDS =
    "playing ground grid tiles turn place hint undo said does refused over ending look grading " +
    "chance sources moments looking tally lesson lesson-title lesson-said lesson-again lesson-best " +
    "lesson-retry lesson-back share beside seats seed pace list moves choose story leave sound rules " +
    "rules-open continue";
  const parts = /** @type {PlayParts} */ (
    Object.fromEntries(IDS.split(" ").map((id) => [id, document.getElementById(id)]))
  );
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  /* The game as far as the server has said it. `elements` and `steps` stay the same lists while the
     game only goes on, so that the board knows that a later view is of the game that it shows. */
  /** @type {View} */
  let view = null;
  /* The game itself, while the page shows a moment of it as a question. */
  /** @type {View} */
  let gameView = null;
  /** @type {Story} */
  let story = null;
  /** @type {BoardElement[]} */
  let elements = [];
  /** @type {Step[]} */
  let steps = [];
  /* How many steps the page has shown. */
  let shown = 0;
  let timer = 0;
  let isFirstView = true;
  let isSending = false;
  /* Whether another game begins, whose page then takes the place of this one. */
  let isLeaving = false;

  const isOver = () => view.state === "over" || view.state === "broken";
  const canPlace = () => view?.state === "yours" || view?.state === "question";
  const isMyTurn = () => canPlace() && shown === steps.length && !isSending;

  /* The parts of the page that have a script of their own. */
  const rules = rulesIn(parts.rules);
  const slot = slotIn(parts, rules.link);
  const sounds = soundsOn(parts.sound);
  const end = endIn(parts, {
    onAsk: (number) => lesson.open(number, gameView.moments[number]),
    onRetry: (step) => playOn(step),
  });
  const choosing = choosingOn(parts, {
    onAim: (move) => view && slot.showEffects(view, move),
    onPlace: (move) => send(move),
    onRefused: (move) => askWhyRefused(move),
  });
  const server = connectToGame(
    `/play/${playing.dataset.name}`,
    (newView) => receive(newView),
    (problem) => showRefusal(problem),
  );
  const lesson = lessonIn(parts, server, {
    onView: (lessonView, from) => showView(lessonView, from),
    onClose: () => showView(gameView),
    onProblem: (problem) => showRefusal(problem),
    onRetry: (step) => playOn(step),
  });
  const looking = lookingThrough({
    isOver: () => Boolean(view) && isOver() && !lesson.isOpen() && shown === steps.length,
    count: () => steps.length,
    onStep: (step) => showStepOfEnd(step),
  });
  const statusOf = (seat, isNext) => {
    if (view.faults.some((fault) => fault.seat === seat)) return "forfeited";
    // The line is there without words, too, so that nothing below it moves.
    if (!isNext) return "\u00a0";
    return seat === view.seat ? "your move" : "thinks\u2026";
  };
  /** @type {LineOf} */
  const lineOf = (_story, _state, seat, isNext) => {
    const isMe = seat === view.seat;
    const hidden = Array.from({ length: view.hands[seat] ?? 0 }, () => draw.domino("??"));
    const words = {
      name: playWording.playerName(view, seat),
      label: "",
      status: statusOf(seat, isNext),
      unit: "to place",
    };
    return isMe ? [words] : [words, html("div", { class: "hand" }, ...hidden)];
  };
  const table = tableOf(parts.ground, parts.seats, lineOf);
  const log = logIn(parts.story, rules.withLinks, (numbers, isLit) => table.light(numbers, isLit));
  /* Made when the first view has brought the rows of the board. */
  /** @type {ReturnType<typeof gridOver>} */
  let grid = null;

  /* ---- asking the server */

  const showRefusal = (text, rule = "") =>
    slot.showRefusal(...(text ? [...rules.withLinks(text), ...rules.why(rule)] : []));
  const askWhyRefused = async (move) => {
    const at = lesson.moment();
    const asked = at === null ? server.ask("why", { move }) : server.ask("why-then", { move, at });
    const { answer, problem } = await asked;
    if (problem) showRefusal(problem);
    // The tile may have been turned, or have been aimed elsewhere, while the answer was on its way.
    else if (answer && choosing.aimedMove() === move) showRefusal(answer.words, answer.rule);
  };
  const send = async (move) => {
    if (!isMyTurn() || !move) return;
    isSending = true;
    showRefusal("");
    choosing.close();
    if (lesson.isOpen()) {
      const isTaken = await lesson.place(move);
      isSending = false;
      if (!isTaken) choosing.reopen();
      return;
    }
    const sentAt = steps.length;
    const isStale = () => steps.length !== sentAt || !isSending;
    if (warnings.areOn() && (await isCautioned(move, isStale))) return;
    if (!isStale()) await sendPlacement(move);
  };
  /* Whether the person is asked first, because the move costs much. Nothing is asked, and nothing
     placed, if the position has changed meanwhile, by Undo or in another tab. */
  const isCautioned = async (move, isStale) => {
    const { answer } = await server.ask("caution", { move });
    if (!answer?.cost || isStale()) return false;
    const think = () => {
      isSending = false;
      choosing.reopen();
    };
    slot.showCaution(answer, () => (isStale() ? undefined : sendPlacement(move)), think);
    return true;
  };
  const sendPlacement = async (move) => {
    const { problem, rule } = await server.ask("move", { move });
    if (!problem) return;
    isSending = false;
    showRefusal(problem, rule);
    choosing.reopen();
  };
  const canAskForHints = () => view?.state === "yours" && isMyTurn() && !parts.hint.disabled;
  const askForHints = async () => {
    if (!canAskForHints()) return;
    const askedAt = steps.length;
    parts.hint.disabled = true;
    const { answer, problem } = await server.ask("hint");
    // An answer that comes after a move belongs to an earlier position.
    if (steps.length !== askedAt) return;
    parts.hint.disabled = !isMyTurn();
    if (problem) {
      showRefusal(problem);
      return;
    }
    showRefusal("");
    choosing.showHints(answer);
    slot.showWords(playWording.hintWords(answer));
  };
  const undo = async () => {
    if (parts.undo.disabled) return;
    parts.undo.disabled = true;
    const { problem } = await server.ask("undo");
    if (problem) showRefusal(problem);
  };
  /* The first press only asks, because the bots are stopped. */
  const leave = () => {
    const { leave: button } = parts;
    const words = button.textContent;
    if (button.dataset.asked) {
      server.ask("leave");
      return;
    }
    button.dataset.asked = "yes";
    button.textContent = "Really leave?";
    button.addEventListener(
      "blur",
      () => {
        delete button.dataset.asked;
        button.textContent = words;
      },
      { once: true },
    );
    button.focus();
  };
  const setLeaving = (/** @type {boolean} */ isNowLeaving) => {
    isLeaving = isNowLeaving;
  };
  /* Begin another game, and go to its page. One click begins one game. */
  const beginOther = async (question, fields = {}) => {
    if (isLeaving) return;
    setLeaving(true);
    const { address, problem } = await server.ask(question, fields);
    if (address) {
      location.assign(address);
      return;
    }
    setLeaving(false);
    showRefusal(problem);
    parts.refused.scrollIntoView({ block: "nearest" });
  };
  const playAgain = (how) => beginOther(`again/${how}`);
  const continueLeft = () => beginOther("continue");
  const playOn = (step) => beginOther("play/on", { at: step });

  /* ---- showing the steps of the game, one after another */

  const showTable = (isMoving) => {
    const at = looking.stepOf(shown);
    const mover = steps[at]?.seat ?? (isOver() ? undefined : view.mover);
    table.show(at, isMoving, mover);
    const pagodasOf = (seat) =>
      story.states.slice(0, shown + 1).map(({ left }, number) => [number, left[seat] / view.stock]);
    const ignoreClick = () => {};
    if (shown === 0) {
      parts.pace.replaceChildren(
        html("span", {}, "pagodas to place: drawn from the first move on"),
      );
      return;
    }
    curves.lines(parts.pace, "pagodas to place", story, ignoreClick, pagodasOf, { stairs: true });
  };
  /* Show the finished game as it was after a number of steps. */
  const showStepOfEnd = (step) => {
    showTable(false);
    parts.looking.textContent = playWording.lookingWords(view, step);
  };
  const showNextStep = (isMoving) => {
    shown += 1;
    log.addStep(view, steps[shown - 1]);
    choosing.forgetHints();
    if (!isMoving) return;
    slot.showWords(playWording.stepSentence(view, steps[shown - 1]));
    showTable(true);
    sounds.playStep(steps[shown - 1]);
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

  const moveGroup = (tile, legalMoves) =>
    html(
      "optgroup",
      { label: playWording.tileWords(tile) },
      ...placementsOf(tile, legalMoves).map((move) =>
        html("option", { value: move }, playWording.placementWords(move)),
      ),
    );
  const showMoveList = () => {
    const legalMoves = new Set(isMyTurn() ? view.legal : []);
    const tiles = [...new Set(view.hand)];
    parts.list.hidden = !isMyTurn();
    parts.moves.replaceChildren(...tiles.map((tile) => moveGroup(tile, legalMoves)));
  };
  const showWords = () => {
    const lastMoves = isOver() ? "" : playWording.lastMovesWords(view);
    const unseen = lastMoves ? [html("span", { class: "unseen" }, lastMoves)] : [];
    const news = playWording
      .newsWords(view)
      .map((words) => html("span", {}, ...rules.withLinks(`${words} `)));
    slot.showNews(news, [...unseen, ...news, ...rules.withLinks(playWording.statusWords(view))]);
  };
  const squareWords = (row, column) => {
    const words = playWording.squareWords(view, row, column);
    return choosing.isLit(row, column) ? `${words}, the chosen tile can lie here` : words;
  };
  const showPresent = () => {
    log.addFaults(view);
    showWords();
    choosing.open(view, isMyTurn() ? view.legal : []);
    grid.label(squareWords);
    parts.hint.disabled = view.state !== "yours" || !isMyTurn();
    parts.undo.disabled = !view.undo;
    showMoveList();
    if (!lesson.isOpen()) end.show(view, story);
  };
  const chooseTile = (index) => {
    if (!view) return;
    choosing.chooseTile(index);
    grid?.label(squareWords);
  };

  /* ---- a new view from the server */

  /* Show the game from its start, because moves were taken back. */
  const startOver = () => {
    elements = [];
    steps = [];
    shown = 0;
    isFirstView = true;
    log.clear();
  };
  const receive = (/** @type {View} */ newView) => {
    gameView = newView;
    if (!lesson.isOpen()) showView(newView);
  };
  /* Show a view. With `from`, that number of its steps is shown at once and the others one by one. */
  const showView = (/** @type {View} */ newView, from = null) => {
    const isSameGame = steps.every(({ move }, index) => newView.steps[index]?.move === move);
    if (!isSameGame || from !== null) startOver();
    if (lesson.isOpen()) looking.leave();
    if (from !== null) {
      shown = from;
      isFirstView = false;
    }
    elements.splice(0, elements.length, ...newView.elements);
    steps.splice(0, steps.length, ...newView.steps);
    view = { hand: [], ...newView };
    isSending = false;
    showRefusal("");
    // The list is of the position before as long as moves are shown one after another.
    if (shown !== steps.length) parts.list.hidden = true;
    grid ??= gridOver(parts, view.rows, {
      onPoint: choosing.point,
      onLeave: choosing.leave,
      onClick: choosing.click,
      onPress: choosing.press,
    });
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

  turnByGesture(parts.ground, choosing, choosing.turnTile);
  const choose = (index) => () => chooseTile(index);
  keysIn(parts.playing, () => !parts.rules.open, {
    1: choose(0),
    2: choose(1),
    3: choose(2),
    r: choosing.turnTile,
    h: askForHints,
    u: undo,
  });
  parts.turn.addEventListener("click", choosing.turnTile);
  parts.hint.addEventListener("click", askForHints);
  parts.undo.addEventListener("click", undo);
  parts.place.addEventListener("click", choosing.place);
  parts.choose.addEventListener("click", () => send(parts.moves.value));
  parts["rules-open"].addEventListener("click", () => rules.open());
  parts.leave.addEventListener("click", leave);
  parts.continue.addEventListener("click", continueLeft);
  /** @type {NodeListOf<HTMLElement>} */
  const againButtons = playing.querySelectorAll("[data-again]");
  for (const button of againButtons) {
    button.addEventListener("click", () => playAgain(button.dataset.again));
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && view) follow();
  });
  // A page that the browser kept, and shows again, can begin another game.
  addEventListener("pageshow", () => setLeaving(false));
})();
