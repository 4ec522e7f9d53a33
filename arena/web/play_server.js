/**
 * The connection of the page of a game with the server.
 *
 * @param {string} address the address of the page
 * @param {(view: View) => void} onView is called with each new state of the game
 * @param {(problem: string) => void} onConnection is called with what is wrong with the connection,
 *   or with an empty text once it is open
 */
const connectToGame = (address, onView, onConnection) => {
  const UNREACHABLE = "the server cannot be reached: the game goes on once it is there again";
  const PROBLEMS = {
    open: "",
    lost:
      "The connection is lost. The game waits: " +
      "the page goes on with it as soon as the server can be reached.",
    gone: "The server does not know this game any more. It has probably been started again.",
    unreadable: "The server sent something that this page cannot read: load the page again.",
  };
  let knownSteps = 0;
  const receive = (/** @type {View} */ view) => {
    knownSteps = view.steps.length;
    onView(view);
  };
  streamInView(`${address}/events`, { message: receive }, (state) => onConnection(PROBLEMS[state]));

  /**
   * Ask the server something, such as "hint". The number of steps that the page knows goes with it,
   * so that the server refuses a move that was meant for an earlier position.
   *
   * @returns {Promise<{ answer?: any, address?: string, problem?: string, rule?: string }>}
   */
  const ask = (question, fields = {}) => {
    const body = { steps: knownSteps, ...fields };
    return askServer(`${address}/${question}`, body, UNREACHABLE);
  };
  return Object.freeze({ ask });
};
