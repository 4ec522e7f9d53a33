"""Anything that can be asked for a move: bots in their own processes, and functions in this one."""
