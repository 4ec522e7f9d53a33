"""Many games: settings, schedule, sources of games, the runner and its workers."""
