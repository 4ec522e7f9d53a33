"""The compiled engine: its rules against the vectors, and the bot against the arena."""

import json
import random
import shutil
import subprocess
import sys

import pytest

from tests.rules.positions import random_board
from tests.support.commandline import ROOT

FOLDER = ROOT / "bots" / "engine-cpp"
VECTORS = ROOT / "protocol" / "vectors"
LEFT = {2: "24,24", 3: "19,19,19", 4: "15,15,15,15"}
needs_compiler = pytest.mark.skipif(not shutil.which("c++"), reason="the engine needs a compiler")
pytestmark = needs_compiler


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """The cache in which the engine is built once, and found by all other tests."""
    return tmp_path_factory.mktemp("builds")


@pytest.fixture
def arena(arena, builds):
    arena.own["XDG_CACHE_HOME"] = str(builds)
    return arena


def vectors(name):
    return [json.loads(line) for line in (VECTORS / f"{name}.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Asks the engine's rules about positions; all in one process."""
    program = tmp_path_factory.mktemp("lab") / "lab"
    subprocess.run(["c++", "-std=c++17", "-O1", "-o", program, FOLDER / "lab.cpp"], check=True)

    def ask(*questions):
        lines = "".join("\t".join(map(str, question)) + "\n" for question in questions)
        done = subprocess.run(
            [program, "rules"], input=lines, capture_output=True, text=True, check=True
        )
        return [answer.split("\n") for answer in done.stdout.split("\n\n")[:-1]]

    return ask


def dealt(board, players, deck):
    """The position before the first move, as a line of text."""
    hands = [deck[6 * seat : 6 * seat + 6] for seat in range(players)]
    pile = deck[6 * players :] or "-"
    return f"{'/'.join(board)} 0 {LEFT[players]} {','.join(hands)} {pile} 0,0,0,0,0,0 -"


def cells(position):
    """The board of a vector with every owner, each square of grassland as a dot, and what is
    left.
    """
    rows = [list(row) for row in position["rows"]]
    for area in [*position["provinces"], *position["villages"]]:
        for square in area["squares"] if area["seat"] is not None else ():
            rows[int(square[1:]) - 1][ord(square[0]) - ord("a")] += str(area["seat"])
    return "/".join(map("".join, rows)) + " " + ",".join(map(str, position["left"]))


def test_the_engine_plays_every_position_of_the_vectors_by_the_rules(lab):
    known = vectors("positions")
    for vector, answer in zip(
        known, lab(*((vector["text"], vector["move"]) for vector in known)), strict=True
    ):
        assert answer[0].split() == vector["legal"], vector["name"]
        said = f"{len(vector['legal'])} "
        said += (
            f"illegal {cells(vector['position'])}"
            if "illegal" in vector
            else cells(vector["after"])
        )
        assert answer[1] == said, vector["name"]


def test_the_engine_follows_every_game_of_the_vectors(lab):
    known = vectors("games")
    starts = (dealt(vector["board"], vector["players"], vector["deck"]) for vector in known)
    asked = zip(starts, (" ".join(vector["moves"]) for vector in known), strict=True)
    for vector, answer in zip(known, lab(*asked), strict=True):
        told = [line.split() for line in answer[1:]]
        assert [int(line[0]) for line in told] == vector["legal"]
        assert [[int(left) for left in line[2].split(",")] for line in told] == vector["left"][
            -len(told) :
        ]
        assert " ".join(told[-1][1:]) == cells(vector["final"])


def test_the_engine_finds_as_many_ways_to_go_on_as_perft(lab):
    """As deep as five thousand ways go; the vectors' deepest counts would take a minute."""
    questions, expected = [], []
    for vector in vectors("perft"):
        depth = max(d for d, count in enumerate(vector["counts"]) if count <= 5000)
        start = dealt(vector["board"], vector["players"], vector["deck"])
        questions.append((start, " ".join(vector["moves"]), depth))
        expected.append((vector["name"], vector["counts"][depth]))
    found = [int(answer[-1]) for answer in lab(*questions)]
    assert list(zip((name for name, _ in expected), found, strict=True)) == expected


@pytest.fixture
def boards(arena):
    """Boards of many kinds, from 3 x 3 to 26 x 26."""
    rng, names = random.Random(7), []
    for number, side in enumerate((3, 5, 8, 9, 11, 13, 13, 26)):
        board = random_board(rng, side)
        (arena.home / f"board-{number}.txt").write_text("\n".join(board.rows) + "\n")
        names += ["--board", f"board-{number}.txt"]
    return names


@pytest.mark.parametrize(("players", "deals"), [(2, 4), (3, 3), (4, 2)])
def test_the_engine_plays_by_the_rules_and_in_time_on_any_board(arena, boards, players, deals):
    """About two hundred games altogether."""
    table = [f"{FOLDER}:nodes=300", "random", "careful", "greedy"][:players]
    arena("run", *table, *boards, "--players", players, "--deals", deals, "--out", "r")
    records = arena.records("r")
    assert len(records) == 8 * deals * players
    assert [record["faults"] for record in records if record["faults"]] == []


def test_with_nodes_the_engine_plays_the_same_games_again_and_says_what_it_expects(arena):
    for jobs in (1, 2):
        arena(
            "run", f"{FOLDER}:nodes=3000", "careful", "--deals", 2, "--seed", "same",
            "--jobs", jobs, "--out", f"r{jobs}",
        )  # fmt: skip
    assert arena.timeless("r1") == arena.timeless("r2")
    notes = [note for record in arena.records("r1") for note in record["notes"]]
    assert all(0 <= note["value"] <= 1 and note["nodes"] > 0 for note in notes)
    assert any(note["depth"] > 0 for note in notes)


@pytest.mark.parametrize(
    "limits",
    [("--move-ms", 80), ("--game-ms", 300, "--move-ms", 1000), ("--clock", "wall")],
    ids=["a short move", "a bank", "the wall clock"],
)
def test_the_engine_keeps_within_its_time(arena, limits):
    (arena.home / "tiny.txt").write_text("R.......\n..V.....\n....B...\n.Y......\n")
    arena("run", FOLDER, "careful", "--board", "tiny.txt", "--deals", 2, "--out", "r", *limits)
    assert [record["faults"] for record in arena.records("r") if record["faults"]] == []


START = {
    "type": "start", "id": 2, "board": ["R....", "..V..", "....B"], "players": 2, "seat": 0,
    "options": {"nodes": 300},
}  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Tells the bot these messages after hello, or lines; its exit status, answers and errors."""
    program = tmp_path_factory.mktemp("bot") / "bot"
    subprocess.run(["c++", "-std=c++17", "-O0", "-o", program, FOLDER / "bot.cpp"], check=True)

    def tell(*messages):
        messages = ({"type": "hello", "id": 1}, *messages, {"type": "quit"})
        lines = (each if isinstance(each, str) else json.dumps(each) for each in messages)
        done = subprocess.run(
            [program], input="".join(line + "\n" for line in lines), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.splitlines(), done.stderr

    return tell


@pytest.mark.parametrize("line", ['{"id": 3}', "", "nonsense", '{"type": 5}', "[" * 9, '{"type\\'])
def test_the_engine_passes_over_a_line_without_a_type(told, line):
    turn = {"type": "turn", "id": 3, "hand": ["RR", "YY", "BB"], "time_ms": 1000}
    status, answers, _ = told(line, START, line, turn)
    assert status == 0
    assert len(answers) == 2


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{**START, "board": []}], "a board"),
        ([{"type": "start", "players": 2}], "a board"),
        ([{**START, "board": ["." * 40] * 40}], "a board"),
        ([{**START, "board": ["R....", ".."]}], "rows of one length"),
        ([{**START, "players": 9}], "two to four players"),
        ([{**START, "seat": 7}], "a seat"),
        (['{"type": "start", "players": 2, "board": ["R'], "a text that ends"),
        ([START, {"type": "played", "move": "Rz99Yz98"}], "a square"),
        ([START, {"type": "played", "move": "Ra1Ya2"}], "a move to free squares"),
        ([START, {"type": "played"}], "a move"),
        ([START, {"type": "turn", "hand": ["ZZ", ""], "time_ms": 9}], "a colour"),
        ([START, {"type": "turn", "hand": [], "time_ms": 9}], "a hand"),
    ],
)
def test_the_engine_stops_at_a_line_that_no_game_can_have_sent(told, messages, expected):
    status, _, err = told(*messages)
    assert status == 1
    assert f"expected {expected}" in err


def test_where_there_is_no_compiler_the_ladder_plays_without_the_engine(arena):
    arena.ladder = "on"
    listed = subprocess.run(
        [sys.executable, "-m", "arena", "bots"], cwd=arena.home, capture_output=True, text=True,
        check=True, env={**arena.environment, "PATH": "/nowhere"},
    )  # fmt: skip
    assert "engine-cpp" in listed.stdout
    assert "'c++'" in listed.stdout + listed.stderr


def test_the_engine_is_short():
    """Lines of code: comments, blank lines and the fitted weights teach, or are data."""
    files = ("bot.cpp", "rules.h", "judge.h", "look.h", "expectimax.h", "race.h")
    lines = [line for name in files for line in (FOLDER / name).read_text().splitlines()]
    assert len([line for line in lines if line.strip() and not line.strip().startswith("//")]) < 840
