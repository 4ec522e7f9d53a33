/* Whether a person wants to be asked before a move that costs much. It is kept in the browser, and the
   boxes "Warn me" of the pages show it. */
const warnings = (() => {
  const KEY = "arena-warn";
  let isWanted = false;
  /* The storage of the browser may be turned off. */
  try {
    isWanted = localStorage.getItem(KEY) === "yes";
  } catch {
    // Then the box holds for this page only.
  }
  const box = /** @type {HTMLInputElement | null} */ (document.getElementById("warn"));
  const show = () => {
    if (box) box.checked = isWanted;
  };
  box?.addEventListener("change", () => {
    isWanted = box.checked;
    try {
      localStorage.setItem(KEY, isWanted ? "yes" : "no");
    } catch {
      // See above.
    }
  });
  show();
  // A page that the browser kept may show an older choice.
  addEventListener("pageshow", show);
  const areOn = () => isWanted;
  return Object.freeze({ areOn });
})();
