/* What a game tells: its positions, and what happened in each, in words. It knows no page. */
/**
 * @param {Game} game
 * @param {string[]} rows of the board
 */
const storyOf = (game, rows) => {
  const KEY = 0.05; // of the win

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
  const moveAt = (number) => game.steps[number - 1];

  const stepOf = (turn, passes = 0) => {
    const found = states.findIndex((state) => state.turn === turn);
    return found < 0 ? last : Math.min(found + passes, last);
  };
  const passesAt = (number) => number - stepOf(states[number].turn);
  /* Faults stand after the last move before them. */
  const faultsAt = (number) => game.faults.filter((fault) => stepOf(fault.turn) === number);

  const won = () => {
    const winners = game.names.filter((_, seat) => game.ranks[seat] === 1);
    return winners.length > 1 ? `${winners.join(" and ")} share the win` : `${winners[0]} wins`;
  };
  const endWords = () => {
    const order = game.ranks
      .map((rank, seat) => [rank, seat])
      .sort((one, other) => one[0] - other[0]);
    const places = order.map(
      ([rank, seat]) => `${rank}. ${game.names[seat]} (${game.left[seat]} left)`,
    );
    return `End (${game.end}): ${places.join(", ")}`;
  };
  /* What a move brought, as pairs of a kind and words. */
  const happened = (number) => [
    ...(moveAt(number)?.events ?? []).map((event) => [event[0], event[1]]),
    ...faultsAt(number).map((fault) => [
      "forfeit",
      `${game.names[fault.seat]} forfeits (${fault.kind}): ${fault.detail}`,
    ]),
    ...(number === last ? [["end", endWords()]] : []),
  ];
  const kindsOf = (number) => {
    const move = moveAt(number);
    const kinds = new Set((move?.events ?? []).map((event) => event[0]));
    if (move?.events?.some((event) => event[2])) kinds.add("home");
    if (move?.move === "pass") kinds.add("pass");
    if (faultsAt(number).length) kinds.add("forfeit");
    if (costOf(number)) kinds.add("key");
    return kinds;
  };

  /* What a judge made of the move, where it cost more than a little and more than its error. */
  const costOf = (number) => {
    const [cost, error, better] = moveAt(number)?.grade ?? [0, 0, ""];
    return cost < KEY || cost < error ? null : { cost, error, better };
  };
  const costly = states.flatMap((_, number) => (costOf(number) ? [number] : []));
  const winAt = (number) => moveAt(number)?.win ?? moveAt(number)?.grade?.[3];

  /* The tiles of a seat in the order in which it got them, each with the step since which it has
     it. */
  const tilesOf = (seat) => {
    /** @type {[string, number][]} */
    const tiles = [];
    for (const tile of game.hands[seat].match(/../g) ?? []) tiles.push([tile, 0]);
    for (const [at, move] of game.steps.entries()) {
      if (move.seat !== seat || move.move === "pass") continue;
      const had = states[at].hands[seat].match(/../g);
      /** @type {string[]} */
      const now = move.hand.match(/../g) ?? [];
      const laid = move.move.replace(/[^RYB]/g, "");
      had.splice(
        had.findIndex((tile) => tile === laid || tile === laid[1] + laid[0]),
        1,
      );
      for (const tile of had) now.splice(now.indexOf(tile), 1);
      for (const tile of now) tiles.push([tile, at + 1]);
    }
    return tiles;
  };

  return Object.freeze({
    game,
    rows,
    states,
    last,
    moveAt,
    stepOf,
    passesAt,
    won,
    happened,
    kindsOf,
    costOf,
    costly,
    winAt,
    tilesOf,
  });
};
