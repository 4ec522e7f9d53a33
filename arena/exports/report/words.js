/* Sentences and links that stand both beside a finished game and beside a game in play. */
const wording = (() => {
  /** @typedef {{ names: string[], ranks: number[], left?: number[], end?: string }} Result */

  /* Who does something: "a wins", but "You win". */
  const does = (name, verb) => (name === "You" ? `You ${verb}` : `${name} ${verb}s`);

  /* Why a game is over, as the end of a sentence. The reasons are those of records. */
  const END_REASONS = {
    "last pagoda": "the last pagoda is placed",
    "no tiles": "nobody has a tile left",
    "no space": "no tile fits on the board any more",
    forfeit: "only one player is left",
  };
  const endReason = (/** @type {Result} */ { end }) => END_REASONS[end] ?? end;

  const winnersOf = (/** @type {Result} */ { names, ranks }) =>
    names.filter((_, seat) => ranks[seat] === 1);

  /* Such as "a wins", or "a and b share the win". */
  const winWords = (/** @type {Result} */ result) => {
    const winners = winnersOf(result);
    if (winners.length > 1) return `${winners.join(" and ")} share the win`;
    return does(winners[0], "win");
  };

  /* A time in seconds with two digits, such as "0.25 s" or "0.0013 s". */
  const secondsWords = (ms) => `${Number((ms / 1000).toPrecision(2))}\u00a0s`;

  /* In which turn a seat moves, such as "moves first". */
  const turnWords = (seat) => `moves ${["first", "second", "third", "fourth"][seat]}`;

  /* All seats from the best rank to the worst, such as "1. a (0 left), 2. b (3 left)". */
  const rankingWords = (/** @type {Result} */ { names, ranks, left }) => {
    const seats = [...names.keys()];
    seats.sort((seat, other) => ranks[seat] - ranks[other]);
    return seats.map((seat) => `${ranks[seat]}. ${names[seat]} (${left[seat]} left)`).join(", ");
  };

  const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}\u00a0%`;

  /* The id of the element that has the text of a rule: R4.4 is r44. */
  const ruleId = (number) => number.toLowerCase().replace(".", "");

  /* Split a text at the numbers of rules, and put `linkOf(number)` in place of each number. Where
     `linkOf` returns nothing, the number stays. */
  const withRuleLinks = (text, linkOf) =>
    text.split(/\b(R\d\.\d)\b/).map((part) => (/^R\d\.\d$/.test(part) && linkOf(part)) || part);

  return Object.freeze({
    does,
    endReason,
    winnersOf,
    winWords,
    rankingWords,
    secondsWords,
    turnWords,
    percent,
    ruleId,
    withRuleLinks,
  });
})();
