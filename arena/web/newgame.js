/* The form that begins a game. */
(() => {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("newgame"));
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problemText = document.getElementById("problem");
    try {
      const reply = await fetch("/play", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(Object.fromEntries(new FormData(form))),
      });
      const { address, problem } = await reply.json();
      if (address) location.assign(address);
      else problemText.textContent = problem;
    } catch {
      problemText.textContent = "The server cannot be reached.";
    }
  });
})();
