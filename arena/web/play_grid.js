/**
 * The squares of a board as a grid for pointers, fingers and keys. Only one square at a time can be
 * reached with the tab key; arrow keys lead from there to the others.
 *
 * @param {PlayParts} parts
 * @param {string[]} rows the rows of the board
 * @param {GridActions} actions
 */
const gridOver = (parts, rows, actions) => {
  const { html } = draw;
  const { grid, ground } = parts;
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const width = rows[0].length;
  const height = rows.length;

  const makeCell = (row, column) => {
    const cell = html("div", { role: "gridcell", tabindex: "-1" });
    return Object.assign(cell, { square: /** @type {[number, number]} */ ([row, column]) });
  };
  const cells = rows.map((line, row) => [...line].map((_, column) => makeCell(row, column)));
  let focused = [Math.floor(height / 2), Math.floor(width / 2)];
  cells[focused[0]][focused[1]].tabIndex = 0;
  grid.replaceChildren(...cells.map((line) => html("div", { role: "row" }, ...line)));

  /* Lay the grid over the picture of the board, inside its frame. */
  const { side, frame } = draw.sizesOf(ground);
  const pictureWidth = width * side + 2 * frame;
  const pictureHeight = height * side + 2 * frame;
  Object.assign(grid.style, {
    left: `${(100 * frame) / pictureWidth}%`,
    right: `${(100 * frame) / pictureWidth}%`,
    top: `${(100 * frame) / pictureHeight}%`,
    bottom: `${(100 * frame) / pictureHeight}%`,
  });
  ground.style.setProperty("--columns", String(width));
  ground.style.setProperty("--rows", String(height));
  parts.playing.style.setProperty("--shape", String(pictureWidth / pictureHeight));

  /* Set what a screen reader says of each square. */
  const label = (/** @type {(row: number, column: number) => string} */ wordsOf) => {
    for (const cell of cells.flat()) cell.setAttribute("aria-label", wordsOf(...cell.square));
  };
  const focusOn = (row, column) => {
    if (!cells[row]?.[column]) return;
    cells[focused[0]][focused[1]].tabIndex = -1;
    focused = [row, column];
    cells[row][column].tabIndex = 0;
    cells[row][column].focus({ preventScroll: true });
  };

  /** @returns {(HTMLElement & { square: [number, number] }) | null} */
  const cellOf = (event) => event.target.closest?.("[role=gridcell]");
  grid.addEventListener("pointermove", (event) => {
    const cell = cellOf(event);
    if (cell && event.pointerType === "mouse") actions.onPoint(...cell.square);
  });
  grid.addEventListener("pointerleave", (event) => {
    const hasFocus = grid.contains(document.activeElement);
    if (event.pointerType === "mouse" && !hasFocus) actions.onLeave();
  });

  grid.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    focusOn(...cell.square);
    actions.onClick(...cell.square);
  });

  grid.addEventListener("focusin", (event) => {
    const cell = cellOf(event);
    if (cell?.matches(":focus-visible")) actions.onPoint(...cell.square);
  });
  /* The square to which a key leads from the focused one; null for other keys. */
  const squareAfter = (key) => {
    const [row, column] = focused;
    if (key === "Home") return [row, 0];
    if (key === "End") return [row, width - 1];
    const arrow = ARROWS[key];
    return arrow ? [row + arrow[0], column + arrow[1]] : null;
  };
  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = squareAfter(event.key);
    if (target) {
      focusOn(target[0], target[1]);
      actions.onPoint(focused[0], focused[1]);
    } else if (event.key === "Enter" || event.key === " ") {
      actions.onPress(focused[0], focused[1]);
    } else {
      return;
    }
    event.preventDefault();
  });

  return Object.freeze({ label });
};

/**
 * Keys that act while the focus or the pointer is in an area of the page, whose buttons and links
 * belong to it, or while nothing has the focus. So they disturb no other part of the page, and no
 * field into which a person writes.
 *
 * @param {HTMLElement} area
 * @param {() => boolean} areOn
 * @param {Record<string, () => void>} actions the actions by their keys, which are small letters
 */
const keysIn = (area, areOn, actions) => {
  const FIELDS = "input:not([type=checkbox]), select, textarea, [contenteditable]";
  document.addEventListener("keydown", (event) => {
    const target = /** @type {Element} */ (event.target);
    const isNear = target === document.body || area.contains(target) || area.matches(":hover");
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (event.repeat || hasModifier || !isNear || target.closest?.(FIELDS) || !areOn()) return;
    const key = event.key.toLowerCase();
    if (Object.hasOwn(actions, key)) actions[key]();
  });
};

/**
 * Turn the tile with the wheel, or with a touch of two fingers.
 *
 * @param {HTMLElement} ground
 * @param {{ canTurn: () => boolean, hasAim: () => boolean }} choosing
 * @param {() => void} turn
 */
const turnByGesture = (ground, { canTurn, hasAim }, turn) => {
  const MIN_PAUSE_MS = 120; // one pull of the wheel makes several events
  let lastWheelMs = -Infinity;
  ground.addEventListener(
    "wheel",
    (event) => {
      // With Ctrl the wheel zooms the page, and without an aim it scrolls it.
      if (event.ctrlKey || !hasAim()) return;
      event.preventDefault();
      if (event.timeStamp - lastWheelMs < MIN_PAUSE_MS) return;
      lastWheelMs = event.timeStamp;
      turn();
    },
    { passive: false },
  );
  ground.addEventListener(
    "touchstart",
    (event) => {
      if (event.touches.length !== 2 || !canTurn()) return;
      event.preventDefault();
      turn();
    },
    { passive: false },
  );
};
