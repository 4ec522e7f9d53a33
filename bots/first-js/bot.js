// A first bot for Node.js, without any package. It asks for the full view, so it needs to know nearly nothing about the rules: only that
// a double tile with no neighbour of its colour founds a province, and that a province beside a free village takes the village.
const lines = require("readline").createInterface({ input: process.stdin });

let state = 0;

function random(below) {
  // xorshift: the same seed gives the same game
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
}

// The squares around a square such as c4; those beside the board do no harm.
function around(square) {
  const column = square.charCodeAt(0);
  const row = Number(square.slice(1));
  return [
    String.fromCharCode(column - 1) + row,
    String.fromCharCode(column + 1) + row,
    square[0] + (row - 1),
    square[0] + (row + 1),
  ];
}

// Pagodas that a move places at once, as far as this bot can tell.
function worth(move, position) {
  const [, colour, square, otherColour, other] = /^([RYB])([a-z]\d+)([RYB])([a-z]\d+)$/.exec(move);
  if (colour !== otherColour) return 0;
  const beside = new Set([...around(square), ...around(other)]);
  const colourAt = (at) => (position.rows[Number(at.slice(1)) - 1] || "")[at.charCodeAt(0) - 97];
  if ([...beside].some((at) => at !== square && at !== other && colourAt(at) === colour)) return 0;
  return 1 + position.villages.filter((village) => village.seat === null && village.squares.some((at) => beside.has(at))).length;
}

function choose(turn) {
  const worths = turn.legal.map((move) => worth(move, turn.position));
  const best = turn.legal.filter((_, index) => worths[index] === Math.max(...worths));
  return best[random(best.length)];
}

function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    answer({ type: "ready", id: message.id, view: "full" });
  } else if (message.type === "start") {
    state = message.seed | 1;
  } else if (message.type === "turn") {
    answer({ type: "move", id: message.id, move: choose(message) });
  } else if (message.type === "quit") {
    process.exit(0);
  }
});
