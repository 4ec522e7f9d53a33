"""arena doctor: what it says of a machine, and its exit status."""

import json

import pytest
from click.testing import CliRunner

from arena.cli.doctor import Pauses, doctor, limits_for, longest_pauses, memory_mb
from arena.players import counter
from arena.players.sandbox import tiers
from tests.support.wording import lines_with


def run(monkeypatch, tmp_path, reasons, *arguments, starts=lambda _: "", strangers=""):
    """The command on a machine where the tiers of the sandbox fail for these reasons."""
    monkeypatch.setattr("arena.cli.doctor.WATCHED_S", 0.1)
    monkeypatch.setattr("arena.cli.doctor.sdk_failure", starts)
    monkeypatch.setattr("arena.cli.doctor.why_no_strangers", lambda: strangers)
    monkeypatch.setattr("arena.cli.doctor.failure", lambda launch: reasons[launch.__self__.tier])
    return CliRunner().invoke(doctor, arguments, obj=tmp_path, standalone_mode=False)


WORKS = {"bubblewrap": "", "landlock": ""}
DEAD = {"bubblewrap": "No such file or directory: 'bwrap'", "landlock": "it leaves open: processes"}


def test_the_best_tier_is_named_and_the_status_is_good(monkeypatch, tmp_path, snapshot):
    done = run(monkeypatch, tmp_path, WORKS)
    assert done.return_value == 0
    assert lines_with(done.output, "bubblewrap") == snapshot
    found = json.loads(run(monkeypatch, tmp_path, WORKS, "--json").output)
    assert found["sandbox"] == "bubblewrap"


def test_why_a_tier_does_not_work_is_said_with_the_cure(monkeypatch, tmp_path, snapshot):
    monkeypatch.setenv("PATH", str(tmp_path))
    dead = {**WORKS, "bubblewrap": DEAD["bubblewrap"]}
    done = run(monkeypatch, tmp_path, dead)
    assert done.return_value == 0
    assert lines_with(done.output, "bubblewrap") == snapshot
    found = json.loads(run(monkeypatch, tmp_path, dead, "--json").output)
    assert found["sandbox"] == "landlock"
    assert found["walls"]["bubblewrap"]["reason"] == DEAD["bubblewrap"]


def test_no_sandbox_is_a_bad_status_and_what_that_means_is_said(monkeypatch, tmp_path, snapshot):
    done = run(monkeypatch, tmp_path, DEAD)
    assert done.return_value == 1
    assert lines_with(done.output, "  none  ") == snapshot
    assert "--trust BOT,..." in done.output
    found = json.loads(run(monkeypatch, tmp_path, DEAD, "--json").output)
    assert found["sandbox"] == "none"
    assert found["walls"]["landlock"]["reason"] == "it leaves open: processes"


def test_a_bot_that_imports_the_sdk_is_started_and_a_failure_is_said_with_the_cure(
    monkeypatch, tmp_path, snapshot
):
    dead = {**WORKS, "bubblewrap": DEAD["bubblewrap"]}
    done = run(monkeypatch, tmp_path, dead, starts=tiers.sdk_failure)
    assert lines_with(done.output, "arena.sdk") == snapshot
    monkeypatch.setattr("arena.players.sandbox.launch.sdk_folder", lambda: None)
    monkeypatch.setattr("arena.players.sandbox.readable._packages", lambda: ())
    done = run(monkeypatch, tmp_path, dead, starts=tiers.sdk_failure)
    assert done.return_value == 1
    assert lines_with(done.output, "arena.sdk") == snapshot
    assert "ModuleNotFoundError" in done.output


def test_whether_bots_of_strangers_can_play_is_said_with_the_reason(
    monkeypatch, tmp_path, snapshot
):
    done = run(monkeypatch, tmp_path, WORKS)
    assert lines_with(done.output, "strangers") == snapshot
    reason = "it leaves open: programs"
    done = run(monkeypatch, tmp_path, WORKS, strangers=reason)
    assert done.return_value == 0
    assert lines_with(done.output, "strangers") == snapshot
    assert reason in done.output


def test_a_machine_s_words_cannot_steer_the_terminal(monkeypatch, tmp_path):
    assert "\x1b" not in run(monkeypatch, tmp_path, {**DEAD, "bubblewrap": "\x1b[2J"}).output


def test_how_processor_time_is_counted_is_said_with_the_cure(monkeypatch, tmp_path, snapshot):
    monkeypatch.setattr(counter, "count_processor_time", lambda *_: -1)
    monkeypatch.setattr("arena.cli.doctor.paranoia", lambda: 4)
    done = run(monkeypatch, tmp_path, WORKS)
    assert lines_with(done.output, "CPU time: ") == snapshot
    found = json.loads(run(monkeypatch, tmp_path, WORKS, "--json").output)
    assert (found["time"]["counts"], found["time"]["paranoid"]) == ("proc", 4)
    assert 0 < found["time"]["longest_stall_ms"] < 60_000


def test_a_hypervisor_that_takes_the_processor_away_asks_for_longer_moves(
    monkeypatch, tmp_path, snapshot
):
    pauses = Pauses(stall_ns=18_000_000, jump_ns=17_600_000)
    monkeypatch.setattr("arena.cli.doctor.longest_pauses", lambda _: pauses)
    out = run(monkeypatch, tmp_path, WORKS).output
    assert lines_with(out, "17.6 ms") == snapshot
    assert "--move-ms" in out
    monkeypatch.setattr("arena.cli.doctor.longest_pauses", lambda _: Pauses(0, 100_000))
    assert "--move-ms" not in run(monkeypatch, tmp_path, WORKS).output


def test_a_jump_of_the_processor_time_is_seen():
    pauses = longest_pauses(0.2)
    assert pauses.stall_ns > 0 < pauses.jump_ns


def test_languages_that_are_missing_are_named(monkeypatch, tmp_path, snapshot):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run(monkeypatch, tmp_path, WORKS)
    assert "ok  Python" in done.output
    assert lines_with(done.output, "JavaScript") == snapshot


def test_the_pure_core_and_the_channel_in_python_are_explained(arena, monkeypatch, snapshot):
    monkeypatch.setenv("ARENA_RULES", "pure")
    monkeypatch.setenv("ARENA_CHANNEL", "python")
    out, _ = arena("doctor")
    assert lines_with(out, "ARENA_RULES") == snapshot
    assert lines_with(out, "ARENA_CHANNEL") == snapshot


def test_it_runs_as_it_is(arena):
    status, out, err = arena.ended("doctor", "--json")
    found = json.loads(out)
    assert err == ""
    assert status == (found["sandbox"] == "none")
    assert found["cores"] >= 1
    assert found["start_method"] == "spawn"
    assert found["limits"]["free_mb"] > 0


def test_limits_are_those_of_the_folder_that_is_to_come(tmp_path):
    assert limits_for(tmp_path / "not" / "there")["free_mb"] > 0


def test_a_container_s_limit_of_memory_counts(tmp_path):
    machine = memory_mb(tmp_path)
    assert machine > 100
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_mb(tmp_path) == machine
    (tmp_path / "memory.max").write_text(f"{50 << 20}\n")
    assert memory_mb(tmp_path) == 50


def test_too_little_memory_asks_for_fewer_games_at_once(monkeypatch, tmp_path, snapshot):
    monkeypatch.setattr("arena.cli.doctor.available_cores", lambda: 4)
    monkeypatch.setattr("arena.cli.doctor.memory_mb", lambda _: 4 * 1900)
    assert "--jobs" not in run(monkeypatch, tmp_path, WORKS).output
    monkeypatch.setattr("arena.cli.doctor.memory_mb", lambda _: 4 * 1800)
    out = run(monkeypatch, tmp_path, WORKS).output
    assert lines_with(out, "--jobs") == snapshot
    assert "--jobs 3;" in out


def test_too_little_room_for_temporary_files_is_said(monkeypatch, tmp_path, snapshot):
    found = {"open_files": None, "processes": None, "memory_mb": 1 << 20, "free_mb": 1 << 20}
    monkeypatch.setattr("arena.cli.doctor.tempfile.tempdir", "/tmp")
    monkeypatch.setattr("arena.cli.doctor.available_cores", lambda: 4)
    monkeypatch.setattr("arena.cli.doctor.limits_for", lambda _: {**found, "temporary_mb": 511})
    assert lines_with(run(monkeypatch, tmp_path, WORKS).output, "TMPDIR") == snapshot
    monkeypatch.setattr("arena.cli.doctor.limits_for", lambda _: {**found, "temporary_mb": 512})
    assert "TMPDIR" not in run(monkeypatch, tmp_path, WORKS).output


@pytest.mark.parametrize("entry", ["bubblewrap", "landlock"])
def test_the_probe_leaves_nothing_behind(entry, tmp_path, monkeypatch):
    from arena.players.sandbox.tiers import Sandbox

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tiers.failure(Sandbox(entry).launch)
    assert list(tmp_path.iterdir()) == []
