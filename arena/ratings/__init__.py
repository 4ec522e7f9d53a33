"""Computes tables of ratings from a journal of games, or from a CSV file of results. The packages
that `arena.ratings` may import from (records, rules and others, see the layers in pyproject.toml)
import neither pandas nor numpy, so that a bot or a worker starts quickly.
"""
