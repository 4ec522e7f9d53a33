"""From a journal of games to tables of ratings. This is the lowest layer that may import pandas and
numpy.
"""
