/**
 * The dialog with the rules, and links to a rule in it.
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
  const withLinks = (text) => wording.withRuleLinks(text, link);
  return Object.freeze({ open, link, withLinks });
};
