"""protocol/transcripts/: whole games, line by line. The arena must send these bytes to a bot that
gives these answers.

``ARENA_GOLDEN=write pytest tests/protocol/test_transcripts.py`` writes them anew, for when the
protocol changes.
"""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena import __version__
from arena.players.player import InProcessPlayer, random_move
from arena.rules.notation import move_text
from arena.tournament.schedule import deck_of
from tests.protocol.dialogue import parse, play_game, play_script, script_of

FOLDER = Path(__file__).parents[2] / "protocol" / "transcripts"
GAMES = {
    "two-players-incremental": ({"board": "bird"}, "incremental", None),
    "two-players-full": ({"board": "R..V../..~.../....Y./V....B"}, "full", None),
    "three-players-second-seat": (
        {"board": "lion", "players": "3", "seat": "1", "game_ms": "60000", "increment_ms": "50"},
        "incremental",
        None,
    ),
    "two-players-options": (
        {
            "board": "R..V../..~.../....Y./V....B",
            "options": '{depth = {type = "int", default = 3}, c = {type = "float", default = 1},'
            ' fast = {type = "bool", default = false},'
            ' style = {type = "choice", default = "calm", choices = ["calm", "wild"]}}',
            "set": "c=0.25,style=wild",
        },
        "full",
        None,
    ),
    "four-players-one-forfeits": ({"board": "bird", "players": "4", "seat": "3"}, "incremental", 4),
}


class Remembering(InProcessPlayer):
    """A random player that keeps its moves; at one of its turns it plays nonsense."""

    def __init__(self, nonsense_at):
        self.moves = []

        def choose(state, seed):
            move = random_move(state, seed)
            self.moves.append(
                "nonsense" if len(self.moves) == nonsense_at else move_text(state.board, move)
            )
            return move

        super().__init__("remembering", choose)

    def choose(self, state, budget_ns):
        return replace(super().choose(state, budget_ns), move=self.moves[-1])


def write(name, tmp_path):
    settings, view, nonsense_at = GAMES[name]
    settings = {**settings, "deck": deck_of("transcripts", name, 0)}
    remembering = Remembering(nonsense_at)
    play_game(settings, remembering, random_move)
    answers = [f'{{"type":"ready","id":1,"view":"{view}"}}']
    answers += [
        f'{{"type":"move","id":{number},"move":"{move}"}}'
        for number, move in enumerate(remembering.moves, 2)
    ]
    heard, _, _ = play_script(
        settings, [[], *[[f"< {answer}"] for answer in answers]], tmp_path, random_move
    )
    lines = []
    for line in heard:
        lines.append(f"> {line}")
        if '"id"' in line:
            lines.append(f"< {answers.pop(0)}")
    head = "".join(f"{key} {value}\n" for key, value in settings.items())
    (FOLDER / f"{name}.txt").write_text(f"{head}\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_arena_says_exactly_this(name, tmp_path):
    if os.environ.get("ARENA_GOLDEN") == "write":
        write(name, tmp_path)
    settings, lines = parse((FOLDER / f"{name}.txt").read_text())
    heard, _, _ = play_script(settings, script_of(lines), tmp_path, random_move)
    expected = [line[2:] for line in lines if line.startswith("> ")]
    expected[0] = '{"type":"hello","id":1,"protocol":1,"arena":"' + __version__ + '"}'
    assert heard == expected


def test_every_transcript_is_played():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(GAMES)
