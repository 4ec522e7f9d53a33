/* Lets the keyboard scroll blocks of code and tables that are wider than the page, and gives each row
   of buttons beside a block a name of its own. The theme does none of it for all of them. */
const mend = () => {
  for (const [index, buttons] of document.querySelectorAll(".md-code__nav").entries()) {
    const name = `Code block ${index + 1}`;
    if (buttons.getAttribute("aria-label") !== name) buttons.setAttribute("aria-label", name);
  }
  /** @type {NodeListOf<HTMLElement>} */
  const boxes = document.querySelectorAll("pre > code, .md-typeset__scrollwrap");
  for (const box of boxes) {
    const isWide = box.scrollWidth > box.clientWidth;
    if (isWide && !box.hasAttribute("tabindex")) box.tabIndex = 0;
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
