"""The page: complete in itself, closed to what strangers wrote, silent about games to come."""

import json
import math
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from arena.cli.replay import write_replay
from arena.errors import RunError
from arena.exports.grid import moment
from arena.exports.ground import FRAME
from arena.exports.parts import SIDE
from arena.exports.report.again import NAMED_OTHERWISE, REPEATED_SETTINGS, repeat_command
from arena.exports.report.catalogue import catalogue_of
from arena.exports.report.game_page import game_page
from arena.exports.report.page import anchor, data_text, rules_named
from arena.exports.report.report_page import Heading, report_page
from arena.exports.report.viewer_data import MAX_BYTES
from arena.ratings.tables import run_tables
from arena.records.blocks import PlayedBlocks
from arena.records.config import RunConfig
from arena.records.runfile import RunInfo, read_run
from arena.rules.explain import every_rule
from arena.tournament.consistency import make_config
from arena.tournament.run import Run
from arena.tournament.schedule import Schedule
from arena.tournament.secrecy import secrecy_from_blocks
from tests.exports.runs import SEED, data_of, duels, evidence_of, game_of, write_run
from tests.support.wording import without_figures

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7*7"
    " }}\x1b[31m\u202egnp.exe"
)
MARKERS = ("<script>alert", "<img", "\x1b", "\u202e", "{{ 7*7 }}alert")


class Reader(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.ids = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"])


def paragraphs_with(words, page):
    """The texts in a page, between two tags, that have these words."""
    return [text.strip() for text in re.findall(r">([^<>]*)<", page) if words in text]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a finished run, with a fault."""
    games = duels("abc", 2)
    games[0] = game_of(("a", "b"), faults=[(0, 2, "exit", "gone")])
    folder = tmp_path_factory.mktemp("finished") / "run"
    return report_page(Run(write_run(folder, "abc", games, deals=2))).text


@pytest.fixture(scope="module")
def tags(page):
    return Reader(page).tags


def test_nothing_is_loaded_and_only_what_the_policy_knows_runs(page, tags):
    [policy] = [
        attributes["content"]
        for tag, attributes in tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        assert f"{tag}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    for tag, attributes in tags:
        assert not {"style", "src"} & attributes.keys()
        to = attributes.get("href", "#")
        assert to.startswith("#") or (tag, to) == ("link", "data:,")
    assert not re.search(r"\burl\((?!#)|@import|\bfetch\(|XMLHttpRequest|innerHTML|\beval\(", page)


def test_ids_are_unique_and_what_is_referred_to_is_there(tags):
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in tags:
        for attribute in ("aria-labelledby", "for"):
            assert set(attributes.get(attribute, "main").split()) <= set(ids)
        target = attributes.get("href", "#")
        is_choice = target.startswith(("#game=", "#games="))
        assert target in ("#", "data:,") or is_choice or target[1:] in ids


def test_a_finished_run_tells_its_seed_and_how_to_repeat_it(page):
    assert f"arena run a b c --boards bird --deals 2 --clock wall --seed {SEED}" in page
    assert "bubblewrap: 12" in page


def test_what_a_screen_reader_needs_is_there(tags):
    names = [tag for tag, _ in tags]
    levels = [int(name[1]) for name in names if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert names.count("table") == names.count("caption")
    assert ("html", {"lang": "en"}) in tags
    labelled = {attributes["for"] for tag, attributes in tags if tag == "label"}
    for tag, attributes in tags:
        if tag == "th":
            assert attributes.get("scope") in ("row", "col")
        if tag in ("select", "input"):
            assert attributes["id"] in labelled
        if tag == "button":
            assert "aria-label" in attributes or attributes["id"] == "theme"
        if tag == "svg":
            assert {"aria-label", "aria-hidden"} & attributes.keys()


def test_the_page_says_the_sentences_of_the_table_with_harmless_names(tmp_path, snapshot):
    games = [
        game_of(pair, deal=deal, seating=seating)
        for deal in range(12)
        for seating, pair in enumerate((("<i>a\u202e", "b"), ("b", "<i>a\u202e")))
    ]
    folder = write_run(tmp_path / "run", ["<i>a\u202e", "b"], games)
    [sentence] = run_tables(folder, read_run(folder)).sentences
    page = report_page(Run(folder)).text
    assert sentence == snapshot
    shown = sentence.replace("<i>a\u202e", "&lt;i&gt;a\\u202e")
    assert f"<p>{shown}</p>" in page


def test_hostile_text_stays_text(tmp_path):
    name = HOSTILE.replace("/", "|")
    bots = [name, "plain"]
    games = [
        game_of(pair, deal=deal, seating=seating)
        for deal in range(3)
        for seating, pair in enumerate((bots, bots[::-1]))
    ]
    games[0] = game_of(bots, faults=[(0, 2, "exit", f"it said: {HOSTILE}")])
    lines = [["to", 1.0, HOSTILE], ["from", 2.0, "</pre>" + HOSTILE]]
    plain = game_of(["other", "plain"], deal=0, faults=[(0, 2, "exit", HOSTILE)])
    evidence = {(plain.id, 0): evidence_of(stderr=HOSTILE * 3, lines=lines, ending=HOSTILE)}
    folder = write_run(tmp_path / "run", [*bots, "other"], [*games, plain], evidence=evidence)
    for page in (
        report_page(Run(folder), [plain.id, games[0].id]).text,
        report_page(Run(folder)).text,
        game_page(Run(folder), plain),
    ):
        read = Reader(page)
        assert [tag for tag, _ in read.tags].count("script") == 1 + ("games-data" in read.ids)
        assert not any(
            attribute.startswith("on") for _, attributes in read.tags for attribute in attributes
        )
        assert not {"img", "iframe", "object", "form", "base"} & {tag for tag, _ in read.tags}
        assert [
            page[max(0, page.index(marker) - 200) :][:300] for marker in MARKERS if marker in page
        ] == []
    assert "\\x1b[31m\\u202egnp.exe" in report_page(Run(folder), [plain.id]).text


def test_data_in_a_page_has_no_sign_of_markup_and_no_line_end_but_keeps_its_texts():
    value = {"<!--": "</script>&amp;\u2028\u2029\n"}
    text = data_text(value)
    assert not set(text) & set("<>&\u2028\u2029\n")
    assert json.loads(text) == value


def test_an_unfinished_run_keeps_its_seed_and_the_deals_that_are_still_played(tmp_path, snapshot):
    games = duels("abc", 3)
    faulty = game_of(("a", "b"), deal=2, faults=[(0, 2, "exit", "the hand was RR")])
    told = [{"turn": 1, "text": "I hold RR and YB"}]
    faulty, *others = (replace(game, notes=told) for game in (faulty, *games[13:15]))
    played = [*games[:12], faulty, *others]  # deals 0 and 1 whole, half of deal 2
    evidence = {(faulty.id, 0): evidence_of(stderr="a telling stderr")}
    page = report_page(
        Run(folder := write_run(tmp_path / "run", "abc", played, deals=3, evidence=evidence))
    ).text
    assert SEED not in page
    assert paragraphs_with("3 of 18", page) == snapshot
    assert {game["deal"] for game in data_of(page)["games"]} == {0, 1}
    assert "a telling stderr" not in page
    assert "the hand was RR" not in page
    assert "I hold RR" not in page
    assert paragraphs_with("3 games ", page) == snapshot
    made = report_page(Run(folder), [faulty.id])
    assert data_of(made.text)["games"][0]["id"] == faulty.id
    assert made.notes == snapshot


def test_games_of_one_deal_know_each_other_unless_the_deal_is_open(tmp_path):
    games = [*duels("ab", 2), game_of(("a", "b"), deal=2, luck=1)]
    other = replace(game_of(("b", "a"), deal=2), id="bird/a+b/2/1", seating=1)
    whole = write_run(tmp_path / "whole", "ab", [*games, other], deals=3)
    pairs = [[f"bird/a+b/{deal}/{seating}" for seating in range(2)] for deal in range(3)]
    found = data_of(report_page(Run(whole)).text)["games"]
    assert sorted(game["seatings"] for game in found) == [pair for pair in pairs for _ in range(2)]
    shown = data_of(game_page(Run(whole), other))["games"]
    assert [game["id"] for game in shown] == pairs[2][::-1]
    assert "<code>arena review whole bird/a+b/2/1</code>" in game_page(Run(whole), other)
    # with a third bot to come, every deal is open
    open_run = write_run(tmp_path / "open", "abc", games, deals=3)
    page = game_page(Run(open_run), games[0])
    [alone] = data_of(page)["games"]
    assert "seatings" not in alone
    assert "arena review" not in page
    asked = data_of(report_page(Run(open_run), pairs[0]).text)["games"]
    assert [game.get("seatings") for game in asked] == [None, None]


def test_the_page_of_a_game_is_made_whatever_its_id_holds(tmp_path):
    """A name with a character that reverses the line may come with a run from elsewhere."""
    bots = ["a\u202eb", "c"]
    games = duels(bots, 1)
    folder = write_run(tmp_path / "run", bots, games)
    [shown, other] = data_of(game_page(Run(folder), games[0]))["games"]
    assert (shown["id"], other["id"]) == ("bird/a\\u202eb+c/0/0", "bird/a\\u202eb+c/0/1")


def test_a_game_that_no_page_has_room_for_is_refused(tmp_path, refused):
    game = game_of("ab", faults=[(0, 2, "exit", "\u202e" * 300_000)])
    folder = write_run(tmp_path / "run", "ab", [game])
    with refused(RunError):
        game_page(Run(folder), game)


def test_a_run_whose_plan_is_not_understood_keeps_everything(tmp_path):
    folder = write_run(tmp_path / "run", "ab", duels("ab", 2), deals=2)
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text.replace('"players": 2', '"players": 2, "later": 1'))
    page = report_page(Run(folder)).text
    assert SEED not in page
    assert "games-data" not in page.split("<script>")[0]


def test_a_page_by_matches_says_so_and_counts_them(tmp_path, snapshot):
    records = [*duels("ab", 3), *duels("ab", 3, "lion")]
    folder = write_run(
        tmp_path / "run", "ab", records, deals=3, boards=("bird", "lion"), match=("bird", "lion")
    )
    page, singly = report_page(Run(folder)).text, report_page(Run(folder), match=[]).text
    assert paragraphs_with("6 matches", page) == snapshot
    assert '<th scope="col" class="figure">Matches</th>' in page
    assert "arena run a b --match bird,lion --deals 3" in page
    assert "12 games, 6 deals" in singly
    assert "scored as" not in singly
    empty = write_run(
        tmp_path / "empty", "ab", [], deals=3, boards=("bird", "lion"), match=("bird", "lion")
    )
    text = re.sub(r"<(style|script)>.*?</\1>", "", report_page(Run(empty)).text, flags=re.S)
    assert paragraphs_with("No game", text) == snapshot
    assert "nan" not in text.lower()


@pytest.mark.long
def test_a_run_of_many_bots_and_games_is_below_five_megabytes(tmp_path, snapshot):
    bots = [f"bot-with-a-name-of-forty-letters-{number:08}" for number in range(70)]
    games = [
        game_of((one, other), faults=[(0, 2, "exit", "x" * 3000)]) for one, other in pairwise(bots)
    ]
    games += [
        game_of(bots[1::-1], seating=1),
        *(game_of(bots[:2], deal=deal) for deal in range(1, 180)),
    ]
    evidence = {
        (game.id, 0): evidence_of("e" * 60_000, [["to", 1.0, "<" * 60_000]] * 9)
        for game in games
        if game.faults
    }
    made = report_page(
        Run(write_run(tmp_path / "run", bots, games, evidence=evidence, planned=bots[:2])), 10_000
    )
    assert len(made.text.encode()) < 5_000_000
    assert without_figures(made.notes[0]) == snapshot
    assert (
        MAX_BYTES * 0.9
        < len(json.dumps(data_of(made.text), separators=(",", ":")).encode())
        < MAX_BYTES * 1.1
    )


def test_a_record_that_does_not_replay_is_named_and_left_out(tmp_path, refused):
    games = duels("ab", 2)
    bad = game_of(("a", "b"), deal=0, luck=1)
    wrong = replace(bad, moves=["Ba1Ba2", *bad.moves[1:]])
    folder = write_run(tmp_path / "run", "ab", [wrong, *games[1:]], deals=2)
    made = report_page(Run(folder))
    assert wrong.id not in {game["id"] for game in data_of(made.text)["games"]}
    assert "Could not be replayed" in made.text
    assert wrong.id in made.notes[0]
    with refused(RunError):
        game_page(Run(folder), wrong)


def test_evidence_from_outside_the_run_is_not_read(tmp_path):
    fault = game_of(("a", "b"), faults=[(0, 2, "exit", "gone")])
    away = replace(fault, id="../../elsewhere")
    folder = write_run(
        tmp_path / "run",
        "ab",
        [away],
        evidence={("../../elsewhere", 0): evidence_of("a secret of the machine")},
    )
    assert (tmp_path / "elsewhere" / "seat-0.json").exists()
    assert "a secret of the machine" not in game_page(Run(folder), away)
    with pytest.raises(RunError, match="below"):
        write_replay(Run(folder), away.id, "html", "")


def plan_of(**settings):
    config = make_config({"bots": ["a", "b", "c"], "seed": "s", **settings})
    return RunInfo("0.1.0", 1, "pure", 1, config, {}, [], "s", "none", "")


def judged(blocks, **settings):
    """What is said of a run with so many games of each block, by the ids' first parts."""
    parts = {name.rpartition("/")[::2]: games for name, games in blocks.items()}
    return secrecy_from_blocks(
        Schedule(plan_of(**settings).config),
        [PlayedBlocks(place, [int(deal)], [games]) for (place, deal), games in parts.items()],
    )


def test_a_deal_is_over_when_all_its_games_are_played():
    pairs = ("a+b", "a+c", "b+c")
    blocks = {f"bird/{pair}/{deal}": 2 for deal in range(2) for pair in pairs} | {"bird/a+c/1": 1}
    secrecy = judged({**blocks, "lion/a+b/0": 2, "bird/b+z/1": 2, "bird/a+b/7": 2}, deals=2)
    assert (secrecy.planned, secrecy.missing, secrecy.is_finished) == (12, 1, False)
    assert secrecy.is_open("bird", np.arange(4)).tolist() == [False, True, True, True]
    assert secrecy.is_open("lion", np.arange(2)).tolist() == [True, True]
    finished = judged({**blocks, "bird/a+c/1": 2}, deals=2)
    assert not finished.is_open("bird", np.array([1])).any()


def test_the_deals_of_a_match_are_over_each_for_itself():
    blocks = {"bird/a+b/1": 2, "bird/a+c/1": 2, "bird/b+c/1": 2, "bird/a+b/0": 2}
    secrecy = judged(blocks, deals=1, match=["bird", "bird"], boards=["bird"])
    assert (secrecy.planned, secrecy.missing) == (12, 4)
    assert secrecy.is_open("bird", np.arange(2)).tolist() == [True, False]


def test_while_line_ups_may_be_given_more_deals_a_deal_is_over_when_all_of_them_played_it():
    blocks = {"bird/a+b/0": 2, "bird/a+c/0": 2, "bird/b+c/0": 2, "bird/a+b/1": 2}
    secrecy = judged(blocks, deals=5, until=20.0, allotted=2)
    assert not secrecy.is_finished
    assert secrecy.is_open("bird", np.arange(2)).tolist() == [False, True]
    assert judged(blocks, deals=5, until=20.0, allotted=1, settled=1).is_finished


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        ({"deals": 3}, "arena run a b c --boards bird --deals 3"),
        (
            {"deals": 3, "boards": ["lion", "mine"], "players": 3, "move_ms": 5, "until": 20.0},
            (
                "arena run a b c --boards lion --board mine.txt --deals 3 --players 3 --move-ms 5"
                " --until 20.0"
            ),
        ),
        (
            {"boards": ["lion", "mine"], "match": ["mine", "lion"]},
            "arena run a b c --match mine,lion --board mine.txt --deals 10",
        ),
        ({"in_process": True}, "arena run a b c --boards bird --deals 10 --in-process"),
        ({"clock": "wall"}, "arena run a b c --boards bird --deals 10 --clock wall"),
        (
            {"compare": {"new": "c", "old": "a", "elo1": 30.0}},
            "arena compare c a --pool b --elo1 30.0 --boards bird",
        ),
        (
            {
                "bots": ["c", "a@1", "a@1-copy1", "a@1-copy2"],
                "players": 3,
                "compare": {"new": "c", "old": "a@1", "by": "margin"},
            },
            "arena compare c a@1 --by margin --boards bird --players 3",
        ),
    ],
)
def test_the_command_that_plays_a_run_again(settings, command):
    info = plan_of(**{"boards": ["bird"], "clock": "cpu", **settings})
    assert repeat_command(info, seed=None) == command
    assert repeat_command(info, seed="x y") == f"{command} --seed 'x y'"


def test_the_command_that_plays_a_persons_game_again_names_the_wall_clock():
    game = {
        "game": {"seats": ["human", "a"], "deal": 3},
        "bots": ["human", "a"],
        "boards": ["bird"],
    }
    wall = repeat_command(plan_of(**game, clock="wall"), seed=None)
    assert wall == "arena play a --human 0 --board bird --clock wall --deal 3"
    assert "--clock" not in repeat_command(plan_of(**game, clock="cpu"), seed=None)


def test_a_report_about_a_run_that_the_reader_does_not_have_misses_no_evidence(tmp_path):
    faulty = game_of(("a", "b"), deal=0, faults=[(0, 2, "exit", "gone")])
    folder = write_run(tmp_path / "run", "ab", [faulty, *duels("ab", 2)[1:]], deals=2)
    words = "The evidence file is missing"
    assert words in report_page(Run(folder)).text
    heading = Heading("A league", [("/league", "Two")], "/league")
    assert words not in report_page(Run(folder), heading=heading).text


def test_every_setting_of_a_tournament_is_in_the_command_that_repeats_it():
    follow = {"line_ups", "compare", "tune", "league", "drawn", "allotted", "settled", "game"}
    """These follow from other settings and the results, or belong to another command."""
    told = {"bots", *REPEATED_SETTINGS, *NAMED_OTHERWISE}
    assert told | follow == set(RunConfig.__struct_fields__)


def test_the_report_of_a_run_with_settings_from_another_version_shows_what_is_known(tmp_path):
    folder = write_run(tmp_path / "run", "ab", duels("ab", 2), deals=2)
    path = folder / "run.json"
    text = path.read_text()
    assert "arena run a b " in report_page(Run(folder)).text
    path.write_text(text.replace('"config": {', '"config": {"later": 1, '))
    page = report_page(Run(folder)).text
    assert "arena run a b " not in page
    assert "<div><dt>Players per game</dt><dd>2</dd></div>" in page
    assert "<div><dt>Deals per board</dt><dd>?</dd></div>" in page


def test_the_rules_that_a_fault_names_are_links_and_stand_at_the_end(tmp_path):
    faulty = game_of(
        ("a", "b"),
        deal=0,
        faults=[(0, 2, "illegal move", "c4 <is> not free (R4.1), nor is R9.1 a rule")],
    )
    folder = write_run(tmp_path / "run", "ab", [faulty, *duels("ab", 2)[1:]], deals=2)
    for page in (report_page(Run(folder), [faulty.id]).text, game_page(Run(folder), faulty)):
        read = Reader(page)
        links = [attributes for tag, attributes in read.tags if attributes.get("class") == "rule"]
        assert {link["href"] for link in links} == {"#r41"}
        assert links[0]["title"] == every_rule()["R4.1"].text
        assert "c4 &lt;is&gt; not free (<a " in page
        assert "</a>), nor is R9.1 a rule" in page
        assert {"r41", "r52"} <= set(read.ids)
        assert data_of(page)["rules"]["R5.2"] == every_rule()["R5.2"].text


def test_a_report_has_all_rules_with_their_pictures_and_a_game_those_that_it_names(tmp_path):
    folder = write_run(tmp_path / "run", "ab", duels("ab", 2), deals=2)
    report = Reader(report_page(Run(folder)).text)
    said = {attributes.get("aria-label") for tag, attributes in report.tags if tag == "svg"}
    for rule in every_rule().values():
        assert anchor(rule.number) in report.ids
        assert {picture.says for picture in rule.pictures} <= said
    game = Reader(game_page(Run(folder), duels("ab", 1)[0]))
    said = {attributes.get("aria-label") for tag, attributes in game.tags if tag == "svg"}
    for rule in every_rule().values():
        for picture in rule.pictures:
            assert (picture.says in said) == (anchor(rule.number) in game.ids)


def test_the_list_of_games_leads_with_upsets_and_says_by_how_much_a_game_was_won():
    def game(bots, ranks, left, faults=()):
        return {"bots": bots, "ranks": ranks, "left": left, "faults": faults}

    games = [
        game(["weak", "new"], [1, 2], [0, 3]),
        game(["strong", "weak"], [1, 2], [0, 4]),
        game(["middle", "weak"], [2, 1], [5, 0]),
        game(["weak", "strong", "weak"], [1, 3, 2], [0, 9, 2]),
        game(["strong", "weak"], [2, 1], [9, 9], faults=["late"]),
        game(["strong", "strong"], [1, 1], [1, 1]),
    ]
    listed = catalogue_of(games, {"strong": 200.0, "middle": 50.0, "weak": 0.0, "new": math.nan})
    assert [games.index(each.game) for each in listed] == [3, 4, 2, 0, 1, 5]
    assert [each.upset for each in listed[:3]] == [200, 200, 50]
    assert all(math.isnan(each.upset) for each in listed[3:])
    assert [each.lead for each in listed if not each.game["faults"]] == [2, 5, 3, 4, 0]
    assert math.isnan(listed[1].lead)
    assert listed[-1].winners == ["strong", "strong"]


def test_a_page_that_names_no_rule_has_none():
    assert rules_named(["a", "R9.1"]) == []
    assert [rule.number for rule in rules_named(["(R6.2) (R5.2)", "(R6.2)"])] == ["R5.2", "R6.2"]


def test_a_review_that_cannot_be_read_costs_a_page_its_grades_only(tmp_path, snapshot):
    folder = write_run(tmp_path / "run", "ab", duels("ab", 1))
    (folder / "review.jsonl").write_text("garbage\n")
    made = report_page(Run(folder))
    assert len(data_of(made.text)["games"]) == 2
    [note] = made.notes
    assert note == snapshot


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-22T15:36:32Z", "22 Nov 2026, 15:36 UTC"),
        ("2026-11-22T01:36:32+02:00", "21 Nov 2026, 23:36 UTC"),
        ("0001-01-01T00:00:00+09:00", "0001-01-01T00:00:00+09:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_a_time_is_written_for_people(text, shown):
    assert moment(text) == shown


ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    [*(ROOT / "arena/web").glob("*.js"), *(ROOT / "arena/exports/report").glob("*.js")]
)


def test_only_one_script_reads_moves_and_no_script_has_a_size_of_the_board(page):
    readers = [path.name for path in SCRIPTS if "[RYB]" in path.read_text()]
    assert readers == ["notation.js"]
    sized = [path.name for path in SCRIPTS if re.search(r"\b(SIDE|FRAME)\b", path.read_text())]
    assert sized == []
    assert f'data-side="{SIDE}" data-frame="{FRAME}"' in page


def test_scripts_are_of_a_length_and_a_width_that_can_be_read():
    for path in SCRIPTS:
        lines = path.read_text().splitlines()
        assert len(lines) <= 600, path.name
        assert max(map(len, lines)) <= 120, path.name
