"""The report of a run, and the replay of a game, each as one self-contained HTML file."""
