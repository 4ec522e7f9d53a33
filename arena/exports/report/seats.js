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

  /* A pagoda that went flies to its owner, unless another of the same owner came in its place. */
  const sendHome = (move) => {
    const owner = (element) => element[1].at(-1);
    const pagodas = (numbers = []) => numbers.map((number) => story.game.elements[number]).filter(([layer]) => layer === draw.PAGODAS);
    const came = pagodas(move.came);
    for (const went of pagodas(move.went)) {
      const stays = came.some((one) => owner(one) === owner(went) && one[2] === went[2] && one[3] === went[3]);
      if (!stays) draw.flyHome(live, went, players.children[owner(went)].querySelector(".stock"));
    }
  };

  const chip = (change) => (change ? [html("i", { class: change > 0 ? "chip more" : "chip" }, `${change > 0 ? "+" : "\u2212"}${Math.abs(change)}`)] : []);
  const showPlayers = (step, before, isSeen) => {
    const { game, states } = story, state = states[step], mover = story.moveAt(step + 1)?.seat;
    players.replaceChildren(
      ...game.bots.map((bot, seat) => {
        const hand = state.hands[seat].match(/../g) ?? [];
        const moves = seat === mover ? "to move" : "";
        const who = html("div", { class: "who" }, html("bdi", {}, bot), html("small", {}, [`seat ${seat}`, moves].filter(Boolean).join(", ")));
        const count = html("div", { class: "count" }, ...chip(state.left[seat] - before[seat]), html("b", {}, String(state.left[seat])), html("small", {}, ` of ${game.stock} left`));
        const tiles = hand.length ? hand.map((letters) => draw.domino(isSeen(seat) ? letters : "??")) : ["no tiles"];
        return html("li", { class: seat === mover ? "moves" : "" }, draw.badge(seat), who, count, draw.stock(seat, state.left[seat], game.stock), html("div", { class: "hand" }, ...tiles));
      }),
    );
  };

  const show = (step, isNext, isSeen) => {
    const state = story.states[step];
    ghost.replaceChildren();
    showScene(state.scene, isNext);
    board.firstChild.setAttribute("aria-label", `The board ${story.game.board} after turn ${state.turn}`);
    showPlayers(step, (isNext ? story.states[step - 1] : state).left, isSeen);
    if (isNext) sendHome(story.moveAt(step));
  };
  /* A tile that could have been laid. */
  const showGhost = (move) => ghost.replaceChildren(...(move ? draw.tile(move) : []));

  return { open, show, showGhost, light: (numbers, isLit) => showScene.light(numbers, isLit) };
};
