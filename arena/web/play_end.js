/**
 * What the page shows once the game has ended: the result, the link to the kept game, and the
 * progress of the grading.
 *
 * @param {PlayParts} parts
 */
const endIn = (parts) => {
  const show = (/** @type {View} */ view) => {
    const isEnded = view.state === "over" || view.state === "broken";
    parts.playing.classList.toggle("is-over", isEnded);
    parts.over.hidden = !isEnded;
    parts.leave.hidden = isEnded;
    if (!isEnded) return;
    parts.ending.textContent = playWording.endWords(view);
    if (view.seed) parts.seed.textContent = `, seed ${view.seed}`;
    parts.look.hidden = !view.kept;
    parts.grade.hidden = !view.kept;
    if (view.kept) {
      const game = view.game.split("/").map(encodeURIComponent).join("/");
      parts.look.href = `/runs/${encodeURIComponent(view.kept)}/games/${game}`;
    }
    if (view.grading) showGrading(view);
  };
  const showGrading = (view) => {
    parts.grade.disabled = true;
    parts.grading.hidden = false;
    parts.grading.textContent = view.grading;
    if (view.graded) parts.look.textContent = "Look at the game with its key moments";
  };
  return Object.freeze({ show });
};
