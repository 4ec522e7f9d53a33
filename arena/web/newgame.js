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

  const ask = (/** @type {string} */ bot) => {
    const fields = Object.fromEntries(new FormData(form));
    // The button of an opponent is about that bot, whatever the form says.
    if (bot) fields.bot = bot;
    return askServer("/play", fields);
  };
  /* Begin a game against `bot`, or against the bots of the form, and go to its page. */
  const begin = async (bot = "") => {
    // One click begins one game.
    if (isBusy) return;
    // Read the form before its buttons are disabled.
    const asked = ask(bot);
    setBusy(true);
    const { address, problem } = await asked;
    if (address) {
      location.assign(address);
      return;
    }
    problemText.textContent = problem;
    setBusy(false);
  };
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    begin();
  });
  for (const button of buttons) {
    if (button.type === "button") button.addEventListener("click", () => begin(button.value));
  }
  // A page that the browser kept, and shows again, can begin another game.
  addEventListener("pageshow", () => setBusy(false));
})();
