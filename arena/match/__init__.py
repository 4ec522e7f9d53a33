"""One game: its clock and its referee."""
