"""Whether one bot plays by the protocol, step by step; each step is a dialogue with a real process.

`run` takes the steps, `table` lists them, `variants` are ways of speaking that the protocol allows, `bench` is what they work with.
"""
