"""A bot that the user allows more than the others: it asks a server with a key, as one that asks a
language model does.
"""

import http.server
import json
import os
import threading
from types import SimpleNamespace

import pytest

from arena.errors import ConfigError
from arena.players.sandbox.grants import Grants
from arena.players.sandbox.tiers import Sandbox
from arena.tournament.pools import ClusterWorkers
from tests.support.commandline import FIRST
from tests.support.wording import lines_with, messages

KEY = "sk-test-0123456789abcdef"
ASKER = '''
import json, os, sys, urllib.request

def ask(legal):
    """The move that the server advises; the last one if it cannot be asked."""
    headers = {"Authorization": "Bearer " + os.environ.get("STUB_KEY", "none")}
    request = urllib.request.Request("http://127.0.0.1:PORT/", json.dumps(legal).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return legal[int(answer.read())]
    except OSError as error:
        print("not asked with", headers, error, file=sys.stderr, flush=True)
        return legal[-1]

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "id": message["id"], "view": "full"}), flush=True)
    elif message["type"] == "turn":
        note = {"text": "my key is " + os.environ.get("STUB_KEY", "not there")}
        reply = {"type": "move", "id": message["id"], "move": ask(message["legal"]), "note": note}
        print(json.dumps(reply), flush=True)
    elif message["type"] == "end":
        print("FAIL", file=sys.stderr, flush=True)
    elif message["type"] == "quit":
        break
'''


@pytest.fixture
def key_server():
    """A server that tells who has the key to take the first move; it counts."""

    class Stub(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            knows = self.headers["authorization"] == f"Bearer {KEY}"
            made.asked += knows
            self.send_response(200 if knows else 401)
            self.end_headers()
            self.wfile.write(b"0" if knows else b"")

        def log_message(self, *_):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    made.asked = 0
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def asker(arena, key_server, monkeypatch):
    """An arena with a bot that asks the server, and the key in the user's environment."""
    monkeypatch.setenv("STUB_KEY", KEY)
    arena.add_bot("asker", ASKER.replace("PORT", str(key_server.server_port)))
    return arena


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


GRANTS = ("--allow", "asker=network", "--allow", "asker=env:STUB_KEY")
NAMES = ("weights", "out", "../secret")
SHORT = ("--deals", 1, "--seed", "grants")


def test_a_bot_asks_a_server_with_a_key_where_it_is_allowed_and_the_key_is_kept_nowhere(
    asker, key_server, snapshot
):
    out, err = asker("run", "asker", "fst", *SHORT, "--out", "r", *GRANTS)
    first = asker.timeless("r")
    moves = sum(len(game["moves"][game["bots"].index("asker") :: 2]) for game in first)
    assert key_server.asked == moves - sum(game["moves"].count("pass") for game in first)
    tier = first[0]["sandbox"].partition(" ")[0]
    assert [game["sandbox"] for game in first] == [
        f"{tier} {game['bots'].index('asker')}=network,env" for game in first
    ]
    assert "my key is [STUB_KEY]" in first[0]["notes"][0]["text"]
    info = json.loads((asker.home / "results" / "r" / "run.json").read_text())
    assert {bot["name"]: bot.get("grants") for bot in info["bots"]} == {
        "asker": ["network", "env:STUB_KEY"],
        "fst": None,
    }
    assert "is allowed network, env:STUB_KEY" in err
    assert lines_with(err, "--seatings") == snapshot
    assert "beyond the sandbox, asker was allowed network, env:STUB_KEY" in out
    asker("report", "r")
    page = (asker.home / "results" / "r" / "report.html").read_text()
    assert "asker: network, env:STUB_KEY" in page
    assert "asker was allowed network, env:STUB_KEY" in page
    assert asker("verify", "r")[0] == snapshot
    told = f"{out}{err}"
    assert KEY not in told
    for path in files_below(asker.home):
        assert KEY.encode() not in path.read_bytes(), path

    # Who goes on with the run says the same again, and nothing that lies in it says so instead.
    _, err = asker("run", "asker", "fst", "--deals", 2, "--out", "r", status=1)
    assert messages(err) == snapshot
    _, err = asker("run", "--finish", "r", status=1)
    assert messages(err) == snapshot
    line = "hint: continue it with: arena run --finish r --allow asker=network,env:STUB_KEY"
    assert f"{line}\n" in err
    asker(*line.partition("arena ")[2].split())
    asked = key_server.asked
    asker("run", "asker", "fst", "--deals", 2, "--out", "r", *GRANTS)
    assert key_server.asked > asked


def test_the_same_bot_without_a_grant_reaches_nobody_and_knows_no_key(asker, key_server):
    record = json.loads(asker("play", "asker", "fst", "--seed", 1, "--json")[0])
    assert key_server.asked == 0
    assert record["sandbox"] in ("bubblewrap", "landlock")
    assert record["notes"][0]["text"] == "my key is not there"
    # and a grant of the one is not one of the other
    for allowed in ("asker=network", "fst=env:STUB_KEY,network"):
        play = ("play", "asker", "fst", "--seed", 1, "--json", "--allow", allowed)
        record = json.loads(asker(*play)[0])
        assert key_server.asked == 0
        assert record["notes"][0]["text"] == "my key is not there"


def test_what_a_bot_says_of_its_key_by_mistake_is_blotted_out_of_evidence_and_logs(asker):
    leaks = "import os, sys\nprint(os.environ['STUB_KEY'], flush=True)\n"
    leaks += "print('key:', os.environ['STUB_KEY'], file=sys.stderr, flush=True)\nsys.exit(3)\n"
    folder = asker.add_bot("leaks", leaks)
    allowed = ("--allow", "leaks=env:STUB_KEY")
    _, start = asker("run", "leaks", "fst", *SHORT, "--out", "r", *allowed, status=1)
    assert "[STUB_KEY]" in start
    begins = 'elif message["type"] == "start":\n'
    later = begins + "".join(f"        {line}\n" for line in leaks.splitlines())
    (folder / "bot.py").write_text(FIRST.replace(begins, later))
    out, err = asker("run", "leaks", "fst", *SHORT, "--out", "r", *allowed, status=1)
    assert "[STUB_KEY]" in asker.records("r")[0]["faults"][0]["detail"]
    _, said = asker("play", "leaks", "fst", "--log", "wire.jsonl", *allowed, status=1)
    shown, more = asker("check", "leaks", *allowed, status=1)
    _, again = asker("reproduce", "r", asker.records("r")[0]["id"], *allowed)
    assert KEY not in f"{start}{out}{err}{said}{shown}{more}{again}"
    for path in files_below(asker.home):
        assert KEY.encode() not in path.read_bytes(), path


def test_a_grant_names_one_bot_that_plays(asker):
    wrong = {
        "=network": "expected BOT=GRANT",
        "asker": "expected BOT=GRANT",
        "asker=": "expected BOT=GRANT",
        "*=network": "expected the name of one bot",
        "asker,fst=network": "expected the name of one bot",
        "asker:depth=3": "without its options",
        "aske=network": "did you mean 'asker'?",
        "ask\ner=network": r"names 'ask\ner'",
        "asker@2=network": "does not play here",
        "random=network": "built in",
        "asker=net": "did you mean 'network'?",
        "asker=network\n": None,
        "asker=network,none": "expected none or grants",
        "asker=env:": "expected the name of an environment variable",
        f"asker=env:STUB_KEY={KEY}": "the value stays out of the command",
        "asker=env:NOT_SET": "which is not set",
        "asker=env:LD_PRELOAD": "decides how programs start",
        "asker=env:PATH": "decides how programs start",
        "asker=env:HOME": "decides how programs start",
        "asker=cpus:1": "from 2 up",
        "asker=cpus:9999": "processors, of which there are",
        "asker=cpus:٣": "from 2 up",
        "asker=read:": "expected a file or folder",
        "asker=read:missing": "expected a file or folder",
        "asker=read:/": "your keys",
        "asker=read:~": "your keys",
        "asker=read:/proc/self": "a part of the system",
        "asker=read:/dev/null": "pipes, sockets and devices",
        "asker=read:bots": "no bot may read",
        "asker=read:.": "no bot may read",
        "asker=read:bots/fst/bot.py": "no bot may read",
        "asker=read:pipe": "pipes, sockets and devices",
        "asker=read:link": "no bot may read",
    }
    os.mkfifo(asker.home / "pipe")
    (asker.home / "link").symlink_to("bots")
    for text, sentence in wrong.items():
        status = 0 if sentence is None else 1
        ended, _out, err = asker.ended("play", "asker", "fst", "random", "--json", "--allow", text)
        assert ended == status, (text, err)
        assert sentence is None or sentence in err, (text, err)


def test_no_file_that_travels_gives_a_grant(asker, tmp_path, snapshot):
    (asker.home / "arena.toml").write_text('bots = ["asker", "fst"]\nallow = ["asker=network"]\n')
    _, err = asker("run", "--config", "arena.toml", status=1)
    assert messages(err) == snapshot
    asker.add_bot("claims", ASKER, allow=["network"])
    _, err = asker("play", "claims", "fst", status=1)
    assert messages(err) == snapshot
    assert "--allow" in err


def test_the_users_own_configuration_allows_a_bot_by_its_folder(asker, key_server, snapshot):
    asker.own["XDG_CONFIG_HOME"] = str(asker.home / "config")
    file = asker.home / "config" / "qin-arena" / "arena.toml"
    file.parent.mkdir(parents=True)
    folder = asker.home / "bots" / "asker"
    file.write_text(f'allow = ["{folder}=network,env:STUB_KEY"]\n')
    asker("play", "asker", "fst", "--seed", 1)
    assert key_server.asked
    assert asker("bots")[0] == snapshot
    assert asker("bots", "asker")[0] == snapshot
    # a stranger of the same name gets nothing
    asked = key_server.asked
    asker.add_bot("asker", (folder / "bot.py").read_text(), to="strangers")
    asker("play", "strangers/asker", "fst", "--seed", 1)
    assert key_server.asked == asked
    # two programs of one name are told apart by nobody
    play = ("play", "strangers/asker", "asker:move_ms=900", "--seed", 1)
    assert messages(asker(*play, status=1)[1]) == snapshot
    # and the command line takes away
    asker("play", "asker", "fst", "--seed", 1, "--allow", "asker=none")
    assert key_server.asked == asked
    file.write_text('allow = ["asker=network"]\n')
    _, err = asker("play", "asker", "fst", status=1)
    assert messages(err) == snapshot
    file.write_text(f'allow = ["{folder}=network"]\n')
    file.chmod(0o666)
    _, err = asker("play", "asker", "fst", status=1)
    assert messages(err) == snapshot


def test_a_bot_reads_what_it_is_allowed_and_nothing_beside_it(arena):
    data = arena.home.parent / "data"
    data.mkdir()
    (data / "weights").write_text("strong")
    (arena.home.parent / "secret").write_text("secret")
    (data / "out").symlink_to("../secret")
    said = '"my key is " + os.environ.get("STUB_KEY", "not there")'
    reader = ASKER.replace(said, f'" ".join(map(look, {NAMES}))').replace("PORT", "1")
    looks = (
        f'def look(name):\n    try:\n        return open("{data}/" + name).read()\n'
        "    except OSError:\n        return name + '?'\n"
    )
    arena.add_bot("reader", looks + reader)
    play = ("play", "reader", "fst", "--seed", 1, "--json")
    told = json.loads(arena(*play)[0])["notes"][0]["text"]
    assert told == "weights? out? ../secret?"
    # A grant is the program's: it holds with all options.
    play = ("play", "reader:move_ms=900", "fst", "--seed", 1, "--json")
    told = json.loads(arena(*play, "--allow", "reader=read:../data")[0])["notes"][0]["text"]
    assert told == "strong out? ../secret?"


def test_a_bot_with_the_network_does_not_meet_a_scheduler_that_obeys_anybody(refused):
    dialling = Sandbox("bubblewrap", {"asker": Grants(network=True)})

    def workers(address):
        made = object.__new__(ClusterWorkers)
        made.client = SimpleNamespace(scheduler=SimpleNamespace(address=address))
        return made

    with refused(ConfigError):
        workers("tcp://a:1").setup(dialling, 0)
    assert workers("tls://a:1").setup(dialling, 0).sandbox == dialling
    assert workers("tcp://a:1").setup(Sandbox("bubblewrap"), 0).sandbox.grants == {}
