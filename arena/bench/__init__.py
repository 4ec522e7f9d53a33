"""Measurements of the arena itself, each beside the thing it is compared with."""
