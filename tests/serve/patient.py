"""``python -m tests.serve.patient`` is the command ``arena`` with a server that waits for a caution
as long as it takes, so that a busy machine cannot change an answer, and whose judge tries few
deals.
"""

from arena.cli import main
from arena.commands import hints
from arena.web import game_end, graded, grading
from tests.serve import quick_judge

if __name__ == "__main__":
    for module in (hints, game_end, graded, grading):
        module.JUDGE = quick_judge.JUDGE
    grading.judged_step = quick_judge.judged_step
    grading.CAUTION_S = 120
    main()
