"""Fits the weights of judge.h to the outcomes of games that the engine played against itself.

    c++ -std=c++17 -O3 -march=native -o lab lab.cpp
    for players in 2 3 4; do ./lab selfplay $players 30000 1 > games-$players; done
    python fit.py games-2 games-3 games-4

A seat's score is the sum of its features' weights, which pass from `early` to `late` as the game
goes on; the chances to win are a softmax of the scores. The fit is the one under which the outcomes
were most likely, held back by a small penalty, because some features are rare.
"""

import re
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

HERE = Path(__file__).parent
PENALTY = 2e-5


def features() -> int:
    """How many features judge.h has."""
    ends = dict.fromkeys(["LEFT"], 0)
    for name, before, formula in re.findall(
        r"([A-Z_]+) = ([A-Z_]+) \+ ([\d* ]+)", (HERE / "judge.h").read_text()
    ):
        ends[name] = ends[before] + int(np.prod([int(part) for part in formula.split("*")]))
    return ends["FEATURES"]


def read(path: Path, players: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares of the win by seat, phases, and features by seat."""
    rows = np.fromfile(path, np.int8).reshape(-1, players + 1 + players * features())
    shares = rows[:, :players] / np.float32(12)
    return (
        shares,
        rows[:, players] / np.float32(100),
        rows[:, players + 1 :].reshape(-1, players, features()),
    )


def fit(shares: np.ndarray, phase: np.ndarray, found: np.ndarray) -> tuple[np.ndarray, float]:
    """The weights, early and late, and the loss on a tenth that was not fitted."""
    held = len(found) // 10
    # In units of their spread: the search for the weights is much quicker then.
    spread = np.maximum(found.std(axis=(0, 1)), 1e-2).astype(np.float32)
    flat = [found[:, seat] / spread for seat in range(found.shape[1])]

    def loss(vector: np.ndarray, rows: slice, penalty: float) -> tuple[float, np.ndarray]:
        weights = vector.reshape(2, -1).T.astype(np.float32)
        blend = np.stack([1 - phase[rows], phase[rows]], 1)
        score = np.stack([(one[rows] @ weights * blend).sum(1) for one in flat], 1)
        score -= score.max(1, keepdims=True)
        log = score - np.log(np.exp(score).sum(1, keepdims=True))
        slope = (np.exp(log) - shares[rows]) / len(log)
        gradient = sum(
            (slope[:, seat, None] * blend).T @ one[rows] for seat, one in enumerate(flat)
        )
        total = -float((shares[rows] * log).sum() / len(log)) + penalty * float((vector**2).sum())
        return total, gradient.ravel().astype(float) + 2 * penalty * vector

    most = slice(held, None)
    done = minimize(
        loss,
        np.zeros(2 * features()),
        (most, PENALTY),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 150},
    )
    return done.x.reshape(2, -1) / spread, loss(done.x, slice(held), 0.0)[0]


def main() -> None:
    tables = []
    for players, path in enumerate(sys.argv[1:], 2):
        weights, loss = fit(*read(Path(path), players))
        print(f"{players} players: loss {loss:.4f} on games not fitted")
        sides = (", ".join(f"{weight:.3f}f" for weight in side) for side in weights)
        tables.append("    {" + ",\n     ".join(f"{{{side}}}" for side in sides) + "}")
    text = "// Made by fit.py.\nconstexpr Weights WEIGHTS[3] = {\n" + ",\n".join(tables) + "\n};\n"
    (HERE / "weights.h").write_text(text)


main()
