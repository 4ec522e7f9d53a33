/* Lets the keyboard scroll blocks of code that are wider than the page, and gives each row of buttons
   beside a block a name of its own. The theme does neither for all blocks. */
const mend = () => {
  for (const [index, buttons] of document.querySelectorAll(".md-code__nav").entries()) {
    const name = `Code block ${index + 1}`;
    if (buttons.getAttribute("aria-label") !== name) buttons.setAttribute("aria-label", name);
  }
  /** @type {NodeListOf<HTMLElement>} */
  const blocks = document.querySelectorAll("pre > code");
  for (const code of blocks) {
    const isWide = code.scrollWidth > code.clientWidth;
    if (isWide && !code.hasAttribute("tabindex")) code.tabIndex = 0;
  }
};
// The theme adds the buttons as blocks come into view, and takes the tab stops away again.
new MutationObserver(mend).observe(document.body, {
  attributeFilter: ["tabindex"],
  childList: true,
  subtree: true,
});
addEventListener("load", mend);
addEventListener("resize", mend);
mend();
