"""The pages of `arena serve`: the home in a browser, runs while they are played, and games between
people and bots.
"""
