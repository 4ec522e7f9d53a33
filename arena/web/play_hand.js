/**
 * The tiles of a hand by their places in it. A tile stays in its place as long as it is in the
 * hand, and a new one takes the place that is empty; each keeps the way it was turned.
 */
const handPlaces = () => {
  /** @type {(string | null)[]} */
  let tiles = [];
  /** @type {number[]} */
  let turns = [];

  /* Take a new hand. The tile at `lastPlace` goes first if one of two equal tiles has gone. */
  const take = (/** @type {string[]} */ hand, lastPlace) => {
    const unplaced = [...hand];
    const places = [...tiles.keys()].filter((place) => place !== lastPlace);
    /** @type {(string | null)[]} */
    const next = tiles.map(() => null);
    for (const place of [...places, lastPlace]) {
      const at = unplaced.indexOf(tiles[place]);
      if (at >= 0) [next[place]] = unplaced.splice(at, 1);
    }
    turns = turns.map((turn, place) => (next[place] === null ? 0 : turn));
    for (const tile of unplaced) {
      const empty = next.indexOf(null);
      if (empty >= 0) {
        next[empty] = tile;
      } else {
        next.push(tile);
        turns.push(0);
      }
    }
    tiles = next;
  };
  const turn = (place, newTurn) => {
    turns[place] = newTurn;
  };
  return Object.freeze({ take, turn, tiles: () => tiles, turnOf: (place) => turns[place] ?? 0 });
};

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
   * Show the tiles, each in its place and turned in its way; a place may be empty.
   *
   * @param {(string | null)[]} hand
   * @param {number} chosenIndex
   * @param {(index: number) => number} turnOf
   */
  const show = (hand, chosenIndex, turnOf) => {
    buttons.forEach((button, index) => {
      const tile = hand[index];
      button.hidden = index >= hand.length;
      button.classList.toggle("empty", !tile);
      button.disabled = !tile;
      if (!tile) {
        button.replaceChildren();
        return;
      }
      const isChosen = index === chosenIndex;
      const [colour, otherColour] = [...tile].map((letter) => notation.COLOUR_NAMES[letter]);
      button.setAttribute("aria-pressed", String(isChosen));
      button.setAttribute("aria-label", `Tile ${index + 1}: ${colour} and ${otherColour}`);
      const picture = draw.domino(tile);
      picture.setAttribute("aria-hidden", "true");
      picture.classList.add(`way${turnOf(index)}`);
      button.replaceChildren(picture, html("kbd", { "aria-hidden": "true" }, String(index + 1)));
    });
  };
  return Object.freeze({ show });
};
