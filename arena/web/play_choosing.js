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
  /** @type {string[]} */
  let tiles = [];
  /** @type {Set<string>} */
  let legalMoves = new Set();
  let isOpen = false;
  let chosenIndex = 0;
  let turn = 0;
  /** @type {Aim | null} */
  let aim = null;
  /** @type {Hints} */
  let hints = { moves: [] };

  const chosenTile = () => tiles[chosenIndex];
  const isLegal = () => Boolean(aim) && legalMoves.has(aim.move);

  /* ---- showing it */

  const showHand = () => hand.show(tiles, chosenIndex, turn);
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
    const ways = placing.waysAt(chosenTile(), row, column, legalMoves);
    const inThisTurn = ways.find((way) => placing.turnOf(chosenTile(), way) === turn);
    const move = inThisTurn ?? ways[0] ?? placing.anyAt(chosenTile(), row, column, turn);
    aim = move ? { row, column, move, isFixed } : null;
    if (ways.length && move) turn = placing.turnOf(chosenTile(), move);
    showHand();
    showAim();
  };
  const clearAim = () => {
    aim = null;
    showAim();
  };
  /* Aim a placement, whatever tile was chosen. */
  const aimMove = (move, row, column) => {
    const { tile } = notation.parseMove(move);
    chosenIndex = tiles.findIndex((held) => notation.isSameTile(held, tile));
    turn = placing.turnOf(chosenTile(), move);
    aim = { row, column, move, isFixed: true };
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
      aimAt(row, column, true);
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
  const turnTile = () => {
    if (!isOpen || !chosenTile()) return;
    const ways = aim ? placing.waysAt(chosenTile(), aim.row, aim.column, legalMoves) : [];
    if (ways.length) {
      aim.move = ways[(ways.indexOf(aim.move) + 1) % ways.length];
      turn = placing.turnOf(chosenTile(), aim.move);
    } else {
      const turns = turnsOf(chosenTile());
      turn = turns[(turns.indexOf(turn) + 1) % turns.length];
      if (aim) aimAt(aim.row, aim.column, aim.isFixed);
    }
    showHand();
    showAim();
  };
  const canTurn = () => isOpen;
  const hasAim = () => isOpen && Boolean(aim);
  const chooseTile = (index) => {
    if (index >= tiles.length) return;
    chosenIndex = index;
    turn %= turnsOf(chosenTile()).length;
    showHand();
    showLights();
    if (aim) aimAt(aim.row, aim.column, aim.isFixed);
    else showAim();
  };

  /* ---- positions */

  /* A tile of the hand that has a legal placement: the chosen one if it has, else the first. */
  const playableIndex = () => {
    const hasPlace = (tile) => placementsOf(tile, legalMoves).length > 0;
    if (!isOpen || hasPlace(chosenTile())) return chosenIndex;
    return Math.max(0, tiles.findIndex(hasPlace));
  };
  /**
   * Show a position; `legal` is empty while the person is not to move.
   *
   * @param {View} view
   * @param {string[]} legal
   */
  const open = (view, legal) => {
    placing ??= placingOn(view.rows);
    tiles = view.hand;
    legalMoves = new Set(legal);
    isOpen = legal.length > 0;
    hints = { moves: [] };
    if (chosenIndex >= tiles.length) chosenIndex = 0;
    if (tiles.length) {
      chosenIndex = playableIndex();
      turn %= turnsOf(chosenTile()).length;
    }
    if (aim) aim.isFixed = false;
    showHand();
    showLights();
    if (aim && isOpen) aimAt(aim.row, aim.column, false);
    else showAim();
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
    aim = null;
    showAim();
  };
  const isLit = (row, column) =>
    isOpen && placementsOf(chosenTile(), legalMoves).some((move) => covers(move, row, column));

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
    isLit,
  });
};
