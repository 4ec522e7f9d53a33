/**
 * A moment of a finished game as a question: the board before a move that cost much. The person
 * places a tile, as in a game, and learns what it is worth; after a wrong one, also the best move.
 *
 * @param {PlayParts} parts
 * @param {ReturnType<typeof connectToGame>} server
 * @param {LessonActions} actions
 */
const lessonIn = (parts, server, actions) => {
  let number = 0;
  /** @type {Moment | null} */
  let moment = null;

  const percent = (share) => wording.percent(share);
  const say = (words) => {
    parts["lesson-said"].textContent = words;
  };
  const show = (isOpen) => {
    parts.playing.classList.toggle("in-lesson", isOpen);
    parts.lesson.hidden = !isOpen;
    if (isOpen) {
      parts["lesson-title"].focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
  };
  /* Ask the server about the moment; null after a problem, which is shown. */
  const ask = async (what, fields = {}) => {
    const { answer, problem } = await server.ask(what, { at: number, ...fields });
    if (problem) actions.onProblem(problem);
    return answer ?? null;
  };

  const begin = async () => {
    const asked = moment;
    const answer = await ask("question");
    /* The lesson may have been closed, or another one opened, while the answer was on its way. */
    if (!answer || !asked || asked !== moment) return;
    parts["lesson-best"].disabled = true;
    parts["lesson-again"].disabled = true;
    parts["lesson-title"].textContent = `Tile ${asked.turn + 1}: what would you play now?`;
    say(
      `${asked.title}. With the best move you win ${percent(asked.before)} of the games. ` +
        "Place a tile that does about as well.",
    );
    show(true);
    actions.onView(answer.view, answer.view.steps.length);
  };
  /**
   * @param {number} newNumber
   * @param {Moment} newMoment
   */
  const open = (newNumber, newMoment) => {
    number = newNumber;
    moment = newMoment;
    return begin();
  };
  const close = () => {
    moment = null;
    show(false);
    actions.onClose();
    /** @type {NodeListOf<HTMLElement>} */
    const buttons = parts.moments.querySelectorAll(".ask");
    buttons[number]?.focus();
  };
  const verdictOn = ({ right, win, best, same }) => {
    if (right) {
      return best - win < 0.005
        ? `Right: that is the best move, with ${percent(best)} of the games won.`
        : `Right: that wins ${percent(win)} of the games, about as many as the best move.`;
    }
    const what = same ? "That is what you played. It wins" : "Not yet: that wins";
    const replies = same ? "What came then is on the board." : "A reply to it is on the board.";
    return `${what} ${percent(win)} of the games; the best move wins ${percent(best)}. ${replies}`;
  };
  /* Try a move; whether the server took it. */
  const place = async (move) => {
    const asked = moment;
    const answer = await ask("try", { move });
    if (!answer || !asked || asked !== moment) return false;
    say(verdictOn(answer));
    parts["lesson-best"].disabled = false;
    parts["lesson-again"].disabled = false;
    actions.onView(answer.view, asked.step);
    return true;
  };
  const showBest = async () => {
    const asked = moment;
    const answer = await ask("best");
    if (!answer || !asked || asked !== moment) return;
    say(`The best move is ${answer.reason}. It wins ${percent(answer.best)} of the games.`);
    actions.onView(answer.view, asked.step);
  };

  parts["lesson-again"].addEventListener("click", begin);
  parts["lesson-best"].addEventListener("click", showBest);
  parts["lesson-retry"].addEventListener("click", () => actions.onRetry(moment.step));
  parts["lesson-back"].addEventListener("click", close);
  const isOpen = () => moment !== null;
  /* The number of the moment that is asked about; null if none is. */
  const openNumber = () => (isOpen() ? number : null);
  return Object.freeze({ open, place, isOpen, moment: openNumber });
};
