// NAME: a bot for Qin. Change `worth` or `choose`, then run `arena check` on this folder.
// Stdout belongs to the protocol. To log something, write to stderr: console.error.

let options = { village: 1 }; // bot.toml declares them; `start` brings what the user has set

// ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it places.
// A tile with one colour twice founds a province if it touches no space of that colour, and may win
// the villages beside it.
function worth(move, rows) {
  const parts = /^([RYB])([a-z]\d+)([RYB])([a-z]\d+)$/.exec(move);
  if (!parts) return 0;
  const [, colour, square, otherColour, otherSquare] = parts;
  if (colour !== otherColour) return 0;
  if (beside(square, colour, rows) > 0 || beside(otherSquare, colour, rows) > 0) return 0;
  return 1 + options.village * (beside(square, "V", rows) + beside(otherSquare, "V", rows));
}

// Returns the move to play, or "" if the turn has none. A turn has: hand, legal, time_ms, position
// (rows, provinces, villages, left, hands, pile).
function choose(turn) {
  let best = "";
  let bestWorth = -1;
  for (const move of turn.legal) {
    const moveWorth = worth(move, turn.position.rows);
    if (moveWorth > bestWorth) {
      best = move;
      bestWorth = moveWorth;
    }
    if (!hasTime()) break;
  }
  return best;
}

// Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a village, ~
// for a lake.
function beside(square, sign, rows) {
  const column = square.charCodeAt(0) - "a".charCodeAt(0);
  const row = Number(square.slice(1)) - 1;
  const neighbours = [
    rows[row]?.[column - 1],
    rows[row]?.[column + 1],
    rows[row - 1]?.[column],
    rows[row + 1]?.[column],
  ];
  return neighbours.filter((neighbour) => neighbour === sign).length;
}

// ---- time, in ms. A late answer loses the game: ask hasTime after every small piece of work, and
// have a move ready at any time. The arena counts the CPU time since your last answer; with
// `--clock wall` it counts the wall-clock time since its request. Give this bot 20 ms a
// move or more: Node.js compiles the code while the bot plays.
let byWall = false; // whether the arena was started with `--clock wall`
let hasBank = false; // whether time_ms is all that is left for the whole game
let since = 0; // when the counting began: at the last answer, or at the request
let limit = Infinity; // how long the bot may think
let late = 0; // a further reserve, which grows after late answers

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
  // Of a budget for the whole game, a move gets a twentieth.
  limit = hasBank ? ms / 20 : Math.max(ms * 0.4, ms - reserve - late);
}
function answered() {
  // A late answer makes the reserve larger, and each answer in time a little smaller.
  late = Math.max(late * 0.8, now() - since - limit);
  since = now();
}

// ---- the conversation with the arena, see protocol/SPEC.md
function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
  answered();
}

// Makes reading a field that a message does not have an error, such as `owner` of a province, which
// has `seat`. JavaScript alone would say undefined.
function guarded(_, value) {
  const isObject = value && typeof value === "object" && !Array.isArray(value);
  if (!isObject) return value;
  const get = (object, field) => {
    if (field in object || typeof field === "symbol" || field === "toJSON") return object[field];
    const fields = Object.keys(object).join(", ");
    throw new TypeError(`expected one of the fields ${fields}, got ${field}`);
  };
  return new Proxy(value, { get });
}

const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line, guarded);
  if (message.type === "hello") answer({ type: "ready", id: message.id, view: "full" });
  if (message.type === "start") {
    byWall = "clock" in message && message.clock === "wall";
    hasBank = "game_ms" in message;
    if ("options" in message) options = { ...options, ...message.options };
    console.error("options:", options); // `arena play --stderr` shows it
  }
  if (message.type === "turn") {
    asked(message.time_ms);
    const move = choose(message);
    if (move === "") console.error("this turn has no move to choose");
    const note = { worth: worth(move, message.position.rows) }; // `arena replay` shows notes
    answer({ type: "move", id: message.id, move, note });
  }
  if (message.type === "quit") process.exit(0);
});
