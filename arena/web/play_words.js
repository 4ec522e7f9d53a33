/* The sentences on the page of a game in play. All follow from the view that the server sends. */
const playWording = (() => {
  const GROUND_NAMES = { ".": "grass", V: "village", "~": "lake" };

  const playerName = (/** @type {View} */ view, seat) =>
    seat === view.seat ? "you" : view.names[seat];
  const playerNameAtStart = (/** @type {View} */ view, seat) =>
    seat === view.seat ? "You" : view.names[seat];

  /* The colours of a tile, such as "red-blue". */
  const { tileWords } = notation;
  /* Such as "red-blue at c3 d3". */
  const placementWords = (move) => {
    const { first, second, tile } = notation.parseMove(move);
    return `${tileWords(tile)} at ${first.square} ${second.square}`;
  };

  /* What a screen reader says of a square, such as "c3, red space of you". */
  const squareWords = (/** @type {View} */ view, row, column) => {
    const cell = view.cells[row * view.rows[0].length + column];
    const colour = notation.COLOUR_NAMES[cell[0]];
    const ground = colour ? `${colour} space` : GROUND_NAMES[cell[0]];
    const owner = cell[1] ? ` of ${playerName(view, Number(cell[1]))}` : "";
    return `${notation.squareName(row, column)}, ${ground}${owner}`;
  };

  /* A step: with `isFull` also the squares, for those who do not see them on the board. */
  const stepWords = (/** @type {View} */ view, /** @type {Step} */ { seat, move }, isFull) => {
    const player = playerNameAtStart(view, seat);
    if (move !== "pass") {
      const { tile } = notation.parseMove(move);
      return `${player} placed ${isFull ? placementWords(move) : tileWords(tile)}.`;
    }
    if (seat === view.seat) return "You have no legal move and pass.";
    return `${player} has no legal move and passes.`;
  };
  /* A step and everything that followed from it. */
  const stepSentence = (/** @type {View} */ view, /** @type {Step} */ step) => {
    const events = step.events.map(([, words]) => words);
    return [stepWords(view, step, false), ...events].join(" ");
  };

  /* A finished game after a number of its steps. */
  const lookingWords = (/** @type {View} */ view, step) => {
    if (step === 0) return "The start of the game.";
    const { turn } = view.steps[step - 1];
    const last = view.steps.at(-1).turn;
    return `Tile ${turn} of ${last}. ${stepSentence(view, view.steps[step - 1])}`;
  };

  const RING = "A white ring marks a square that was there from the start.";
  /* How a tile is placed, with a finger or with the mouse. */
  const howToPlace = () =>
    matchMedia("(pointer: coarse), (width < 760px)").matches
      ? "Tap a lit square to try the tile there. Turn turns it. Tap again, or Place, to place it."
      : "Click a lit square to try the tile there. R or Turn turns it. Click again to place it.";
  const firstTurnWords = (/** @type {View} */ view) =>
    `You move. Be the first to place all ${view.stock} pagodas. Choose a tile. ${howToPlace()} ` +
    RING;

  const endWords = (/** @type {View} */ view) => {
    if (view.state === "broken") return `The game has ended without a result: ${view.says}.`;
    return view.says ? `${view.headline} Note: ${view.says}.` : view.headline;
  };

  /* What happened since the person moved: a text for each step. */
  const newsWords = (/** @type {View} */ view) => {
    if (view.state === "starting" || view.state === "question") return [];
    const ownLast = view.steps.findLastIndex(({ seat }) => seat === view.seat);
    const since = view.state === "tried" ? Math.max(0, ownLast) : ownLast + 1;
    return view.steps.slice(since).map((step) => stepSentence(view, step));
  };
  /* What the page waits for now. */
  const statusWords = (/** @type {View} */ view) => {
    const hasMoved = view.steps.some(({ seat }) => seat === view.seat);
    switch (view.state) {
      case "starting":
        return "The bots are made ready.";
      case "question":
        return "Your move. Which tile would you place here now?";
      case "yours":
        return hasMoved ? "Your move." : firstTurnWords(view);
      case "tried":
        return "";
      case "theirs":
        return view.mover === view.seat ? "" : `${view.names[view.mover] ?? "A bot"} thinks.`;
      default:
        return endWords(view);
    }
  };

  /* The last move of each player with its squares, for those who do not see it on the board. */
  const lastMovesWords = (/** @type {View} */ view) => {
    const ownLast = view.steps.findLastIndex(({ seat }) => seat === view.seat);
    const last = view.steps.slice(Math.max(0, ownLast));
    return last.map((step) => `${stepWords(view, step, true)} `).join("");
  };

  const hintWords = (/** @type {Hints} */ { moves, best, win, reason }) => {
    if (!best) {
      const isOne = moves.length === 1;
      return isOne
        ? "There is one move, and its squares are marked."
        : `The squares of ${moves.length} good moves are marked. Which of your tiles goes there ` +
            "is for you to find. Press Hint again for the best move.";
    }
    const chance = wording.percent(win);
    return (
      `The best move is ${reason}. If all play equally well from here, ` +
      `it wins about ${chance} of games. Click it to aim at it.`
    );
  };

  return Object.freeze({
    playerName,
    playerNameAtStart,
    tileWords,
    placementWords,
    squareWords,
    RING,
    stepSentence,
    howToPlace,
    newsWords,
    statusWords,
    lastMovesWords,
    endWords,
    lookingWords,
    hintWords,
  });
})();
