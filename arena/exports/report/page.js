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

/* What plays itself begins in the middle, and stands still at its end for those who want no motion. */
(() => {
  const MIDDLE_S = 16, LONG_S = 1e6;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const follow = () => {
    for (const film of document.querySelectorAll(".film")) {
      film.setCurrentTime(calm.matches ? LONG_S : MIDDLE_S);
      if (calm.matches) film.pauseAnimations();
      else film.unpauseAnimations();
    }
  };
  calm.addEventListener("change", follow);
  follow();
})();

/* What is there to paste gets a button that copies it. */
(() => {
  const text = document.getElementById("summary");
  if (!text) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const selected = () => {
    getSelection().selectAllChildren(text);
    return document.execCommand("copy"); // for browsers that give a file no clipboard
  };
  button.addEventListener("click", async () => {
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      isCopied = selected();
    }
    button.textContent = isCopied ? "Copied" : "Press Ctrl-C";
    setTimeout(() => { button.textContent = "Copy"; }, 3000);
  });
  text.before(button);
})();
