"""The starter bots that `arena new` writes: each of those whose toolchain is here passes the check,
and all play alike.
"""

import compileall
import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

from arena.cli.new import LANGUAGES, TEMPLATES
from arena.match.check import check_bot
from arena.players.folder import bot_at
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from tests.attacks.tiers import needs
from tests.support.commandline import ROOT, Arena
from tests.support.kits import KITS, PLAIN, lack

STARTERS = ROOT / "arena" / "cli" / "starters"
ODD_LINES = (Path(__file__).parent / "odd-lines.jsonl").read_text()
"""What is valid JSON, though the arena would not write it so."""
UNUSABLE_TURNS = (Path(__file__).parent / "unusable-turns.jsonl").read_text()
"""Turns without a move that can be played, as an author may make them for a test: without legal
moves, with texts that are no moves, and with squares beside the board.
"""
WHOLE_MESSAGES = {
    "hello": {"type": "hello", "id": 1},
    "start": {"type": "start"},
    "turn": {"type": "turn", "id": 2, "time_ms": 9000, "legal": [], "position": {"rows": ["R"]}},
}
"""The messages of the arena with the fields that the starters read."""
each_language = pytest.mark.parametrize("language", KITS)


@pytest.fixture
def toolchain(language):
    reason = lack(language)
    if reason:
        pytest.skip(reason)


def test_every_kit_is_known_and_short_and_marks_what_to_change():
    assert set(KITS) == set(LANGUAGES) == set(TEMPLATES["first"])
    for folder in STARTERS.iterdir():
        [source] = [file for file in folder.iterdir() if file.is_file() and file.name != "bot.toml"]
        text = source.read_text()
        assert len(text.splitlines()) <= 210, source
        assert "Change `" in text, source
        assert text.count("NAME") == 1, source
    for language in PLAIN:
        [source] = STARTERS.glob(
            f"{'python-plain' if language == 'python' else language}/[bB]ot.[!t]*"
        )
        assert "---- CHANGE THIS" in source.read_text()


@each_language
def test_a_kit_passes_every_step_of_the_check(arena, language, toolchain):
    arena("new", "kit", *PLAIN[language])
    out, _ = arena("check", "./kit")
    # a note may be: Java compiles while it waits
    assert [line for line in out.splitlines()[:-1] if not line.startswith("ok    ")] == []
    assert out.splitlines()[-1].endswith("0 failed")


@pytest.mark.parametrize("language", ["rust", "java"])
def test_a_kit_that_needs_most_of_the_system_plays_in_the_weaker_sandbox(
    arena, language, toolchain
):
    needs("landlock")
    weaker = Sandbox("landlock")
    arena("new", "kit", *PLAIN[language])
    steps = list(itertools.islice(check_bot(bot_at(arena.home / "kit"), 1000, weaker), 5))
    assert [step for step in steps if step.problem] == []
    assert steps[-1].name == "a complete game"


@pytest.fixture(scope="module")
def kits(tmp_path_factory):
    """A run of a kit of each language, with an option, without a sandbox: each meets another one,
    and sits at both seats.
    """
    made = Arena(tmp_path_factory.mktemp("kits") / "home")
    made.home.mkdir()
    here = [language for language in PLAIN if not lack(language)]
    for language in here:
        made("new", f"kit-{language}", *PLAIN[language])
    options = ("--deals", 1, "--boards", "lion", "--sandbox", "off", "--out", "kits")
    options += ("--tables", (len(here) + 1) // 2)
    made("run", *(f"./kit-{language}:village=7" for language in here), *options)
    yield made, here
    made.close()


@pytest.fixture(scope="module")
def built(kits):
    """The kit of each language as a run plays it: built, where it has build steps."""
    arena, here = kits
    copies = []
    for language in here:
        [copy] = (arena.home / "results" / "kits" / "bots").glob(f"kit-{language}-*")
        copies.append(bot_at(copy))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", arena.own["XDG_CACHE_HOME"])  # has what the run has built
        with staged_for_a_while(*copies) as staged:
            yield dict(zip(here, staged, strict=True))


def test_the_kits_of_all_languages_play_each_other_and_choose_the_same_moves(kits, built):
    arena, here = kits
    records = arena.records("kits")
    seated = {(bot, seat) for record in records for seat, bot in enumerate(record["bots"])}
    assert seated == {(f"kit-{name}:village=7", seat) for name in here for seat in (0, 1)}
    assert [record["faults"] for record in records if record["faults"]] == []
    assert len({tuple(record["moves"]) for record in records}) == 1, "one idea, one deck, one game"
    for language, bot in built.items():
        done = subprocess.run(
            bot.command,
            cwd=bot.folder,
            input=ODD_LINES.encode(),
            capture_output=True,
            timeout=240,
            check=True,
        )
        assert [json.loads(line) for line in done.stdout.splitlines()] == [
            {"type": "ready", "id": 7, "view": "full"},
            {"type": "move", "id": 8, "move": "Yb2Yc2", "note": {"worth": 1}},
            {"type": "move", "id": 2**53 - 1, "move": "Yb2Ya2", "note": {"worth": 2}},
        ], language


def answers_of(command, folder):
    """What a bot answers to the unusable turns. It has to live on until it is told to quit."""
    done = subprocess.run(
        command, cwd=folder, input=UNUSABLE_TURNS.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    ready, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready["type"] == "ready"
    assert [answer["id"] for answer in answers] == list(
        range(1, UNUSABLE_TURNS.count('"turn"') + 1)
    )
    assert {answer["type"] for answer in answers} == {"move"}
    return [answer["move"] for answer in answers], done.stderr.decode()


def test_a_turn_without_a_usable_move_ends_no_kit(built):
    for language, bot in built.items():
        moves, said = answers_of(bot.command, bot.folder)
        assert moves[:2] == ["", ""], language
        assert said.count("this turn has no move to choose") == 2, language
        assert moves[-1] == "Rb2Rc2", "the next turn is answered as usual"


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("hello", "id"),
        ("turn", "id"),
        ("turn", "time_ms"),
        ("turn", "legal"),
        ("turn", "position"),
        ("turn", "position.rows"),
    ],
)
def test_a_kit_ends_with_a_message_that_names_a_field_that_is_missing(built, kind, field):
    messages = json.loads(json.dumps(WHOLE_MESSAGES))
    outer, _, inner = field.partition(".")
    del (messages[kind][outer] if inner else messages[kind])[inner or outer]
    lines = "".join(json.dumps(message) + "\n" for message in messages.values())
    for language, bot in built.items():
        done = subprocess.run(
            bot.command,
            cwd=bot.folder,
            input=lines,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode != 0, language
        assert (inner or outer) in done.stderr, (language, done.stderr)
        answers = [json.loads(line)["type"] for line in done.stdout.splitlines()]
        assert answers == ([] if kind == "hello" else ["ready"]), language


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_turn_with_impossible_squares_makes_no_kit_read_beside_its_memory(
    tmp_path, language, toolchain
):
    compiler = KITS[language][0]
    options = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o")
    source = STARTERS / language / f"bot.{language}"
    done = subprocess.run(
        [compiler, *options, tmp_path / "bot", source], capture_output=True, text=True, check=False
    )
    if "asan" in done.stderr or "ubsan" in done.stderr:
        pytest.skip(f"{compiler} has no sanitizers: {done.stderr.strip()[:200]}")
    assert done.returncode == 0, done.stderr
    answers_of(["./bot"], tmp_path)


IS_SHOWN = """
const game = document.getElementById("game").value;
const now = document.getElementById("now").textContent;
return game === arguments[0] && now.startsWith(arguments[1]);
"""
"""Whether the viewer shows a game and a tile."""
WORTH = "a village beside a tile is worth 7 more than founding a province"


def test_the_option_of_every_language_is_in_the_journal_and_its_notes_tell_of_it(kits):
    arena, _ = kits
    for record in arena.records("kits"):
        assert all(bot.endswith(":village=7") for bot in record["bots"])
        said = {(note["turn"] % 2, note["worth"]) for note in record["notes"]}
        assert said >= {(0, 8), (1, 8)}, WORTH
    info = json.loads((arena.home / "results" / "kits" / "run.json").read_text())
    assert all(bot["options"] == {"village": 7} for bot in info["bots"])


def test_stderr_and_notes_of_every_language_are_shown_in_a_terminal(kits):
    arena, here = kits
    for record in arena.records("kits"):
        out, _ = arena("replay", "kits", record["id"])
        assert all(bot in out for bot in record["bots"])
        assert "note: worth 8" in out, WORTH
    for language in here:
        bots = f"./kit-{language}:village=7", "random"
        out, _ = arena("play", *bots, "--seed", 1, "--sandbox", "off", "--stderr")
        assert re.search(r"stderr.*options:[ {']*village'?:? 7", out), language


def test_notes_and_options_of_every_language_are_in_a_data_frame(kits):
    arena, here = kits
    arena("export", "kits", "--to", "tables", "--format", "parquet")
    games = pd.read_parquet(arena.home / "tables" / "games.parquet")
    assert {*games["bot_0"], *games["bot_1"]} == {f"kit-{language}:village=7" for language in here}
    for notes in games["notes"]:
        assert {dict(note["numbers"])["worth"] for note in notes} >= {0.0, 8.0}, WORTH


def test_notes_of_every_language_are_in_the_viewer(kits, browser, tmp_path):
    arena, _ = kits
    arena("report", "kits", "--to", tmp_path / "kits.html")
    browser.open(tmp_path / "kits.html")
    for record in arena.records("kits"):
        game = quote(record["id"], safe="")
        for seat in (0, 1):
            browser.js("location.hash = arguments[0]", f"#game={game}&turn={seat + 1}")
            browser.wait(IS_SHOWN, record["id"], f"Tile {seat + 1}: ")
            assert f"{record['bots'][seat]} notes: worth " in browser.text("now")
            assert record["bots"][seat] in browser.text("players")
        assert "worth 8" in browser.text("log"), WORTH
    assert browser.log() == []


THINKS = {
    "python": ("    best_worth = -1\n", "    while clock.has_time():\n        pass\n"),
    "js": ("  let bestWorth = -1;\n", "  while (hasTime()) {}\n"),
    "c": ("    int best_worth = -1;\n", "    while (has_time()) {}\n"),
    "cpp": ("    int best_worth = -1;\n", "    while (has_time()) {}\n"),
    "rust": ("    let mut best_worth = None;\n", "    while clock.has_time() {}\n"),
    "java": ("        int bestWorth = -1;\n", "        while (hasTime()) {}\n"),
}
"""A line of `choose` in each language, and what goes before it to think till the time is up."""


@pytest.mark.alone
def test_a_kit_that_thinks_till_its_time_is_up_is_never_late_and_a_bank_lasts(arena):
    here = [language for language in PLAIN if not lack(language)]
    (arena.home / "small.txt").write_text("R.V..V\n......\nV....V\n......\n..V..V\n")
    for language in here:
        arena("new", f"kit-{language}", *PLAIN[language])
        [source] = (arena.home / f"kit-{language}").glob("[bB]ot.[!t]*")
        line, thinking = THINKS[language]
        assert source.read_text().count(line) == 1
        source.write_text(source.read_text().replace(line, thinking + line))
    bots = [f"./kit-{language}{limits}" for language in here for limits in ("", ":game_ms=900")]
    options = ("--challenger", "random", "--deals", 1, "--seatings", "single", "--move-ms", 100)
    arena("run", *bots, "random", "--board", "small.txt", *options, "--out", "thought")
    records = arena.records("thought")
    assert len(records) == len(bots)
    for record in records:
        assert record["faults"] == [], record
        [seat] = [seat for seat, bot in enumerate(record["bots"]) if bot != "random"]
        if "game_ms" in record["bots"][seat]:
            assert 20 <= record["think_ms"][seat] <= 900
        else:
            assert 40 <= record["slowest_ms"][seat] <= 100


CURE = "install it (on Debian and Ubuntu: apt install "


@pytest.fixture
def bare_path(tmp_path, monkeypatch):
    """A PATH with what the arena itself needs, and no toolchain."""
    (tmp_path / "bin").mkdir()
    for program in filter(shutil.which, ("rm", "chmod", "bwrap", "prlimit")):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def absence(language):
    return f"expected the program '{KITS[language][0]}' on PATH, found none"


@pytest.mark.parametrize("language", ["js"])
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("area.owner", "expected one of the fields colour, seat, pagodas, squares, got owner"),
        ("console.error(area.seat, area, JSON.stringify(area))", "1 {"),
    ],
)
def test_a_field_that_a_province_does_not_have_is_an_error_in_javascript(
    tmp_path, toolchain, statement, said
):
    source = (STARTERS / "js" / "bot.js").read_text()
    reads = f"for (const area of turn.position.provinces) {statement};"
    changed = source.replace("function choose(turn) {", f"function choose(turn) {{ {reads}")
    (tmp_path / "bot.js").write_text(changed)
    province = {"colour": "R", "seat": 1, "pagodas": 1, "squares": ["a1", "b1"]}
    position = {"rows": ["RR..."], "provinces": [province], "villages": []}
    turn = {"type": "turn", "id": 2, "time_ms": 1000, "legal": ["Yd1Ye1"], "position": position}
    lines = [{"type": "start"}, turn, {"type": "quit"}]
    done = subprocess.run(
        ["node", "bot.js"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert said in done.stderr
    assert bool(done.returncode) == ("owner" in statement)
    assert ("Yd1Ye1" in done.stdout) == (not done.returncode)


@pytest.mark.parametrize("language", [language for language, needs in KITS.items() if needs])
def test_without_its_toolchain_a_kit_is_written_with_a_word_on_what_to_install(
    arena, bare_path, language
):
    _, err = arena("new", "kit", "--language", language)
    assert f"note: it cannot play here yet: {absence(language)}; {CURE}" in err
    assert (arena.home / "kit" / "bot.toml").exists()


def test_without_its_toolchain_every_command_says_what_a_kit_needs(arena, bare_path):
    arena("new", "kit", "--language", "rust")
    out, _ = arena("check", "./kit", "--unsafe-no-sandbox", status=1)
    assert f"      kit: {absence('rust')}\n      cure: {CURE}" in out
    _, err = arena("submit", "kit", "--unsafe-no-sandbox", status=1)
    assert "kit is not registered" in err
    _, err = arena("run", "./kit", "rnd", "--unsafe-no-sandbox", "--out", "kits", status=1)
    assert f"error: kit: {absence('rust')}\nhint: {CURE}" in err
    assert not (arena.home / "results" / "kits").exists()
    arena("submit", "kit", "--no-check")
    assert absence("rust") in arena("bots")[0]
    _, err = arena("run", "--deals", 1, "--unsafe-no-sandbox")
    assert f"warning: kit is left out: {absence('rust')}; {CURE}" in err


def test_what_pip_compiles_is_not_written_into_a_new_bot(arena):
    compileall.compile_dir(STARTERS / "python", quiet=1)
    arena("new", "mine")
    assert sorted(file.name for file in (arena.home / "mine").iterdir()) == ["bot.py", "bot.toml"]
