/**
 * The arrow keys that lead through a finished game, to its start and back.
 *
 * @param {LookingActions} actions
 */
const lookingThrough = (actions) => {
  const MOVES = { ArrowLeft: -1, ArrowRight: 1 };
  /* How many steps are on the board; null for all of them. */
  let looked = null;

  const press = (/** @type {KeyboardEvent} */ event) => {
    const target = /** @type {Element} */ (event.target);
    const isElsewhere = target.closest?.("input, select, textarea, dialog, summary");
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (!(event.key in MOVES) || isElsewhere || hasModifier || !actions.isOver()) return;
    const last = actions.count();
    const step = Math.max(0, Math.min(last, (looked ?? last) + MOVES[event.key]));
    looked = step === last ? null : step;
    event.preventDefault();
    event.stopPropagation();
    actions.onStep(step);
  };
  // Before the board, through whose squares the same keys lead while the game goes on.
  document.addEventListener("keydown", press, { capture: true });
  /* The step to show when `shown` steps have been played. */
  const stepOf = (shown) => looked ?? shown;
  const leave = () => {
    looked = null;
  };
  return Object.freeze({ stepOf, leave });
};
