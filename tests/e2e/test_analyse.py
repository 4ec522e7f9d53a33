"""arena analyse, as a user types it."""

import json

from tests.support.wording import lines_with


def test_a_run_is_analysed(arena, snapshot):
    arena.add_bot("third", (arena.home / "bots" / "rnd" / "bot.py").read_text() + "# another\n")
    arena("run", "--deals", 4, "--out", "a")
    out, err = arena("analyse")
    assert lines_with(err, "results/a") == snapshot
    assert "How games end" in out
    shown = json.loads(arena("analyse", "a", "--bot", "rnd", "--json")[0])
    assert {row["opponent"] for row in shown["opponents"]} == {"fst", "third"}
    _, err = arena("analyse", "a", "--bot", "nobody", status=1)
    assert "'nobody'" in err
