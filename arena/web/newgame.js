/* The form that begins a game. */
(() => {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("newgame"));
  /** @type {HTMLButtonElement} */
  const button = form?.querySelector("button.main");
  const setBusy = (/** @type {boolean} */ isBusy) => {
    if (button) button.disabled = isBusy;
  };
  const problemText = document.getElementById("problem");

  const begin = async () => {
    try {
      const reply = await fetch("/play", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(Object.fromEntries(new FormData(form))),
      });
      return await replyOf(reply);
    } catch {
      return { problem: "The server cannot be reached." };
    }
  };
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    // One click begins one game.
    if (button.disabled) return;
    setBusy(true);
    const { address, problem } = await begin();
    if (address) {
      location.assign(address);
      return;
    }
    problemText.textContent = problem;
    setBusy(false);
  });
  // A page that the browser kept, and shows again, can begin another game.
  addEventListener("pageshow", () => setBusy(false));
})();
