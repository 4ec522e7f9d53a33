/**
 * Show a game at any of its steps: the board, and beside it a line for each seat.
 *
 * @param {HTMLElement} board the element that has the picture of the board
 * @param {HTMLElement} players the list of seats
 * @param {LineOf} lineOf what stands in a seat's line beside its pagodas: its words, then nodes
 */
const tableOf = (board, players, lineOf) => {
  const { svg } = draw;
  /** @type {Story} */
  let story = null;
  /** @type {Element} */
  let live = null;
  /** @type {ReturnType<typeof draw.stage>} */
  let showScene = null;
  let side = 0;
  const ghost = svg("g", { class: "ghost" });

  /* Open a game. A game that is open already may be opened again when more of it is known: then the
     board stays as it is. */
  const open = (/** @type {Story} */ newStory) => {
    const isOpen = story?.game.elements === newStory.game.elements;
    story = newStory;
    if (isOpen) return;
    /** @type {HTMLTemplateElement} */
    const template = document.querySelector(
      `template[data-board="${CSS.escape(story.game.board)}"]`,
    );
    if (template) board.replaceChildren(template.content.firstElementChild.cloneNode(true));
    side = draw.sizesOf(board).side;
    live = board.querySelector(".live");
    for (const layer of live.children) layer.replaceChildren();
    live.after(ghost);
    showScene = draw.stage(live, story.game.elements);
  };

  /* Show the position after a step. `isNext`: the position before it was shown last, so the move between
     them is shown as a motion. `mover` is the seat whose line is marked as the next to move. */
  const show = (step, isNext, mover = story.moveAt(step + 1)?.seat) => {
    const { game, states } = story;
    const state = states[step];
    const before = states[isNext ? step - 1 : step].left;
    ghost.replaceChildren();
    showScene(state.scene, isNext);
    board.firstElementChild.setAttribute(
      "aria-label",
      `The board ${game.board} after turn ${state.turn}`,
    );
    players.replaceChildren(
      ...game.bots.map((_, seat) => {
        const isMover = seat === mover;
        const [words, ...nodes] = lineOf(story, state, seat, isMover);
        return draw.seatLine(
          {
            ...words,
            seat,
            isNext: isMover,
            left: state.left[seat],
            before: before[seat],
            stock: game.stock,
          },
          ...nodes,
        );
      }),
    );
    if (isNext) {
      const homeOf = (owner) => players.children[owner].querySelector(".stock");
      draw.sendHome(live, game.elements, story.moveAt(step), homeOf, side);
    }
  };
  /* Show placements that were possible, pale over the position, the best of them first; without one,
     or with an empty text, show none. */
  const showGhost = (/** @type {string[]} */ ...moves) => {
    const placements = moves.map(notation.parseMove).filter((placement) => placement !== null);
    const nodes = placements.flatMap((placement, rank) => {
      const tile = draw.placedTile(placement, side);
      const ring = draw.ring(placement, side);
      if (rank) [tile, ring].forEach((node) => node.classList.add("next-best"));
      return [tile, ring];
    });
    ghost.replaceChildren(...nodes);
  };

  return Object.freeze({
    open,
    show,
    showGhost,
    light: (numbers, isLit) => showScene.light(numbers, isLit),
  });
};
