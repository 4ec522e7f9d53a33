"""arena analyse, as a user types it."""

import json


def test_a_run_is_analysed(arena):
    arena.add_bot("third", (arena.home / "bots" / "rnd" / "bot.py").read_text() + "# another\n")
    arena("run", "--deals", 4, "--out", "a")
    out, err = arena("analyse")
    assert "run results/a" in err
    assert "How games end" in out
    shown = json.loads(arena("analyse", "a", "--bot", "rnd", "--json")[0])
    assert {row["opponent"] for row in shown["opponents"]} == {"fst", "third"}
    _, err = arena("analyse", "a", "--bot", "nobody", status=1)
    assert "'nobody'" in err
