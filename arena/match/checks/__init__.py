"""Checks step by step whether a bot follows the protocol; each step is a dialogue with a real
process.

`run` runs the steps, `table` lists them, `variants` are allowed but unusual ways of speaking, and
`bench` is what the steps work with.
"""
