"""The arena for programs: one function for each question, with data frames as answers.

    from arena import api

    league = api.run(["./my-bot", "greedy", "careful"], deals=50, seed="first")
    league.standings
    api.compare("my-bot", "my-bot@1", elo1=30).verdict
    api.rate("results/league-1", without=["random-python"]).pairs
    api.check("./my-bot").passed

They do what the commands of the same names do, in the same folders, and give the same figures. They
work in a notebook, in a thread, and in a script without ``if __name__ == "__main__"``: workers are
processes of their own, which do not import your program. They print nothing; what a command says
beside its answer is an `ArenaWarning`. Ctrl-C, or an interrupted cell, ends the workers and their
bots; the same call plays the rest.

Bots are named as on the command line: ``"my-bot"``, ``"my-bot:depth=3"``, ``"./folder"``,
``"careful-8"``; a `Path` is always a path. The home is the folder that holds bots/ and results/:
``home``, else $ARENA_HOME, else the nearest one from the current folder upward.

What a user can put right raises `arena.errors.UserError`, whose ``hint`` is the cure.
"""

from arena.api.answers import CheckResult, ComparisonResult, ReviewResult, Run, Standings
from arena.api.questions import ArenaWarning, check, compare, games, rate, review, run

__all__ = [
    "ArenaWarning",
    "CheckResult",
    "ComparisonResult",
    "ReviewResult",
    "Run",
    "Standings",
    "check",
    "compare",
    "games",
    "rate",
    "review",
    "run",
]
