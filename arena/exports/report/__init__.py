"""The report of a run, and the page that replays a game, each as one self-contained HTML file."""
