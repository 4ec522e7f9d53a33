/* Sentences and links that stand both beside a finished game and beside a game in play. */
const wording = (() => {
  /** @typedef {{ names: string[], ranks: number[], left?: number[] }} Result */

  const winnersOf = (/** @type {Result} */ { names, ranks }) =>
    names.filter((_, seat) => ranks[seat] === 1);

  /* Such as "a wins", or "a and b share the win". */
  const winWords = (/** @type {Result} */ result) => {
    const winners = winnersOf(result);
    if (winners.length > 1) return `${winners.join(" and ")} share the win`;
    return `${winners[0]} wins`;
  };

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

  return Object.freeze({ winnersOf, winWords, rankingWords, percent, ruleId, withRuleLinks });
})();
