"""arena verify, as a user types it."""

import json

from tests.support.wording import lines_with


def test_a_run_with_three_players_and_a_forfeit_is_verified_and_an_edit_of_it_found(
    arena, zoo_bot, snapshot
):
    arena(
        "run", "rnd", "fst", zoo_bot("exits"), "--players", 3, "--deals", 2, "--out", "v", status=1
    )
    out, err = arena("verify")
    assert out == "6 games replayed, 3 bots and 2 tables compared: no difference\n"
    assert lines_with(err, "results/v") == snapshot
    shown = json.loads(arena("verify", "v", "--json")[0])
    assert (shown["games"], shown["planned"], shown["differences"]) == (6, 6, [])
    out, _ = arena("verify", "--sample", 2)
    assert lines_with(out, "4 games") == snapshot
    assert lines_with(out, "2 games") == snapshot
    assert json.loads(arena("verify", "--sample", 2, "--seed", "x", "--json")[0])["replayed"] == 2
    assert lines_with(arena("verify", "--seed", "x", status=2)[1], "--seed") == snapshot
    journal = arena.home / "results" / "v" / "games.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    record = json.loads(lines[3])
    left = [record["left"][0] + 1, *record["left"][1:]]
    lines[3] = json.dumps({**record, "left": left}, separators=(",", ":")) + "\n"
    journal.write_text("".join(lines))
    out, _ = arena("verify", "v", status=1)
    assert out.startswith(f"games.jsonl, line 4, left: expected {record['left']}, got {left}\n")
    [found, *_] = json.loads(arena("verify", "v", "--json", status=1)[0])["differences"]
    assert (found["file"], found["line"], found["field"]) == ("games.jsonl", 4, "left")
