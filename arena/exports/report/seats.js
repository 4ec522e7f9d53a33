/* A board with its seats: what one game looks like at a step. */
const tableOf = (board, players) => {
  const { html, svg } = draw;
  let story = null, live = null, showScene = null, ghost = null;

  const open = (wanted) => {
    story = wanted;
    const template = document.querySelector(`template[data-board="${CSS.escape(story.game.board)}"]`);
    board.replaceChildren(template.content.firstElementChild.cloneNode(true));
    live = board.querySelector(".live");
    ghost = svg("g", { class: "ghost" });
    live.after(ghost);
    showScene = draw.stage(live, story.game.elements);
  };

  const showPlayers = (step, before, isSeen) => {
    const { game, states } = story, state = states[step], mover = story.moveAt(step + 1)?.seat;
    players.replaceChildren(
      ...game.bots.map((name, seat) => {
        const hand = state.hands[seat].match(/../g) ?? [], isNext = seat === mover;
        const tiles = hand.length ? hand.map((letters) => draw.domino(isSeen(seat) ? letters : "??")) : ["no tiles"];
        const told = { seat, name, does: isNext ? "to move" : "", isNext, left: state.left[seat], before: before[seat], all: game.stock, unit: `of ${game.stock} left` };
        return draw.seatLine(told, html("div", { class: "hand" }, ...tiles));
      }),
    );
  };

  const show = (step, isNext, isSeen) => {
    const state = story.states[step];
    ghost.replaceChildren();
    showScene(state.scene, isNext);
    board.firstChild.setAttribute("aria-label", `The board ${story.game.board} after turn ${state.turn}`);
    showPlayers(step, (isNext ? story.states[step - 1] : state).left, isSeen);
    if (isNext) draw.sendHome(live, story.game.elements, story.moveAt(step), (owner) => players.children[owner].querySelector(".stock"));
  };
  /* A tile that could have been laid. */
  const showGhost = (move) => ghost.replaceChildren(...(move ? draw.tile(move) : []));

  return { open, show, showGhost, light: (numbers, isLit) => showScene.light(numbers, isLit) };
};
