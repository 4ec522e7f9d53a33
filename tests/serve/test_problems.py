"""Pages that say what went wrong."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.web import problems
from arena.web.problems import Damage, Damages
from tests.exports.runs import duels, write_run
from tests.serve.serving import Served


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A public server of a home with damaged runs, and the home."""
    home = tmp_path_factory.mktemp("damaged")
    results = home / "results"
    games = duels("ab", 2)
    for name in ("journal", "info", "good"):
        write_run(results / name, "ab", games, deals=2)
    with (results / "journal" / "games.jsonl").open("a") as file:
        file.write("nonsense\n")
    (results / "info" / "run.json").write_text("{")
    server = Served(home, "--public", "127.0.0.1")
    yield server, home, games
    server.close()


@pytest.mark.parametrize(
    "path", ["/nothing", "/runs/nothing", "/bots/nothing", "/runs/good/games/nothing", "/play"]
)
def test_a_page_that_is_not_there_leads_home_and_names_no_folder(damaged, path):
    server, home, _ = damaged
    status, _, text = server.ask(path)
    assert status == 404
    assert 'href="/">Home</a>' in text
    assert str(home) not in text
    assert "damaged" not in text


def test_a_damaged_run_is_named_and_says_how_to_verify_it_and_what_can_be_read(damaged, snapshot):
    server, home, games = damaged
    for name in ("journal", "info"):
        status, _, text = server.ask(f"/runs/{name}/games")
        assert status == 404
        assert f"<code>arena verify {name}</code>" in text
        assert f"{len(games)} games" in text
        assert re.findall("<h1>.*</h1>", text) == snapshot
        assert text[text.index("<main") : text.index("</main>")] == snapshot
        assert str(home) not in text


def test_lists_and_streams_name_no_folder(damaged):
    server, home, _ = damaged
    for path in ("/", "/runs", "/runs/journal/events"):
        status, _, text = server.ask(path)
        assert (status, str(home) in text) == (200, False), path


def test_a_run_without_a_journal_is_not_damaged(damaged):
    server, home, games = damaged
    write_run(home / "results" / "fresh", "ab", [])
    (home / "results" / "fresh" / "games.jsonl").unlink()
    for path in ("/runs/fresh/games", "/runs/fresh/report", f"/runs/fresh/games/{games[0].id}"):
        text = server.ask(path)[2]
        assert "damaged" not in text, path
        assert str(home) not in text


def test_a_damaged_journal_is_read_once_and_not_to_its_end(tmp_path, monkeypatch):
    """Anybody may ask for a page of it again and again."""
    reads = []

    def counting(path):
        reads.append(0)
        for line in read_lines(path):
            reads[-1] += 1
            yield line

    read_lines = problems.read_lines
    monkeypatch.setattr(problems, "read_lines", counting)
    monkeypatch.setattr(problems, "MAX_READ", 3)
    run = write_run(tmp_path / "results" / "long", "ab", duels("ab", 4), deals=4)
    journal = run / "games.jsonl"
    with journal.open("a") as file:
        file.write("nonsense\n")
    damages = Damages(tmp_path)
    error = f"{journal}, line 9: expected a record"
    found = [damages.of("long", error) for _ in range(5)]
    assert reads == [3]
    assert found == [Damage("long", "arena verify long", 3, is_more=True)] * 5
    assert damages.of("long", "another error") is None
    with journal.open("a") as file:
        file.write("nonsense\n")
    assert damages.of("long", error) == found[0]
    assert reads == [3, 3, 3]
    with journal.open("a") as file:
        file.write("nonsense\n")
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: damages.of("long", error), range(8))) == [found[0]] * 8
    assert reads == [3] * 4, "those who ask at the same time wait for one reading"
