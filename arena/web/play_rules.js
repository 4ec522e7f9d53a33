/**
 * The dialog with the rules, and links to a rule in it. The link to the rules at the top of the
 * page opens it, too, so that nobody leaves the game to read them.
 *
 * @param {HTMLDialogElement} dialog
 */
const rulesIn = (dialog) => {
  const { html } = draw;
  const open = (rule = null) => {
    dialog.showModal();
    rule?.focus();
  };
  /* A link to a rule, with the rule's number or other words; null if there is no such rule. */
  const link = (number, words = number) => {
    const rule = document.getElementById(wording.ruleId(number));
    if (!rule) return null;
    const title = rule.querySelector("dd").textContent;
    const anchor = html("a", { href: `#${rule.id}`, class: "rule", title }, words);
    anchor.addEventListener("click", (event) => {
      event.preventDefault();
      open(rule);
    });
    return anchor;
  };
  /* A short link to a rule behind a sentence that follows from it, as nodes. */
  const why = (number) => {
    const anchor = number ? link(number, "why?") : null;
    return anchor ? [" ", anchor] : [];
  };
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const linksAtTop = document.querySelectorAll('.topbar a[href="/rules"]');
  for (const anchor of linksAtTop) {
    anchor.setAttribute("aria-haspopup", "dialog");
    anchor.addEventListener("click", (event) => {
      // With these keys a reader asks for a tab or a window of its own.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open();
    });
  }
  const withLinks = (text) => wording.withRuleLinks(text, link);
  return Object.freeze({ open, link, why, withLinks });
};
