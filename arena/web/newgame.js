/* The form that begins a game. */
(() => {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("newgame"));
  /* The button of the form, and those of the opponents, which name the bot. */
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = document.querySelectorAll("#newgame button, button[form=newgame]");
  let isBusy = false;
  const setBusy = (/** @type {boolean} */ isNowBusy) => {
    isBusy = isNowBusy;
    for (const button of buttons) button.disabled = isBusy;
  };
  const problemText = document.getElementById("problem");

  const begin = async (/** @type {HTMLButtonElement} */ button) => {
    const fields = Object.fromEntries(new FormData(form));
    // The button of an opponent is about that bot, whatever the form says.
    if (button.value) fields.bot = button.value;
    try {
      const reply = await fetch("/play", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fields),
      });
      return await replyOf(reply);
    } catch {
      return { problem: "The server cannot be reached." };
    }
  };
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    // One click begins one game.
    if (isBusy) return;
    // Read the form before its buttons are disabled.
    const begun = begin(/** @type {HTMLButtonElement} */ (event.submitter));
    setBusy(true);
    const { address, problem } = await begun;
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
