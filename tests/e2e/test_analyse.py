"""arena analyse, as a user types it."""

import json
import shlex


def test_a_run_is_analysed_and_its_commands_work(arena):
    arena.add_bot("third", (arena.home / "bots" / "rnd" / "bot.py").read_text() + "# another\n")
    arena("run", "--deals", 4, "--out", "a")
    out, err = arena("analyse")
    assert "run results/a" in err
    assert "Does one rating for each bot explain the results?" in out
    commands = [
        shlex.split(line) for line in out.splitlines() if line.startswith("  arena replay ")
    ]
    assert len(commands) == 6
    for command in commands:
        assert "end (" in arena(*command[1:])[0]
    shown = json.loads(arena("analyse", "a", "--bot", "rnd", "--hands", 3, "--json")[0])
    assert {row["bot"] for row in shown["hands"]} == {"rnd"}
    assert len(shown["hands"]) == 3
    assert {row["opponent"] for row in shown["opponents"]} == {"fst", "third"}
    assert "What one more is worth" in arena("analyse", "a", "--qin")[0]
    shown = json.loads(arena("analyse", "a", "--qin", "--without", "third", "--json")[0])
    assert (shown["games"], shown["notes"][0].split()[0]) == (8, "without")
    assert sum(row["games"] for row in shown["kinds"]) <= 8
    _, err = arena("analyse", "a", "--qin", "--hands", 2, status=2)
    assert "--qin looks at the game, so leave out --bot and --hands" in err
    _, err = arena("analyse", "a", "--bot", "nobody", status=1)
    assert "error: expected a bot of the run, got 'nobody'" in err
