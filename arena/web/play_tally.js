/**
 * The results of the games that a person has played in this tab against the same bots, such as
 * "In this sitting: you 2, careful 1."
 *
 * @param {string} name the name of the game, which counts once however often its page is opened
 */
const tallyIn = (name) => {
  const SHARED = "shared";
  const keyOf = (/** @type {View} */ view) =>
    `arena-sitting ${view.names.filter((_, seat) => seat !== view.seat).join(" ")}`;
  /* The winner of each game, by the name of the game. The browser's storage may be turned off. */
  const read = (key) => {
    try {
      return JSON.parse(sessionStorage.getItem(key) ?? "{}");
    } catch {
      return {};
    }
  };
  const keep = (key, winners) => {
    try {
      sessionStorage.setItem(key, JSON.stringify(winners));
    } catch {
      // The tally then has this game only.
    }
  };
  const winnerOf = (/** @type {View} */ view) => {
    const first = view.ranks.flatMap((rank, seat) => (rank === 1 ? [seat] : []));
    return first.length > 1 ? SHARED : playWording.playerName(view, first[0]);
  };

  /**
   * Count a finished game.
   *
   * @param {View} view
   * @returns {string} all results in words; empty after the first game
   */
  const count = (view) => {
    const key = keyOf(view);
    const winners = { ...read(key), [name]: winnerOf(view) };
    keep(key, winners);
    const all = Object.values(winners);
    if (all.length < 2) return "";
    const others = view.names.filter((_, seat) => seat !== view.seat);
    const wins = (winner) => all.filter((one) => one === winner).length;
    const counts = ["you", ...others].map((player) => `${player} ${wins(player)}`);
    if (wins(SHARED)) counts.push(`shared ${wins(SHARED)}`);
    return `In this sitting: ${counts.join(", ")}.`;
  };
  return Object.freeze({ count });
};
