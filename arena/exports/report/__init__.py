"""The report of a run, and the replay of a game, as one HTML file that needs nothing else."""
