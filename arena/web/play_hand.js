/**
 * The hand: three buttons, which stay in the page so that the focus stays on them.
 *
 * @param {HTMLElement} container
 * @param {(index: number) => void} onChoose
 */
const handIn = (container, onChoose) => {
  const { html } = draw;
  const buttons = [0, 1, 2].map((index) => {
    const button = html("button", { type: "button", class: "tile" });
    button.addEventListener("click", () => onChoose(index));
    return button;
  });
  container.append(...buttons);

  /**
   * Show the tiles; the chosen one is turned.
   *
   * @param {string[]} hand
   * @param {number} chosenIndex
   * @param {number} turn
   */
  const show = (hand, chosenIndex, turn) => {
    buttons.forEach((button, index) => {
      const tile = hand[index];
      button.hidden = !tile;
      if (!tile) return;
      const isChosen = index === chosenIndex;
      const [colour, otherColour] = [...tile].map((letter) => notation.COLOUR_NAMES[letter]);
      button.setAttribute("aria-pressed", String(isChosen));
      button.setAttribute("aria-label", `Tile ${index + 1}: ${colour} and ${otherColour}`);
      const picture = draw.domino(tile);
      picture.setAttribute("aria-hidden", "true");
      if (isChosen) picture.classList.add(`way${turn}`);
      button.replaceChildren(picture, html("kbd", { "aria-hidden": "true" }, String(index + 1)));
    });
  };
  return Object.freeze({ show });
};
