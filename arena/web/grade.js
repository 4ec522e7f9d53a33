/* The page of a finished game: the button that has the game graded. The server grades it while the page
   waits; then the page is loaded again and shows what each move cost. */
(() => {
  const LOOK_MS = 700;
  /** @type {HTMLButtonElement | null} */
  const button = document.querySelector("#grade");
  if (!button) return;
  const said = document.querySelector("#game-said");
  const problemText = document.querySelector("#game-problem");

  /** @returns {Promise<{ graded?: number, of?: number, is_done?: boolean, problem?: string }>} */
  const ask = () => {
    const { run, game } = button.dataset;
    return askServer("/play/grade/game", { run, game });
  };
  /* Ask how far the grading is (the first call begins it), and ask again until it is done. */
  const look = async () => {
    const { graded, of, is_done: isDone, problem } = await ask();
    if (problem) {
      said.textContent = "";
      problemText.textContent = problem;
      button.disabled = false;
    } else if (isDone) {
      location.reload();
    } else {
      said.textContent = `${graded} of ${of} moves graded.`;
      setTimeout(look, LOOK_MS);
    }
  };
  button.addEventListener("click", () => {
    button.disabled = true;
    problemText.textContent = "";
    said.textContent = "The first moves are being graded.";
    look();
  });
})();
