/* A lesson: one move on a small board. The page has all legal moves and what they do.

   Needs `learnt.js` and the scripts of the board of a game. */
(() => {
  const content = document.getElementById("lesson-data");
  if (!content) return;
  const lesson = JSON.parse(content.textContent);
  const IDS = "playing ground grid tiles turn place said does refused on again rules";
  const parts = /** @type {any} */ (
    Object.fromEntries(IDS.split(" ").map((id) => [id, document.getElementById(id)]))
  );
  const { view } = lesson;
  const rules = rulesIn(parts.rules);
  const showScene = draw.stage(parts.ground.querySelector(".live"), lesson.elements);
  const slot = slotIn(parts, rules.link);

  /* The move was right: say so, and lead to the next lesson. */
  const finish = () => {
    learnt.add(lesson.key);
    slot.showWords(draw.html("b", {}, "Done. "), lesson.done);
    parts.on.classList.add("main");
    parts.on.textContent = parts.on.textContent.replace("Skip:", "Next:");
    parts.again.hidden = false;
  };
  /* The reason in words, and a link to its rule. */
  const refuseMove = (move) => {
    const [words, rule] = lesson.reasons[lesson.barred[move]];
    slot.showRefusal(words, ...rules.why(rule));
    if (lesson.goal === rule) {
      learnt.add(lesson.key);
      const success = draw.html("b", {}, " That is it. ");
      parts.refused.append(draw.html("span", { class: "done" }, success, lesson.done));
      parts.on.classList.add("main");
    }
  };
  const choosing = choosingOn(parts, {
    onAim: (move) => slot.showEffects(view, move),
    onPlace: (move) => placeMove(move),
    onRefused: refuseMove,
  });
  /* Place a legal move: show the scene after it if it is right, else what the lesson says then. */
  const placeMove = (move) => {
    const scene = lesson.after[move];
    if (!scene) {
      slot.showRefusal(lesson.almost);
      return;
    }
    choosing.close();
    showScene(scene, true);
    finish();
  };
  const begin = () => {
    showScene(lesson.scene, false);
    parts.again.hidden = true;
    slot.showWords(`${playWording.howToPlace()} ${playWording.RING}`);
    choosing.open(view, lesson.legal);
  };
  const grid = gridOver(parts, view.rows, {
    onPoint: choosing.point,
    onLeave: choosing.leave,
    onClick: choosing.click,
    onPress: choosing.press,
  });
  begin();
  grid.label((row, column) => playWording.squareWords(view, row, column));
  turnByGesture(parts.ground, choosing, choosing.turnTile);
  parts.turn.addEventListener("click", choosing.turnTile);
  parts.place.addEventListener("click", choosing.place);
  parts.again.addEventListener("click", begin);
  const choose = (index) => () => choosing.chooseTile(index);
  keysIn(parts.playing, () => !parts.rules.open, {
    1: choose(0),
    2: choose(1),
    r: choosing.turnTile,
  });
})();
