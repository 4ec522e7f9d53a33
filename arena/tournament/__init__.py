"""Many games: settings, schedule, workers."""
