"""The list of bots on pages: what is read again, and that it is never out of date."""

import asyncio
import os
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from arena.players import folder as bot_folder
from arena.players import registry
from arena.web import bot_list, pages
from arena.web.bot_list import BotList
from arena.web.run_list import RunList
from tests.exports.runs import write_run

SOURCE = "print('a bot')\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with two bots whose files were written long ago."""
    monkeypatch.setenv("ARENA_LADDER", "off")
    monkeypatch.setattr(bot_list, "SETTLED_NS", -1)
    for name in ("ann", "bob"):
        folder = tmp_path / "bots" / name
        folder.mkdir(parents=True)
        (folder / "bot.toml").write_text(f'name = "{name}"\ncommand = ["python3", "bot.py"]\n')
        (folder / "bot.py").write_text(SOURCE)
    (tmp_path / "results").mkdir()
    return tmp_path


@pytest.fixture
def hashed(monkeypatch):
    """The names of the bots that are hashed, one for each time."""
    names = []

    def counting(path, manifest):
        names.append(path.name)
        return content_hash(path, manifest)

    content_hash = bot_folder.content_hash
    monkeypatch.setattr(bot_folder, "content_hash", counting)
    monkeypatch.setattr(registry, "content_hash", counting)
    return names


def own(rows):
    return {row["bot"]: row for row in rows if row.get("place") != "built in"}


def test_bots_whose_files_have_not_changed_are_hashed_once(home, hashed):
    bots = BotList(home)
    first, more = bots.rows([])
    assert sorted(hashed) == ["ann", "bob"]
    assert (bots.rows([]), more) == ((first, 0), 0)
    assert bots.row("ann")["hash"] == own(first)["ann"]["hash"]
    assert sorted(hashed) == ["ann", "bob"]


@pytest.mark.parametrize("change", ["bytes", "same size", "new file", "mode", "manifest", "swap"])
def test_a_bot_that_changed_in_any_way_is_read_again(home, hashed, change):
    bots = BotList(home)
    before = own(bots.rows([])[0])
    folder = home / "bots" / "ann"
    script = folder / "bot.py"
    times = (script.stat().st_atime_ns, script.stat().st_mtime_ns)
    if change == "bytes":
        script.write_text(SOURCE + "# more\n")
    elif change == "same size":
        script.write_text(SOURCE.replace("bot", "box"))
        os.utime(script, ns=times)
    elif change == "new file":
        (folder / "deep").mkdir()
        (folder / "deep" / "table.txt").write_text("1 2 3")
    elif change == "mode":
        script.chmod(0o755)
    elif change == "manifest":
        text = (folder / "bot.toml").read_text()
        (folder / "bot.toml").write_text(text + 'description = "quick"\n')
    elif change == "swap":
        (home / "other.py").write_text(SOURCE.replace("bot", "box"))
        os.utime(home / "other.py", ns=times)
        os.replace(home / "other.py", script)  # noqa: PTH105
    after = own(bots.rows([])[0])
    assert after["ann"]["hash"] != before["ann"]["hash"]
    assert after["bob"] == before["bob"]
    assert sorted(hashed) == ["ann", "ann", "bob"]


def test_bots_that_come_and_go_are_listed_at_once(home):
    bots = BotList(home)
    bots.rows([])
    (home / "bots" / "bob" / "bot.toml").unlink()
    new = home / "bots" / "zoe"
    new.mkdir()
    (new / "bot.toml").write_text("no manifest")
    rows = own(bots.rows([])[0])
    assert list(rows) == ["ann", "zoe"]
    assert rows["zoe"]["problem"].startswith("bots/zoe/bot.toml"), "no folder of this machine"


def test_a_file_that_has_just_changed_is_read_again(home, hashed, monkeypatch):
    """It may change once more without a change of its times."""
    monkeypatch.setattr(bot_list, "SETTLED_NS", 3_600_000_000_000)
    bots = BotList(home)
    bots.rows([])
    bots.rows([])
    assert sorted(hashed) == ["ann", "ann", "bob", "bob"]


def test_the_first_page_is_rendered_again_only_when_what_it_shows_has_changed(home, monkeypatch):
    rendered = []

    def counting(template, *arguments):
        rendered.append(template)
        return render(template, *arguments)

    render = pages.render
    monkeypatch.setattr(pages, "render", counting)
    app = SimpleNamespace(
        home=home,
        run_list=RunList(home),
        bot_list=BotList(home),
        open_games=None,
        front_pages={},
        page_worker=SimpleNamespace(prepare=None),
    )

    def ask(*, may_change, host="127.0.0.1:8400"):
        scope = {
            "type": "http",
            "path": "/",
            "query_string": b"",
            "headers": [(b"host", host.encode())],
            "app": SimpleNamespace(state=app),
            "state": {"may_change": may_change},
        }
        return asyncio.run(pages.front(Request(scope)))

    first, again = ask(may_change=True), ask(may_change=True)
    assert (first.body, first.raw_headers) == (again.body, again.raw_headers)
    assert first.raw_headers is not again.raw_headers
    assert ask(may_change=False).body == ask(may_change=False).body
    assert rendered == ["home.html"] * 2
    (home / "bots" / "bob" / "bot.toml").unlink()
    ask(may_change=True)
    assert rendered == ["home.html"] * 3, "the bots that can play are others"
    ask(may_change=True, host="localhost:8400")
    ask(may_change=True, host="LocalHost:8400")
    assert rendered == ["home.html"] * 4, "a host has one name, in whatever letters"
    for number in range(3 * pages.MAX_FRONT_PAGES):
        ask(may_change=True, host=f"host-{number}:8400")
    assert len(app.front_pages) <= pages.MAX_FRONT_PAGES


def test_runs_of_one_name_in_two_collections_are_told_apart(home):
    """Each rating leads to the run that it is from."""
    header = "rank,bot,games,elo,elo_low,elo_high,mark,forfeits\n"
    hashes = {row["bot"]: row["hash"] for row in BotList(home).rows([])[0]}
    runs = []
    for collection, bot in (("first", "ann"), ("second", "bob")):
        folder = write_run(home / "results" / collection / "players-2", [bot, "x"], [])
        info = (folder / "run.json").read_text().replace("ab" * 32, hashes[bot])
        (folder / "run.json").write_text(info)
        (folder / "standings.csv").write_text(f"{header}1,{bot},12,40,10,70,,0\n")
        runs.append(folder)
    rows = own(BotList(home).rows(runs)[0])
    assert [rows[bot]["rated"][0] for bot in ("ann", "bob")] == [
        "first:players-2",
        "second:players-2",
    ]
