"""The files of a run: run.json, the journal and its records, a league's events, grades, void games,
and the evidence of faults.
"""
