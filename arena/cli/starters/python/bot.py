"""NAME: a bot for Qin. Change `choose`, then run `arena check` on this folder.

While the bot plays, print writes to stderr, so you can log what you like: try print(position).
"""

from arena.sdk import Position, run


# ---- CHANGE THIS. A better idea to start with: position.outlooks() rates what each move leads to.
def choose(position: Position) -> int:
    """Return the move to play. Here: the one that leaves this bot the fewest pagodas to place."""
    if position.rng.random() < position.options["blunders"]:  # bot.toml declares options
        return position.rng.choice(position.legal_moves())
    best = min(position.legal_moves(), key=lambda move: position.play(move).left[position.seat])
    position.note(left=position.play(best).left[position.seat])  # `arena replay` shows notes
    return best


run(choose)
