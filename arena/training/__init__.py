"""For people who train: positions and moves as numpy arrays, for a policy to learn from and, once trained, to play by.

`arena.training.qin_v0` is a PettingZoo environment, for which ``pip install qin-arena[pettingzoo]`` is needed. A bot needs only what is
here:

    from arena.sdk import run
    from arena.training import choose_by

    run(choose_by(policy))          # policy(observation, action_mask) -> action, as in the environment
"""

from arena.training.encoding import PLANES, Policy, action_of, actions, choose_by, encode, move_of

__all__ = ["PLANES", "Policy", "action_of", "actions", "choose_by", "encode", "move_of"]
