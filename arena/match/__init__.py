"""Playing one game: the clock, the referee, replays, grades of decisions, and the games of `arena
check`.
"""
