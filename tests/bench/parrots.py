"""Bots that know their moves in advance, so that we measure almost nothing but the arena itself."""

import shutil
import subprocess
from pathlib import Path

from arena.match.referee import GamePlan, Referee
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.players.player import InProcessPlayer, random_move
from arena.records.record import GameRecord
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import deck_of

HERE = Path(__file__).parent
BOARD = "bird"
LABELS = ("parrot-0", "parrot-1")
PYTHON_PARROT = ["python3", str(HERE / "parrot.py")]


def rehearse() -> tuple[GamePlan, GameRecord]:
    """A 2-player game, and the moves of a random playout of it."""
    plan = GamePlan("bench/0/0", BOARD, 0, 0, LABELS, deck_of("bench", BOARD, 0), (1, 2))
    players = [InProcessPlayer(label, random_move) for label in LABELS]
    return plan, Referee(plan, built_in(BOARD), players, Timing()).play().record


def commands(program: list[str], record: GameRecord) -> list[list[str]]:
    """The commands of two parrots that repeat the game."""
    return [[*program, *record.moves[seat::2]] for seat in (0, 1)]


def parrot(command: list[str], seat: int) -> Bot:
    """A parrot as a bot of the arena."""
    return Bot(LABELS[seat], Manifest(name="parrot", command=command), HERE, "")


def compiled_parrot(folder: Path) -> list[str] | None:
    """The command of the C parrot, built in the folder; None if there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return None
    program = folder / "parrot"
    subprocess.run([compiler, "-O2", "-o", str(program), str(HERE / "parrot.c")], check=True)
    return [str(program)]
