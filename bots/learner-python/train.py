"""Learns the weights of value.py from games against itself.

    pip install 'qin-arena[pettingzoo]'
    for players in 2 3 4; do python3 train.py $players; done

In the first round every seat plays the move with the best outlook. From the second round on it
plays the one after which its own chances are best, by what the rounds before have taught. Some
moves are left to chance, so that it sees positions that it would avoid. The weights are those under
which the winners of the games were most likely, held back towards those of the round before: a
multinomial logistic regression.
"""

import argparse
import json
import random
from functools import partial
from heapq import nlargest
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, vstack
from value import FEATURES, Value, lit, phase, weights_file

from arena.rules import State
from arena.training import action_of, qin_v0

BOARDS = ("bird", "lion")
CHUNK = 50  # games with a seed of their own, so that any number of processes plays the same ones
CHANCE = 0.1  # of a move at random
AMONG = 5  # moves that are looked at, the best outlooks first
PENALTY = 1e-4


class Seen(NamedTuple):
    """Positions: what share of the win each seat got in the end, how far the game had come, and for
    each seat a row that counts the entries lit for it.
    """

    shares: np.ndarray
    phases: np.ndarray
    rows: csr_matrix


def best_move(game: State, value: Value | None, rng: random.Random) -> int:
    """The move after which the mover stands best: by outlook before anything was learnt."""
    outlooks = zip(game.outlooks(), game.legal_moves(), strict=True)
    ranked = nlargest(AMONG, ((outlook, rng.random(), move) for outlook, move in outlooks))
    moves = [move for _, _, move in ranked]

    def worth(move: int) -> float:
        after = game.copy()
        after.play(move)
        return value(after)[game.mover]

    return max(moves, key=worth) if value else moves[0]


def play(players: int, value: Value | None, seed: str) -> Seen:
    """Plays a chunk of games, and keeps every position after a move."""
    rng = random.Random(seed)
    shares, phases, entries, ends = [], [], [], [0]
    for number in range(CHUNK):
        env = qin_v0.raw_env(players, BOARDS[number % len(BOARDS)])
        env.reset(seed=rng.getrandbits(32))
        game, before = env.game, len(phases)
        while game.end is None:
            at_random = rng.random() < CHANCE
            move = rng.choice(game.legal_moves()) if at_random else best_move(game, value, rng)
            env.step(action_of(game.board, move))
            if game.end is None:
                phases.append(phase(game))
                for own in lit(game):
                    entries += own
                    ends.append(len(entries))
        shares += [[env.rewards[agent] for agent in env.agents]] * (len(phases) - before)
    counts = np.ones(len(entries), np.float32), np.array(entries, np.int32), np.array(ends)
    return Seen(np.array(shares), np.array(phases), csr_matrix(counts, (len(ends) - 1, FEATURES)))


def fit(seen: Seen, before: np.ndarray) -> np.ndarray:
    """The weights, early and late, under which the winners of these games were most likely."""
    players = seen.shares.shape[1]
    blend = np.stack([1 - seen.phases, seen.phases], 1).repeat(players, 0)
    columns = seen.rows.T.tocsr()

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        score = (seen.rows @ (before + flat.reshape(FEATURES, 2)) * blend).sum(1)
        score = score.reshape(-1, players)
        score -= score.max(1, keepdims=True)
        log = score - np.log(np.exp(score).sum(1, keepdims=True))
        slope = ((np.exp(log) - seen.shares) / len(log)).reshape(-1, 1)
        gradient = (columns @ (slope * blend)).ravel() + 2 * PENALTY * flat
        return -(seen.shares * log).sum() / len(log) + PENALTY * (flat**2).sum(), gradient

    start = np.zeros(2 * FEATURES)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    print(f"loss {found.fun:.4f} on {len(seen.phases)} positions", flush=True)
    return before + found.x.reshape(FEATURES, 2)


def learn(players: int, games: int, rounds: int, seed: str, jobs: int) -> np.ndarray:
    """Plays and fits in turn."""
    weights, value = np.zeros((FEATURES, 2)), None
    for number in range(rounds):
        seeds = [f"{seed} {players} {number} {first}" for first in range(0, games, CHUNK)]
        with Pool(jobs) as pool:
            parts = pool.map(partial(play, players, value), seeds, 1)
        shares, phases, rows = zip(*parts, strict=True)
        seen = Seen(np.concatenate(shares), np.concatenate(phases), vstack(rows, "csr"))
        weights = fit(seen, weights)
        value = Value(*weights.T.tolist())
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("players", type=int, choices=(2, 3, 4))
    parser.add_argument(
        "--games", type=int, default=1500, help=f"in each round, in steps of {CHUNK}"
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", default="qin")
    parser.add_argument("--jobs", type=int, default=2, help="processes; the weights are the same")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="a folder")
    own = parser.parse_args()
    weights = learn(own.players, own.games, own.rounds, own.seed, own.jobs)
    weights_file(own.players, own.out).write_text(json.dumps(weights.T.round(3).tolist()) + "\n")


if __name__ == "__main__":
    main()
