/**
 * What the person is about to play: the chosen tile, how it is turned, where it is aimed, and the
 * hints for this position.
 *
 * A mouse or the focus shows what a tile would do on a square. The first click fixes the aim, and a
 * second click on the aimed tile places it. A click on the tile of the best hint aims that tile.
 *
 * @param {PlayParts} parts
 * @param {ChoosingActions} actions
 */
const choosingOn = (parts, actions) => {
  const overlay = overlayOn(parts.ground);
  const hand = handIn(parts.tiles, (index) => chooseTile(index));
  /** @type {ReturnType<typeof placingOn>} */
  let placing = null;
  const held = handPlaces();
  /** @type {Set<string>} */
  let legalMoves = new Set();
  let isOpen = false;
  let chosenIndex = 0;
  /** @type {Aim | null} */
  let aim = null;
  /** @type {Hints} */
  let hints = { moves: [] };

  const chosenTile = () => held.tiles()[chosenIndex] ?? null;
  const isLegal = () => Boolean(aim) && legalMoves.has(aim.move);

  /* ---- showing it */

  /* The chosen tile is turned in the way in which it lies over the square that is aimed at. */
  const showHand = () =>
    hand.show(held.tiles(), chosenIndex, (index) =>
      aim && index === chosenIndex ? aim.turn : held.turnOf(index),
    );
  const showAim = () => {
    parts.place.disabled = !isOpen || !isLegal();
    parts.turn.disabled = !isOpen;
    overlay.showTiles(hints, isOpen && aim ? aim.move : null, isLegal());
    actions.onAim(isOpen && isLegal() ? aim.move : null);
  };
  const showLights = () => {
    const isLit = isOpen && chosenTile();
    overlay.showLights(isLit ? placementsOf(chosenTile(), legalMoves) : []);
  };
  const showAll = () => {
    showHand();
    showLights();
    showAim();
  };

  /* ---- aiming */

  /* Aim the chosen tile at a square: in the present turn if it is legal there, else in another. */
  const aimAt = (row, column, isFixed) => {
    if (!isOpen || !chosenTile()) return;
    const turn = held.turnOf(chosenIndex);
    aim = { row, column, isFixed, ...placing.bestAt(chosenTile(), row, column, turn, legalMoves) };
    showHand();
    showAim();
  };
  const clearAim = () => {
    aim = null;
    showHand();
    showAim();
  };
  /* Aim a placement, whatever tile was chosen. */
  const aimMove = (move, row, column) => {
    const { tile } = notation.parseMove(move);
    chosenIndex = held.tiles().findIndex((other) => other && notation.isSameTile(other, tile));
    aim = { row, column, isFixed: true, ...placing.wayOf(chosenTile(), move, row, column) };
    held.turn(chosenIndex, aim.turn);
    showAll();
  };
  const covers = (move, row, column) => {
    const { first, second } = notation.parseMove(move);
    return [first, second].some((half) => half.row === row && half.column === column);
  };

  /* ---- what a person does */

  const point = (row, column) => {
    const isHere = aim?.row === row && aim?.column === column;
    if (!isHere && !aim?.isFixed) aimAt(row, column, false);
  };
  const leave = () => {
    if (!aim?.isFixed) clearAim();
  };
  const place = () => {
    if (isOpen && aim) actions.onPlace(aim.move);
  };
  const click = (row, column) => {
    if (!isOpen) return;
    if (aim?.isFixed && isLegal() && covers(aim.move, row, column)) {
      place();
    } else if (hints.best && covers(hints.best, row, column) && aim?.move !== hints.best) {
      aimMove(hints.best, row, column);
    } else {
      const isHere = aim?.row === row && aim?.column === column;
      // The first click keeps the tile as it was turned over the square.
      if (aim && isHere && !aim.isFixed) aim.isFixed = true;
      else aimAt(row, column, true);
      // The server says why the tile cannot lie here.
      if (aim && !isLegal()) actions.onRefused(aim.move);
    }
  };
  /* Enter and the space bar place at once what the focus has shown. */
  const press = (row, column) => {
    if (!isOpen) return;
    if (!aim || !covers(aim.move, row, column)) aimAt(row, column, true);
    if (isLegal()) place();
    else if (aim) actions.onRefused(aim.move);
  };
  /* Turn the chosen tile clockwise: on the board round its aimed half, also into ways that are not
     legal, which then say why. */
  const turnTile = () => {
    if (!isOpen || !chosenTile()) return;
    if (aim) aim = { ...aim, ...placing.turned(chosenTile(), aim.row, aim.column, aim) };
    held.turn(chosenIndex, aim ? aim.turn : (held.turnOf(chosenIndex) + 1) % 4);
    showHand();
    showAim();
    if (aim && !isLegal()) actions.onRefused(aim.move);
  };
  const canTurn = () => isOpen;
  const hasAim = () => isOpen && Boolean(aim);
  const chooseTile = (index) => {
    if (!held.tiles()[index]) return;
    chosenIndex = index;
    showHand();
    showLights();
    if (aim) aimAt(aim.row, aim.column, aim.isFixed);
    else showAim();
  };

  /* ---- positions */

  /* A tile of the hand that has a legal placement: the chosen one if it has, else the first. */
  const playableIndex = () => {
    const hasPlace = (tile) => tile && placementsOf(tile, legalMoves).length > 0;
    if (chosenTile() && (!isOpen || hasPlace(chosenTile()))) return chosenIndex;
    return Math.max(0, held.tiles().findIndex(isOpen ? hasPlace : Boolean));
  };
  /**
   * Show a position; `legal` is empty while the person is not to move.
   *
   * @param {View} view
   * @param {string[]} legal
   */
  const open = (view, legal) => {
    placing ??= placingOn(view.rows);
    held.take(view.hand, chosenIndex);
    legalMoves = new Set(legal);
    isOpen = legal.length > 0;
    hints = { moves: [] };
    chosenIndex = playableIndex();
    if (aim) aim.isFixed = false;
    showHand();
    showLights();
    if (aim && isOpen) aimAt(aim.row, aim.column, false);
    else clearAim();
  };
  /* Accept no more input in this position, because its move is being sent. */
  const close = () => {
    isOpen = false;
    aim = null;
    showLights();
    showAim();
  };
  const reopen = () => {
    isOpen = legalMoves.size > 0;
    showLights();
    showAim();
  };
  const showHints = (/** @type {Hints} */ newHints) => {
    hints = newHints;
    clearAim();
  };
  /* Hints are of one position, and are of no use once a move has been placed. */
  const forgetHints = () => {
    if (hints.moves.length) showHints({ moves: [] });
  };
  const aimedMove = () => aim?.move ?? null;
  const isLit = (row, column) =>
    isOpen &&
    chosenTile() &&
    placementsOf(chosenTile(), legalMoves).some((move) => covers(move, row, column));

  return Object.freeze({
    point,
    leave,
    click,
    press,
    place,
    turnTile,
    canTurn,
    hasAim,
    chooseTile,
    open,
    close,
    reopen,
    showHints,
    forgetHints,
    aimedMove,
    isLit,
  });
};
