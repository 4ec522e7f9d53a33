/* Nodes from HTML that this server has sent. */
const arenaPolicy = window.trustedTypes
  ? trustedTypes.createPolicy("arena", { createHTML: (text) => text })
  : { createHTML: (text) => text };
const parseHtml = (text) =>
  new DOMParser().parseFromString(arenaPolicy.createHTML(text), "text/html").body;

/* Change a node of the page into a fresh one. Nodes that are equal stay in the page, so that
   scrolled and unfolded parts stay as they are. Moving pictures are replaced as a whole. */
const updateNode = (old, fresh) => {
  if (old.isEqualNode(fresh)) return;
  const isFilm = old.nodeType === Node.ELEMENT_NODE && old.matches(".film");
  if (isFilm || old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
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
  const oldChildren = [...old.childNodes];
  const freshChildren = [...fresh.childNodes];
  freshChildren.forEach((child, index) => {
    if (index < oldChildren.length) updateNode(oldChildren[index], child);
    else old.append(child);
  });
  for (const child of oldChildren.slice(freshChildren.length)) child.remove();
};

/* Change a part of the page. If the node with the focus goes, the focus moves to the node with the
   same address, or else to the node that stands in the same place now. */
const keepFocus = (part, change) => {
  /** @returns {(HTMLElement & { href?: string })[]} */
  const focusable = () => [...part.querySelectorAll("a, button, summary, [tabindex]")];
  const before = focusable();
  const index = before.findIndex((node) => node === document.activeElement);
  const href = before[index]?.href;
  change();
  if (index < 0 || part.contains(document.activeElement)) return;
  const after = focusable();
  const successor = (href && after.find((node) => node.href === href)) || after[index];
  successor?.focus({ preventScroll: true });
};

/* The stream of a page that changes: each event brings the parts that are new. */
(() => {
  const address = document.getElementById("live")?.dataset.events;
  if (!address) return;
  const problem = document.getElementById("problem");
  const showProblem = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };
  const PROBLEMS = {
    open: "",
    lost: "The connection is lost. Trying again.",
    gone: "The connection is lost: load the page again.",
    unreadable: "The server sent something that this page cannot read: load the page again.",
  };
  const showParts = (/** @type {Record<string, string>} */ texts) => {
    if (typeof texts !== "object") throw new TypeError("expected the parts of a page");
    for (const [name, text] of Object.entries(texts)) {
      const part = document.getElementById(`part-${name}`);
      const fresh = /** @type {HTMLElement} */ (part.cloneNode(false));
      fresh.append(...parseHtml(text).childNodes);
      tables.dress(fresh); // before the update, so that headings keep the focus
      keepFocus(part, () => updateNode(part, fresh));
    }
    /** @type {HTMLElement | null} */
    const named = document.querySelector("[data-title]");
    if (named) document.title = named.dataset.title;
    document.dispatchEvent(new Event("parts")); // page.js starts the films that are new
  };
  const stream = streamInView(
    address,
    {
      parts: showParts,
      over: () => stream.close(),
      problem: (text) => {
        showProblem(text);
        stream.close();
      },
    },
    (state) => showProblem(PROBLEMS[state]),
  );
})();
