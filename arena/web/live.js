/* HTML that comes from this server, as a part of a page. */
const ours = window.trustedTypes
  ? trustedTypes.createPolicy("arena", { createHTML: (text) => text })
  : { createHTML: (text) => text };
const partOf = (text) => new DOMParser().parseFromString(ours.createHTML(text), "text/html").body;

/* Makes a part of the page like a fresh one and leaves what is the same, so that what is scrolled
   and what is unfolded stays. Pictures that move are replaced. */
const follow = (old, fresh) => {
  if (old.isEqualNode(fresh)) return;
  const isWhole = old.nodeType === Node.ELEMENT_NODE && old.matches(".film");
  if (isWhole || old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const olds = [...old.childNodes];
  const news = [...fresh.childNodes];
  news.forEach((node, at) => {
    if (at < olds.length) follow(olds[at], node);
    else old.append(node);
  });
  for (const node of olds.slice(news.length)) node.remove();
};

/* Gives the focus back to what was in its place. */
const keepingFocus = (part, change) => {
  /** @returns {(HTMLElement & { href?: string })[]} */
  const all = () => [...part.querySelectorAll("a, button, summary, [tabindex]")];
  const at = all().findIndex((node) => node === document.activeElement);
  const href = all()[at]?.href;
  change();
  if (at < 0 || part.contains(document.activeElement)) return;
  const now = all();
  const found = (href && now.find((node) => node.href === href)) || now[at];
  found?.focus({ preventScroll: true });
};

(() => {
  const address = document.getElementById("live")?.dataset.events;
  if (!address) return;
  const problem = document.getElementById("problem");
  const say = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };
  const source = new EventSource(address);
  source.addEventListener("open", () => say(""));
  source.addEventListener("error", () => say("The connection is lost. Trying again."));
  source.addEventListener("over", () => source.close());
  source.addEventListener("problem", (event) => {
    say(JSON.parse(event.data));
    source.close();
  });
  source.addEventListener("parts", (event) => {
    for (const [name, text] of Object.entries(JSON.parse(event.data))) {
      const part = document.getElementById(`part-${name}`);
      const fresh = partOf(text);
      const place = /** @type {HTMLElement} */ (part.cloneNode(false));
      place.append(...fresh.childNodes);
      tables.dress(place); // first, so that headings keep the focus
      keepingFocus(part, () => follow(part, place));
    }
    document.dispatchEvent(new Event("parts")); // films see to what is new
  });
})();
