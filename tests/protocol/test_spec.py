"""protocol/SPEC.md is normative: its examples are played against the real referee."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from arena.faults import FaultKind
from arena.players import timekeeper
from arena.players.manifest import Manifest
from tests.protocol.dialogue import blocks, check_heard, play

SPEC = Path(__file__).parents[2] / "protocol" / "SPEC.md"
TEXT = SPEC.read_text(encoding="utf-8")
DIALOGUES = blocks(TEXT, "dialogue")


@pytest.mark.parametrize(
    "block", [block for _, block in DIALOGUES], ids=[f"line-{line}" for line, _ in DIALOGUES]
)
def test_the_example_is_what_happens(block, tmp_path, monkeypatch):
    # Whoever never answers is waited for three seconds, not ten times a second.
    monkeypatch.setattr(timekeeper, "PATIENCE", 3)
    heard, record, lines, seat = play(block.replace("LONG", "x" * 66_000), tmp_path)
    kinds = [fault.kind for fault in record.faults if fault.seat == seat]
    expected = next(line for line in lines if line.startswith("="))
    assert expected == ("= no fault" if not kinds else f"= forfeit {kinds[0]}"), record.faults
    check_heard(lines, heard)
    kept = [json.loads(line[2:]) for line in lines if line.startswith("*")]
    assert not kept or record.notes == kept


def test_every_rule_that_a_dialogue_can_show_has_an_example():
    rules = re.split(r"^\*\*(P\d+\.\d+)\*\*", TEXT, flags=re.M)
    numbers = rules[1::2]
    assert numbers == sorted(
        numbers, key=lambda number: [int(part) for part in number[1:].split(".")]
    )
    without = [
        number for number, text in zip(numbers, rules[2::2], strict=True) if "```" not in text
    ]
    assert without == ["P8.6", "P9.3", "P10.2"]


def test_every_kind_of_fault_is_listed_with_its_cure():
    listed = re.findall(r"^\| `([a-z -]+)` \|", TEXT[TEXT.index("## P9") :], re.M)
    assert listed == [kind.value for kind in FaultKind]


def test_every_field_of_bot_toml_is_shown():
    shown = set(tomllib.loads(re.search(r"```toml\n(.*?)```", TEXT, re.S)[1]))
    assert shown == set(Manifest.__struct_fields__)


def test_the_first_bot_on_the_page_plays(tmp_path):
    from arena.match.check import check_bot
    from arena.players.folder import bot_at
    from arena.players.sandbox.tiers import OPEN

    script = tmp_path / "my-bot.py"
    script.write_text(re.search(r'```python title="my-bot.py"\n(.*?)```', TEXT, re.S)[1])
    assert [step for step in check_bot(bot_at(script), 1000, OPEN) if step.problem] == []
