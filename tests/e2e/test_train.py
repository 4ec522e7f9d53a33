"""What docs/training.md shows: the bot learns in the environment and plays the same under the
referee.
"""

import re
import subprocess
import sys

import numpy as np
import pytest

from arena.records.record import shares
from arena.rules.notation import PASS, parse_move
from arena.training import action_of, qin_v0
from tests.support.commandline import ROOT


@pytest.fixture
def learner(arena):
    """The folder of that page's bot, trained on half of the games."""
    arena("new", "learner")
    page = (ROOT / "docs" / "training.md").read_text()
    for name, source in re.findall(r'```python title="learner/(\w+\.py)"\n(.*?)```', page, re.S):
        (arena.home / "learner" / name).write_text(source.replace("range(100)", "range(50)"))
    subprocess.run(
        [sys.executable, "train.py"],
        cwd=arena.home / "learner",
        env={"PYTHONPATH": str(ROOT)},
        check=True,
    )
    return arena.home / "learner"


def test_the_bot_of_the_page_learns_and_plays_under_the_referee_as_in_the_environment(
    arena, learner
):
    arena("run", "./learner", "rnd", "--deals", 2, "--seed", "train", "--out", "learnt")
    weights = np.load(learner / "weights.npz")["weights"]
    said = {}
    exec((learner / "bot.py").read_text(), said)
    env = qin_v0.env()
    records = arena.records("learnt")
    assert [record["faults"] for record in records] == [[]] * 4
    assert sum(record["ranks"][record["bots"].index("learner")] == 1 for record in records) >= 3
    for record in records:
        env.reset(options={"deck": record["deck"]})
        board = env.unwrapped.board
        for move in (parse_move(board, text) for text in record["moves"]):
            if move == PASS:
                continue
            seen, *_ = env.last()
            if record["bots"][env.possible_agents.index(env.agent_selection)] == "learner":
                assert said["policy"](
                    seen["observation"], seen["action_mask"], weights
                ) == action_of(board, move)
            env.step(action_of(board, move))
        assert list(env.rewards.values()) == shares(record["ranks"])


def test_an_action_that_is_not_legal_forfeits_with_the_rule(arena):
    arena.add_bot(
        "first",
        "from arena.sdk import run\nfrom arena.training import choose_by\nrun(choose_by(lambda *_:"
        " 700))\n",
    )
    _, err = arena("play", "first", "rnd", status=1)
    assert "illegal move" in err
    assert "(R" in err
