"""One game: the clock and the referee."""
