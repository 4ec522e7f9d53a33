"""Measurements of the arena itself, each next to a reference to compare it with."""
