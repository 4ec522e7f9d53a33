"""Runs of many games: their settings, their schedule, the order in which games are played, the
runner that has them played, and its workers.
"""
