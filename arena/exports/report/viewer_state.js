/* What the viewer of finished games shows: a game, perhaps another game of the same deal beside it,
   and a step. The other scripts `viewer_*.js` read this state and change it.

   Needs `board.js`, `seats.js` and `story.js`. */

const VIEWER_IDS =
  "viewer game link result board board-about race values wins times step play kind " +
  "speed now eyes players log cells seatings twin twin-board twin-about twin-players " +
  "same-deal deal-results deal-tiles key-on rule-text own-seats choice tries moment-on moment-back";

/**
 * @param {ViewerData} data the games of the page
 * @returns {Viewer} a viewer that shows no game yet
 */
const makeViewer = (data) => {
  const elements = VIEWER_IDS.split(" ").map((id) => [id, document.getElementById(id)]);
  const parts = /** @type {ViewerParts} */ (Object.fromEntries(elements));
  /** @type {LineOf} */
  const lineOf = (story, state, seat, isNext) => handLine(viewer, story, state, seat, isNext);
  /** @type {Viewer} */
  const viewer = {
    ...data,
    parts,
    table: tableOf(parts.board, parts.players, lineOf),
    twinTable: tableOf(parts["twin-board"], parts["twin-players"], lineOf),
    stories: new Map(),
    story: null,
    twin: null,
    cursor: 0,
    step: 0,
    timer: 0,
    shownAddress: "",
  };
  return viewer;
};

/**
 * The story of a game of the page. It is worked out once, when it is asked for.
 *
 * @param {Viewer} viewer
 * @param {string} id
 * @returns {Story | undefined} undefined for a game that the page does not have
 */
const storyNamed = ({ games, boards, stories }, id) => {
  const game = games.find((candidate) => candidate.id === id);
  if (game && !stories.has(id)) stories.set(id, storyOf(game, boards[game.board]));
  return stories.get(id);
};

/**
 * Whether the hand of a seat is shown: the reader can choose to see only what one seat saw.
 *
 * @param {Viewer} viewer
 */
const isHandSeen = ({ parts }, seat) =>
  parts.eyes.value === "" || Number(parts.eyes.value) === seat;

/**
 * The last step of the open game, or of its twin if that is longer.
 *
 * @param {Viewer} viewer
 */
const lastCursor = ({ story, twin }) => Math.max(story.last, twin?.last ?? 0);

/**
 * What stands in the line of a seat beside its pagodas: its bot, and its hand.
 *
 * @param {Viewer} viewer
 * @param {Story} story
 * @param {Position} state
 * @returns {ReturnType<LineOf>}
 */
const handLine = (viewer, story, state, seat, isNext) => {
  const { game } = story;
  const hand = notation.tilesOf(state.hands[seat]);
  const isSeen = isHandSeen(viewer, seat);
  const tiles = hand.map((letters) => {
    if (!isSeen) return draw.domino("??");
    return isNext ? tileToTry(viewer, story, state, letters) : draw.domino(letters);
  });
  return [
    {
      name: game.bots[seat],
      status: isNext ? "it is their turn" : "",
      unit: `of ${game.stock} to place`,
    },
    draw.html("div", { class: "hand" }, ...(tiles.length ? tiles : ["no tiles"])),
  ];
};

/**
 * The address of a position: a game, the number of tiles on the board, and the number of passes
 * after the last of them. The address names the game beside it too.
 *
 * @param {Viewer} viewer
 */
const addressOf = ({ story, twin }, turn, passes = 0) => {
  const pass = passes ? `.${passes}` : "";
  const beside = twin ? `&beside=${encodeURIComponent(twin.game.id)}` : "";
  return `#game=${encodeURIComponent(story.game.id)}&turn=${turn}${pass}${beside}`;
};

/**
 * The address of a position to give to others. On a server's page of one game it is a query such as
 * "?t=12", because a server that makes a preview of the page cannot see a fragment. A position after
 * passes, or with a twin, has a fragment all the same.
 *
 * @param {Viewer} viewer
 */
const addressToShare = (viewer, turn, passes = 0) => {
  const { story, twin, games, parts } = viewer;
  const isPage = location.protocol.startsWith("http") && parts.viewer.closest(".alone");
  const isFirst = story.game.id === games[0].id && !twin && !passes;
  return isPage && isFirst ? `?t=${turn}` : addressOf(viewer, turn, passes);
};

/**
 * Read the fragment of an address, such as "#game=bird%2Fa%2Bb%2F1%2F0&turn=7.1", or "#t12" for the
 * position after tile 12 of the game of the page. The query "?t=12" says the same.
 *
 * @param {string} address a fragment or a query, with its first character
 * @returns {{ game?: string, turn?: string, beside?: string, games?: string, with?: string }}
 */
const fieldsOfAddress = (address) => {
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const tile = /^(?:#t|\?(?:.*&)?t=)(\d+)(?:&|$)/.exec(address);
  if (tile) return { turn: tile[1] };
  const fields = address.slice(1).split("&");
  return Object.fromEntries(fields.map((field) => field.split("=").map(decoded)));
};
