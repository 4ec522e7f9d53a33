/**
 * Work out the positions of a game and what happened in each, in words. Nothing here knows a page.
 *
 * @param {Game} game
 * @param {string[]} rows the rows of the board
 */
const storyOf = (game, rows) => {
  /* A move is costly if it cost at least this share of the win. */
  const COSTLY = 0.05;
  /* At most MOST_SWINGS changes of the chances, each of at least SWING, are key moments. */
  const MOST_SWINGS = 3;
  const SWING = 0.15;

  /* All positions from what each move changed. */
  const unfold = () => {
    /** @type {Position} */
    const first = {
      cells: [...rows.join("")],
      scene: game.scene,
      left: Array(game.bots.length).fill(game.stock),
      hands: game.hands,
      pile: game.pile,
      turn: 0,
    };
    const all = [first];
    for (const move of game.steps) {
      const before = all.at(-1);
      const cells = [...before.cells];
      const hands = [...before.hands];
      for (const [square, cell] of Object.entries(move.cells ?? {})) cells[square] = cell;
      hands[move.seat] = move.hand;
      const scene = [
        ...before.scene.filter((number) => !move.went?.includes(number)),
        ...(move.came ?? []),
      ];
      all.push({
        cells,
        scene,
        hands,
        left: move.left ?? before.left,
        pile: move.pile,
        turn: move.turn,
      });
    }
    return all;
  };
  const states = unfold();
  const last = states.length - 1;
  /* The move that led to a step; undefined for step 0, the start. */
  const moveAt = (number) => game.steps[number - 1];

  /* The step after `turn` tiles and then `passes` passes; the last step if no step has `turn` tiles. */
  const stepOf = (turn, passes = 0) => {
    const found = states.findIndex((state) => state.turn === turn);
    return found < 0 ? last : Math.min(found + passes, last);
  };
  /* The number of passes between the last tile before a step and the step. */
  const passesAt = (number) => number - stepOf(states[number].turn);
  /* Faults stand after the last move before them. */
  const faultsAt = (number) => game.faults.filter((fault) => stepOf(fault.turn) === number);

  const winWords = () => wording.winWords(game);
  const endWords = () =>
    `The game is over: ${wording.endReason(game)}. ${wording.rankingWords(game)}.`;
  /* What a move brought, as a kind, words, and the number of a rule that may be left out. */
  const happened = (number) => [
    ...(moveAt(number)?.events ?? []).map((event) => [event[0], event[1], event[3]]),
    ...faultsAt(number).map((fault) => [
      "forfeit",
      `${wording.does(game.names[fault.seat], "forfeit")} (${fault.kind}): ${fault.detail}`,
    ]),
    ...(number === last ? [["end", endWords()]] : []),
  ];
  /* The kinds of what happened at a step, also "home" (pagodas go back), "pass", "forfeit" and "key"
     (a costly move). */
  const kindsOf = (number) => {
    const move = moveAt(number);
    const kinds = new Set((move?.events ?? []).map((event) => event[0]));
    if (move?.events?.some((event) => event[2])) kinds.add("home");
    if (move?.move === "pass") kinds.add("pass");
    if (faultsAt(number).length) kinds.add("forfeit");
    if (costOf(number)) kinds.add("key");
    return kinds;
  };

  /* The judge's verdict on a costly move: what it cost, the error of that figure, and a better
     move. Null for all other moves, and where the cost lies within its error. */
  const costOf = (number) => {
    const [cost, error, better] = moveAt(number)?.grade ?? [0, 0, ""];
    return cost < COSTLY || cost < error ? null : { cost, error, better };
  };
  const costly = states.flatMap((_, number) => (costOf(number) ? [number] : []));
  /* The mover's share of the win after a move, from 0 to 1; undefined if no judge has judged it. */
  const winAt = (number) => moveAt(number)?.win ?? moveAt(number)?.grade?.[3];
  /* The steps that changed the chances in a game of two most. */
  const swings = () => {
    if (game.bots.length !== 2) return [];
    /** @type {[number, number][]} */
    const sizes = [];
    let before = null;
    for (const number of states.keys()) {
      const share = winAt(number);
      if (share === undefined) continue;
      const first = moveAt(number).seat ? 1 - share : share;
      if (before !== null) sizes.push([Math.abs(first - before), number]);
      before = first;
    }
    sizes.sort((one, other) => other[0] - one[0]);
    return sizes.slice(0, MOST_SWINGS).flatMap(([size, number]) => (size < SWING ? [] : [number]));
  };
  const isCapture = (/** @type {StepEvent} */ [kind]) => kind === "conquer" || kind === "home";
  const captures = game.steps.flatMap(({ events }, index) =>
    events?.some(isCapture) ? [index + 1] : [],
  );
  /* The key moments: what a reader who has little time wants to see. */
  const moments = [...new Set([...costly, ...captures, ...swings()])].sort(
    (one, other) => one - other,
  );

  /* The tiles of a seat in the order in which it got them, each with the step at which it got it. */
  const tilesOf = (seat) => {
    /** @type {[string, number][]} */
    const received = notation.tilesOf(game.hands[seat]).map((tile) => [tile, 0]);
    for (const [index, { seat: mover, move, hand }] of game.steps.entries()) {
      const placement = notation.parseMove(move);
      if (mover !== seat || !placement) continue;
      const kept = notation.tilesOf(states[index].hands[seat]);
      kept.splice(
        kept.findIndex((tile) => notation.isSameTile(tile, placement.tile)),
        1,
      );
      const drawn = notation.tilesOf(hand);
      for (const tile of kept) drawn.splice(drawn.indexOf(tile), 1);
      for (const tile of drawn) received.push([tile, index + 1]);
    }
    return received;
  };

  return Object.freeze({
    game,
    rows,
    states,
    last,
    moveAt,
    stepOf,
    passesAt,
    winWords,
    happened,
    kindsOf,
    costOf,
    costly,
    moments,
    winAt,
    tilesOf,
  });
};
