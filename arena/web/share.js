/* Buttons that share the page of a game: by the system's own dialog if there is one, else the link is
   copied. A button names the page in `data-share`; without it, it is the page that is open. The element
   that the button's `aria-describedby` names then says what was done. */
(() => {
  const LOCAL = ["127.0.0.1", "localhost", "[::1]"];
  const HERE = " It opens on this machine only; arena serve --public shows your games to others.";

  const addressOf = (/** @type {HTMLButtonElement} */ button) =>
    button.dataset.share
      ? new URL(button.dataset.share, location.origin).href
      : `${location.origin}${location.pathname}${location.search}${location.hash}`;
  /* Share a link. Returns what to tell the reader; empty after the system's dialog. */
  const share = async (url) => {
    const isLocal = LOCAL.includes(location.hostname);
    if (!isLocal && navigator.share) {
      try {
        await navigator.share({ title: document.title, url });
        return "";
      } catch (error) {
        if (error instanceof DOMException && error.name === "AbortError") return "";
      }
    }
    try {
      await navigator.clipboard.writeText(url);
      return `The link is copied.${isLocal ? HERE : ""}`;
    } catch {
      return `The link: ${url}`;
    }
  };
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = document.querySelectorAll("button.share");
  for (const button of buttons) {
    button.addEventListener("click", async () => {
      const said = document.getElementById(button.getAttribute("aria-describedby"));
      said.textContent = await share(addressOf(button));
    });
  }
})();
