/* A board with its seats: what one game looks like at a step. `lineOf(story, state, seat, isNext)`
   says what stands in a seat's line beside its pagodas: its words, and nodes. */
/**
 * @param {HTMLElement} board
 * @param {HTMLElement} players
 * @param {(story: Story, state: Position, seat: number, isNext: boolean) => any[]} lineOf
 */
const tableOf = (board, players, lineOf) => {
  const { svg } = draw;
  /** @type {Story} */
  let story = null;
  /** @type {Element} */
  let live = null;
  /** @type {ReturnType<typeof draw.stage>} */
  let showScene = null;
  const ghost = svg("g", { class: "ghost" });

  /* The same game may be opened again when more of it is known: the board then stays. */
  const open = (/** @type {Story} */ wanted) => {
    const isSame = story?.game.elements === wanted.game.elements;
    story = wanted;
    if (isSame) return;
    /** @type {HTMLTemplateElement} */
    const template = document.querySelector(
      `template[data-board="${CSS.escape(story.game.board)}"]`,
    );
    if (template) board.replaceChildren(template.content.firstElementChild.cloneNode(true));
    live = board.querySelector(".live");
    live.after(ghost);
    showScene = draw.stage(live, story.game.elements);
  };

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
            all: game.stock,
          },
          ...nodes,
        );
      }),
    );
    if (isNext) {
      draw.sendHome(live, game.elements, story.moveAt(step), (owner) =>
        players.children[owner].querySelector(".stock"),
      );
    }
  };
  /* A tile that could have been laid. */
  const showGhost = (move) => ghost.replaceChildren(...(move ? draw.tile(move) : []));

  return Object.freeze({
    open,
    show,
    showGhost,
    light: (numbers, isLit) => showScene.light(numbers, isLit),
  });
};
