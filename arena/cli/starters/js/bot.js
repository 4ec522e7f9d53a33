// NAME: a bot for Qin. Change `choose`, then run `arena check` on this folder.
// console.log would break the protocol, which owns stdout: log with console.error.
const lines = require("readline").createInterface({ input: process.stdin });

// turn.legal are all legal moves, turn.position is the board, turn.hand the tiles; protocol/SPEC.md shows them.
function choose(turn) {
  return turn.legal[Math.floor(turn.legal.length / 2)];
}

function answer(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") answer({ type: "ready", id: message.id, view: "full" });
  if (message.type === "turn") answer({ type: "move", id: message.id, move: choose(message) });
  if (message.type === "quit") process.exit(0);
});
