// NAME: a bot for Qin. Change `worth` or `choose`, then run `arena check` on this folder.
// console.log would break the protocol, which owns stdout: log with console.error.

// ---- CHANGE THIS: how good a move such as Rc4Yd4 is; here, roughly, how many pagodas it places.
// Two spaces of one colour that touch no space of it found a province, which takes the villages beside it.
function worth(move, rows) {
  const [, first, square, second, other] = /^([RYB])([a-z]\d+)([RYB])([a-z]\d+)$/.exec(move);
  if (first !== second || beside(square, first, rows) + beside(other, first, rows) > 0) return 0;
  return 1 + beside(square, "V", rows) + beside(other, "V", rows);
}

// The move to play. The turn has hand, legal, time_ms and position: rows, provinces, villages, left, hands, pile.
function choose(turn) {
  const worths = turn.legal.map((move) => worth(move, turn.position.rows));
  return turn.legal[worths.indexOf(Math.max(...worths))];
}

// How many of the four squares around this one show the sign: R Y B a colour, V a village, ~ a lake.
function beside(square, sign, rows) {
  const column = square.charCodeAt(0) - "a".charCodeAt(0);
  const row = Number(square.slice(1)) - 1;
  const around = [rows[row][column - 1], rows[row][column + 1], rows[row - 1]?.[column], rows[row + 1]?.[column]];
  return around.filter((found) => found === sign).length;
}

// ---- the dialogue with the arena: protocol/SPEC.md
function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") answer({ type: "ready", id: message.id, view: "full" });
  if (message.type === "turn") answer({ type: "move", id: message.id, move: choose(message) });
  if (message.type === "quit") process.exit(0);
});
