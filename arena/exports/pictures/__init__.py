"""Positions as SVG files that stand alone: one drawing for the rules, the README and whatever shows
a board later.
"""
