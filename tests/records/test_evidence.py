"""The evidence of a run has a budget; beyond it only the records tell."""

import json
import os

import msgspec
import pytest

from arena.errors import RunError
from arena.records import evidence as evidence_module
from arena.records.evidence import EvidenceWriter, read_evidence, used_bytes


class Said(msgspec.Struct):
    seat: int
    turn: int
    kind: str
    detail: str
    lines: list[tuple[str, float, str]]
    stderr: str
    ending: str = ""
    asked_ms: tuple[int, ...] = ()


def said(size):
    return Said(0, 3, "exit", "gone", [("in", 1.0, "x" * size)], "y" * size)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(evidence_module, "MAX_EVIDENCE", 300_000)


def test_evidence_is_kept_until_the_budget_is_spent(tmp_path):
    faults = EvidenceWriter(tmp_path)
    for number in range(100):
        faults.write(f"bird/a+b/{number}/0", [7], [said(20_000)])
    kept = [json.loads(path.read_bytes()) for path in tmp_path.rglob("seat-0.json")]
    assert 4 <= len(kept) <= 7
    assert all(item["lines"] and item["kind"] == "exit" for item in kept)
    assert faults.is_full
    assert read_evidence(tmp_path, "faults/bird/a+b/99/0/seat-0.json") is None
    assert read_evidence(tmp_path, "faults/bird/a+b/3/0/seat-0.json").kind == "exit"
    assert used_bytes(tmp_path) < 400_000


def test_the_budget_is_one_for_all_sessions(tmp_path):
    for number in range(100):
        EvidenceWriter(tmp_path).write(f"bird/a+b/{number}/0", [7], [said(20_000)])
    assert used_bytes(tmp_path) < 400_000


def test_evidence_below_a_link_is_refused(tmp_path, refused):
    (tmp_path / "own").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "faults").symlink_to(tmp_path / "own")
    with refused(RunError):
        EvidenceWriter(tmp_path / "run").write("bird/a+b/1/0", [7], [said(10)])
    assert os.listdir(tmp_path / "own") == []
