"""For training: positions and moves as numpy arrays, from which a policy learns and, once trained,
plays.

`arena.training.qin_v0` is a PettingZoo environment; it needs ``pip install qin-arena[pettingzoo]``.
A bot needs only what is here:

    from arena.sdk import run
    from arena.training import choose_by

    run(choose_by(policy))  # policy(observation, action_mask) -> action, as in QinEnv
"""

from arena.training.encoding import PLANES, Policy, action_of, actions, choose_by, encode, move_of

__all__ = ["PLANES", "Policy", "action_of", "actions", "choose_by", "encode", "move_of"]
