/* A lesson: one move on a small board. The page has all legal moves and what they do.

   Needs `learnt.js` and the scripts of the board of a game. */
(() => {
  const content = document.getElementById("lesson-data");
  if (!content) return;
  const lesson = JSON.parse(content.textContent);
  const IDS = "playing ground grid tiles turn place said does refused on again";
  const parts = /** @type {any} */ (
    Object.fromEntries(IDS.split(" ").map((id) => [id, document.getElementById(id)]))
  );
  const { view } = lesson;
  const ruleLink = (number, words = number) => {
    const id = wording.ruleId(number);
    return draw.html("a", { href: `/rules#${id}`, class: "rule" }, words);
  };
  const showScene = draw.stage(parts.ground.querySelector(".live"), lesson.elements);
  const slot = slotIn(parts, ruleLink);

  /* The move was right: say so, and lead to the next lesson. */
  const finish = () => {
    learnt.add(lesson.key);
    slot.showWords(draw.html("b", {}, "Done. "), lesson.done);
    parts.on.classList.add("main");
    parts.on.textContent = parts.on.textContent.replace("Skip:", "Next:");
    parts.again.hidden = false;
  };
  const refuse = (text) => slot.showRefusal(...wording.withRuleLinks(text, ruleLink));
  /* Say why a move is illegal. In a lesson about that rule, this is what the reader had to find. */
  const refuseMove = (move) => {
    const reason = lesson.reasons[lesson.barred[move]] ?? "";
    refuse(reason);
    if (lesson.goal && reason.includes(lesson.goal)) {
      learnt.add(lesson.key);
      parts.refused.append(draw.html("b", {}, " That is it. "), lesson.done);
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
      refuse(lesson.almost);
      return;
    }
    choosing.close();
    showScene(scene, true);
    finish();
  };
  const begin = () => {
    showScene(lesson.scene, false);
    parts.again.hidden = true;
    slot.showWords("The squares where the tile may lie are lit. Aim at one, and click it again.");
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
  parts.ground.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "r") choosing.turnTile();
  });
})();
