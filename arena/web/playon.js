/* The page of a finished game: the button that plays it on from the position that is shown. */
(() => {
  /** @type {HTMLButtonElement | null} */
  const button = document.querySelector("#play-on button");
  if (!button) return;
  const problemText = document.querySelector("#play-on [role=alert]");
  const turnShown = () => {
    const link = /** @type {HTMLAnchorElement} */ (document.getElementById("link"));
    return Number(/[?&](?:t|turn)=(\d+)/.exec(link.href)?.[1] ?? 0);
  };
  const begin = () => {
    const { run, game } = button.dataset;
    return askServer("/play/from/game", { run, game, turn: turnShown() });
  };
  button.addEventListener("click", async () => {
    button.disabled = true;
    const { address, problem } = await begin();
    if (address) location.assign(address);
    else {
      problemText.textContent = problem;
      button.disabled = false;
    }
  });
  addEventListener("pageshow", () => {
    button.disabled = false;
  });
})();
