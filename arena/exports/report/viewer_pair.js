/* Another game of the same deal beside the open one: the *twin*. The viewer steps through both
   games at once.

   Needs `deal.js`, `viewer_state.js` and `viewer_words.js`. A click on a button calls `goTo` of
   `viewer_steps.js`. */

/**
 * Show a button for each other game of the same deal: it puts that game beside this one.
 *
 * @param {Viewer} viewer
 */
const fillSeatings = (viewer) => {
  const { story, twin, parts } = viewer;
  const ids = story.game.seatings ?? [];
  const others = ids.filter((id) => id !== story.game.id).map((id) => storyNamed(viewer, id));
  const buttons = others.map((other, index) => {
    const isPressed = other === twin;
    const names = other.game.names.join(" \u2013 ");
    const button = draw.html(
      "button",
      { type: "button", "aria-pressed": String(isPressed) },
      others.length === 1 ? "Same tiles, other seats" : names,
    );
    button.addEventListener("click", () => {
      setTwin(viewer, isPressed ? null : other);
      goTo(viewer, viewer.cursor);
      // The buttons are new ones now; the focus stays on the one that was pressed.
      parts.seatings.querySelectorAll("button")[index].focus();
    });
    return button;
  });
  parts.seatings.hidden = !others.length;
  parts.seatings.replaceChildren(...(others.length > 1 ? ["Same tiles: "] : []), ...buttons);
};

/**
 * Put another game of the deal beside the open one, or none.
 *
 * @param {Viewer} viewer
 * @param {Story | null} [newTwin]
 */
const setTwin = (viewer, newTwin) => {
  const { parts } = viewer;
  viewer.twin = newTwin ?? null;
  const isPaired = Boolean(viewer.twin);
  parts.viewer.classList.toggle("paired", isPaired);
  for (const id of ["twin", "same-deal", "board-about"]) parts[id].hidden = !isPaired;
  const placeOfSeats = isPaired ? parts.board.parentNode : parts["own-seats"];
  placeOfSeats.append(parts.players);
  parts.step.max = String(lastCursor(viewer));
  fillSeatings(viewer);
  if (!isPaired) return;
  viewer.twinTable.open(viewer.twin);
  fillDealResults(viewer);
  fillDealTiles(viewer);
};

/** The results of all games of the deal. @param {Viewer} viewer */
const fillDealResults = (viewer) => {
  const { story, parts } = viewer;
  const gamesOfDeal = story.game.seatings.map((id) => storyNamed(viewer, id));
  const linkTo = (/** @type {Game} */ game) => {
    const href = `#game=${encodeURIComponent(game.id)}&turn=0`;
    return draw.html("a", { href }, game.names.join(" \u2013 "));
  };
  const table = parts["deal-results"];
  table.replaceChildren(table.caption, ...dealTables.results(gamesOfDeal, linkTo));
};

/** The tiles that each seat got in both games. @param {Viewer} viewer */
const fillDealTiles = (viewer) => {
  const { story, twin, parts } = viewer;
  if (!twin) return;
  const isSeen = (seat) => isHandSeen(viewer, seat);
  parts["deal-tiles"].replaceChildren(...dealTables.tiles([story, twin], isSeen));
};

/**
 * Above each board of a pair: who plays, and the move, and at the end who wins.
 *
 * @param {HTMLElement} title
 * @param {Story} story
 */
const showTitle = (title, story, step) => {
  const end = step === story.last ? ` ${story.winWords()}.` : "";
  title.replaceChildren(
    draw.html("strong", {}, story.game.names.join(" \u2013 ")),
    draw.html("span", {}, ...moveWords(story, step), end),
  );
};

/**
 * Show the twin at the same move, or at its end if it has fewer moves.
 *
 * @param {Viewer} viewer
 */
const showTwin = (viewer, isNext) => {
  const { story, twin, cursor, step, parts } = viewer;
  if (!twin) return;
  const twinStep = Math.min(cursor, twin.last);
  viewer.twinTable.show(twinStep, isNext && twinStep === cursor);
  showTitle(parts["board-about"], story, step);
  showTitle(parts["twin-about"], twin, twinStep);
  dealTables.mark(parts["deal-tiles"], cursor);
};
