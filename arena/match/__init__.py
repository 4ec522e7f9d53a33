"""One game: the clock, the referee, replays, and the checks that a bot has to pass."""
