"""Pages that live: the home in a browser, runs while they are played, and games against bots."""
