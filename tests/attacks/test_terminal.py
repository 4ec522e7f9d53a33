"""What bots wrote cannot move the cursor, change colours, hide words or forge lines, wherever the
command line shows it.
"""

import json
import re

import pytest

from tests.support.commandline import RANDOM

EVIL = "\x1b[2J\x1b]0;owned\x07\rerror: all is well\x9b31m\u202etxt\u2066\x00\b"
LITERAL = json.dumps(EVIL)
DIES = f"import sys\nsys.stderr.write('one line\\n' + {EVIL!r})\nsys.exit(3)\n"
ANSWERS = RANDOM.replace('rng.choice(message["legal"])', repr(EVIL))


def shown(*texts):
    """The output of a command; fails when a terminal would obey it."""
    text = "".join(texts)
    assert not re.search(
        r"[^\n\t -\uffff]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]",
        text,
    ), repr(text)
    return text


@pytest.mark.parametrize(("name", "source"), [("dies", DIES), ("answers", ANSWERS)])
def test_a_bot_s_words_are_shown_as_text(arena, name, source):
    arena.add_bot(name, source, author=EVIL, description=EVIL, language=EVIL)
    assert r"\x1b[2J" in shown(*arena("bots"))
    assert "\\x9b" in shown(*arena("check", name, status=1))
    assert "\\x9b" in shown(*arena("play", name, "rnd", status=1))
    bots = (name, "rnd", "fst", "--deals", 1, "--out", "run")
    if name == "dies":  # it is not played at all, so what it plays is another one
        assert "\\x9b" in shown(*arena("run", *bots, status=1))
        hello = 'elif message["type"] == "start":\n'
        dies = hello + "".join(f"        {line}\n" for line in DIES.splitlines())
        (arena.home / "bots" / name / "bot.py").write_text(RANDOM.replace(hello, dies))
    assert "\\x9b" in shown(*arena("run", *bots))
    record = next(record for record in arena.records("run") if record["faults"])
    assert "\\x9b" in shown(*arena("replay", "run", record["id"]))
    shown(*arena("standings", "run"), *arena("runs"))
    for log in (arena.home / "results" / "run" / "logs").iterdir():
        shown(log.read_text())


def test_a_build_s_words_are_shown_as_text(arena):
    (folder := arena.add_bot("builds", RANDOM, build=[["python3", "build.py"]])).joinpath(
        "build.py"
    ).write_text(DIES)
    assert "\\x1b[2J" in shown(*arena("run", "builds", "rnd", "--deals", 1, status=1))
    assert "\\x1b[2J" in shown(*arena("submit", folder, "--name", "other", status=1))


def test_a_manifest_s_words_are_shown_as_text(arena):
    folder = arena.add_bot("broken", RANDOM)
    (folder / "bot.toml").write_text(f"name = {LITERAL}\ncommand = [{LITERAL}]\n")
    shown(*arena("bots"))
    shown(*arena("check", folder, status=1))
    (folder / "bot.toml").write_text(f'name = "broken"\ncommand = [{LITERAL}]\nversion = "1"\n')
    shown(*arena("bots"))
    shown(*arena("check", folder, status=1))
    shown(*arena("run"))
    (folder / "bot.toml").write_text(
        f'name = "broken"\ncommand = ["python3", {LITERAL}]\n{LITERAL} = 1\nversion = "1"\n'
    )
    shown(*arena("bots"))
    (folder / "bot.toml").unlink()
    (folder / f"bot{EVIL[:10]}").write_text("")
    shown(*arena("check", folder, status=1))


def test_a_record_from_elsewhere_is_shown_as_text(arena):
    """Runs are handed on: their journal may be anybody's."""
    arena("run", "--deals", 1, "--out", "run")
    path = arena.home / "results" / "run" / "games.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        record["bots"] = [f"{name[0]}{EVIL}" for name in record["bots"]]
        record["faults"] = [{"seat": 0, "kind": "exit", "detail": EVIL, "turn": 1}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    for command in (
        ("standings", "run"),
        ("replay", "run", records[0]["id"]),
        ("runs",),
        ("export", "run", "--to", "csv"),
    ):
        process = arena.start(*command)
        shown(*process.communicate(timeout=240))
