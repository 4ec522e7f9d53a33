"""Computes tables of ratings from a journal of games, or from a CSV file of results. No package
below this one may import pandas or numpy.
"""
