// NAME: a bot for Qin. Change `worth` or `choose`, then run `arena check` on this folder.
// Stdout belongs to the protocol. To log something, write to stderr: console.error.

let options = { village: 1 }; // bot.toml declares them; `start` brings what the user has set

// ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it places.
// A tile with one colour twice founds a province if it touches no space of that colour, and may win
// the villages beside it.
function worth(move, rows) {
  const parts = /^([RYB])([a-z]\d+)([RYB])([a-z]\d+)$/.exec(move);
  if (!parts) return 0;
  const [, first, square, second, other] = parts;
  if (first !== second || beside(square, first, rows) + beside(other, first, rows) > 0) return 0;
  return 1 + options.village * (beside(square, "V", rows) + beside(other, "V", rows));
}

// Returns the move to play, or "" if the turn has none. A turn has: hand, legal, time_ms, position
// (rows, provinces, villages, left, hands, pile).
function choose(turn) {
  let [best, most] = ["", -1];
  for (const move of turn.legal ?? []) {
    const found = worth(move, turn.position.rows);
    if (found > most) [best, most] = [move, found];
    if (!hasTime()) break;
  }
  return best;
}

// Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a village, ~
// for a lake.
function beside(square, sign, rows) {
  const column = square.charCodeAt(0) - "a".charCodeAt(0);
  const row = Number(square.slice(1)) - 1;
  const around = [
    rows[row]?.[column - 1],
    rows[row]?.[column + 1],
    rows[row - 1]?.[column],
    rows[row + 1]?.[column],
  ];
  return around.filter((found) => found === sign).length;
}

// ---- time, in ms. A late answer loses the game: ask hasTime after every small piece of work, and
// have a move ready at any time. The arena counts processor time from your last answer on; with
// `--clock wall` the time from its request on. Play it with 20 ms a move or more: Node.js compiles
// while it plays.
let [byWall, hasBank, since, limit, late] = [false, false, 0, Infinity, 0];

function now() {
  if (byWall) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
function hasTime() {
  return now() - since < limit;
}
function asked(ms) {
  const reserve = byWall ? 25 + ms / 4 : Math.max(15, ms / 20); // for surprises
  if (byWall) since = now();
  // Of a budget for the whole game, a move gets a small part.
  limit = hasBank ? ms / 20 : Math.max(ms * 0.4, ms - reserve - late);
}
function answered() {
  // What came too late goes into the reserve, and is slowly forgotten.
  late = Math.max(late * 0.8, now() - since - limit);
  since = now();
}

// ---- the conversation with the arena, see protocol/SPEC.md
function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
  answered();
}

// Reading a field that a province or village does not have, such as `owner` for `seat`, throws an
// error. JavaScript alone would say undefined.
function guarded(_, value) {
  if (!value?.squares) return value;
  const get = (area, field) => {
    if (field in area || typeof field === "symbol" || field === "toJSON") return area[field];
    throw new TypeError(`expected one of the fields ${Object.keys(area).join(", ")}, got ${field}`);
  };
  return new Proxy(value, { get });
}

const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line, guarded);
  if (message.type === "hello") answer({ type: "ready", id: message.id, view: "full" });
  if (message.type === "start") {
    [byWall, hasBank] = [message.clock === "wall", "game_ms" in message];
    options = { ...options, ...message.options };
    console.error("options:", options); // `arena play --stderr` shows it
  }
  if (message.type === "turn") {
    asked(message.time_ms);
    const move = choose(message);
    if (move === "") console.error("this turn has no move to choose");
    const note = { worth: worth(move, message.position?.rows) }; // `arena replay` shows notes
    answer({ type: "move", id: message.id, move, note });
  }
  if (message.type === "quit") process.exit(0);
});
