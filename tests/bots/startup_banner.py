"""Prints its name and version on stdout before anything else."""

from polite import play

print("Qinominator 3000, version 0.1", flush=True)
play()
