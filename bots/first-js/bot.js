// A first bot for Node.js, without any package: it asks for the full view, so it needs to know nothing about the rules.
// It prefers double tiles, which found a province wherever they lie.
const lines = require("readline").createInterface({ input: process.stdin });

let state = 0;

function random(below) {
  // xorshift: the same seed gives the same game
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
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
    const doubles = message.legal.filter((move) => /^(.).*\1[a-z]/.test(move));
    const moves = doubles.length ? doubles : message.legal;
    answer({ type: "move", id: message.id, move: moves[random(moves.length)] });
  } else if (message.type === "quit") {
    process.exit(0);
  }
});
