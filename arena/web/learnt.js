/* Which lessons the reader has done, kept in the browser, and a tick at each link to them. */
const learnt = (() => {
  const DONE_KEY = "arena-lessons";
  /* The keys of the lessons that are done; none if the browser's storage is off. @returns {string[]} */
  const doneLessons = () => {
    try {
      return JSON.parse(localStorage.getItem(DONE_KEY) ?? "[]");
    } catch {
      return [];
    }
  };
  const showDone = () => {
    const done = doneLessons();
    /** @type {NodeListOf<HTMLElement>} */
    const links = document.querySelectorAll("[data-lesson]");
    for (const link of links) {
      const isDone = done.includes(link.dataset.lesson);
      link.querySelector(".tick").textContent = isDone ? "\u2713" : "";
      if (isDone) link.setAttribute("aria-description", "done");
    }
  };
  const keepDone = (key) => {
    try {
      localStorage.setItem(DONE_KEY, JSON.stringify([...new Set([...doneLessons(), key])]));
    } catch {
      // Then nothing is kept.
    }
  };
  const add = (key) => {
    keepDone(key);
    showDone();
  };
  showDone();
  return Object.freeze({ add });
})();
