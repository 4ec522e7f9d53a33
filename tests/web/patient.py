"""``python -m tests.web.patient`` is the command ``arena`` with a server that waits for a caution
as long as it takes, so that a busy machine cannot change an answer.
"""

from arena.cli import main
from arena.web import grading

if __name__ == "__main__":
    grading.CAUTION_S = 120
    main()
