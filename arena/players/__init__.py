"""Anything that is asked for a move: bots in processes, functions in this one."""
