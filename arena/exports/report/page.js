"use strict";

/* The page is light or dark as the system is, until the reader clicks the button. */
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  /* Use the storage of the browser, which may be turned off. */
  const withStorage = (use) => {
    try {
      return use(localStorage);
    } catch {
      return null;
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => {
    button.textContent = isDark() ? "Light page" : "Dark page";
  };
  const before = withStorage((storage) => storage.getItem("arena-theme"));
  if (before === "light" || before === "dark") root.dataset.theme = before;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    withStorage((storage) => storage.setItem("arena-theme", root.dataset.theme));
    label();
  });
  system.addEventListener("change", label);
  label();
  button.hidden = false;
})();

/* A film, which is a picture that plays itself, begins in its middle, or at its start if it has
   `data-from="start"`.
   For readers who want no motion it stands still at its end. A timer puts it to its next step: when
   its two hundred animations ran by themselves, they took a fifth of a processor while the page was
   open. A film may have the pagodas of each seat beside it, which go with its steps. */
(() => {
  const MIDDLE_S = 16;
  const START_S = 1;
  const STEP_S = 0.8;
  let timer = 0;
  let startedFilms = new WeakSet();
  /** @param {SVGSVGElement} film */
  const lengthOf = (film) => film.querySelector("animate").getSimpleDuration();
  /** @param {SVGSVGElement} film */
  const countPagodas = (film) => {
    /** @type {HTMLElement | null} */
    const figure = film.closest("[data-left]");
    if (!figure) return;
    const left = JSON.parse(figure.dataset.left);
    const step = Math.floor((film.getCurrentTime() - START_S) / STEP_S + 1.01);
    const counts = left[Math.max(0, Math.min(step, left.length - 1))];
    figure.querySelectorAll(".left").forEach((node, seat) => {
      const text = String(counts[seat]);
      if (node.textContent !== text) node.textContent = text;
    });
  };
  const put = (/** @type {SVGSVGElement} */ film, seconds) => {
    film.setCurrentTime(seconds);
    countPagodas(film);
  };
  /** @param {SVGSVGElement} film */
  const forward = (film) => put(film, (film.getCurrentTime() + STEP_S) % lengthOf(film));
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const startFilms = () => {
    /** @type {NodeListOf<SVGSVGElement>} */
    const films = document.querySelectorAll(".film");
    clearInterval(timer);
    for (const film of films) {
      if (startedFilms.has(film)) continue;
      startedFilms.add(film);
      film.pauseAnimations();
      const first = film.dataset.from === "start" ? START_S : MIDDLE_S;
      put(film, calm.matches ? lengthOf(film) - STEP_S : first);
    }
    if (!calm.matches) timer = setInterval(() => films.forEach(forward), 1000 * STEP_S);
  };
  calm.addEventListener("change", () => {
    startedFilms = new WeakSet();
    startFilms();
  });
  document.addEventListener("parts", startFilms);
  startFilms();
})();
