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
  const ask = async () => {
    const { run, game } = button.dataset;
    try {
      const reply = await fetch("/play/grade/game", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ run, game }),
      });
      return await replyOf(reply);
    } catch {
      return { problem: "The server cannot be reached." };
    }
  };
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
