"use strict";

/* Light or dark: as the system has it, until the button says otherwise. */
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = (change) => {
    try {
      return change(localStorage);
    } catch {
      return null;
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => {
    button.textContent = isDark() ? "Light page" : "Dark page";
  };
  const before = kept((storage) => storage.getItem("arena-theme"));
  if (before === "light" || before === "dark") root.dataset.theme = before;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept((storage) => storage.setItem("arena-theme", root.dataset.theme));
    label();
  });
  system.addEventListener("change", label);
  label();
  button.hidden = false;
})();

/* What plays itself begins in the middle, and stands still at its end for those who want no motion.
   It is put to its next step from here: left to run, its two hundred animations took a fifth of a
   processor for as long as the page was open. */
(() => {
  const MIDDLE_S = 16;
  const STEP_S = 0.8;
  let timer = 0;
  let known = new WeakSet();
  /** @param {SVGSVGElement} film */
  const lengthOf = (film) => film.querySelector("animate").getSimpleDuration();
  /** @param {SVGSVGElement} film */
  const forward = (film) => film.setCurrentTime((film.getCurrentTime() + STEP_S) % lengthOf(film));
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const follow = () => {
    /** @type {NodeListOf<SVGSVGElement>} */
    const films = document.querySelectorAll(".film");
    clearInterval(timer);
    for (const film of films) {
      if (known.has(film)) continue;
      known.add(film);
      film.pauseAnimations();
      film.setCurrentTime(calm.matches ? lengthOf(film) - STEP_S : MIDDLE_S);
    }
    if (!calm.matches) timer = setInterval(() => films.forEach(forward), 1000 * STEP_S);
  };
  calm.addEventListener("change", () => {
    known = new WeakSet();
    follow();
  });
  document.addEventListener("parts", follow);
  follow();
})();
