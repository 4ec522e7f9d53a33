"""The figures of a report are those that its records give when they are counted by hand."""

import json
import random
from collections import defaultdict
from html.parser import HTMLParser
from statistics import mean, median, quantiles

import pytest
from msgspec.structs import replace

from arena.exports.report.report_page import report_page
from arena.tournament.run import Run
from tests.exports.runs import duels, game_of, write_run

BOTS = "abc"
BOARDS = ("bird", "lion")
ROUNDED = 0.051
"""How far a figure with one decimal may be from the exact one."""
WHOLE = 0.51
"""How far a figure without decimals may be from the exact one."""


class Tables(HTMLParser):
    """The tables of a page by the id of their section, each a list of rows: a dictionary from the
    title of a column to the text of the cell, or to its number where the page has that.
    """

    def __init__(self, page):
        super().__init__()
        self.found = defaultdict(list)
        self._section = ""
        self._titles, self._cells = [], []
        self._text, self._number = "", None
        self._is_head = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "section":
            self._section = attributes.get("id", "")
        elif tag == "table":
            self.found[self._section].append([])
        elif tag == "thead":
            self._is_head = True
        elif tag == "tr":
            self._cells = []
        elif tag in ("td", "th"):
            self._text, self._number = "", attributes.get("data-v")

    def handle_data(self, data):
        self._text += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            text = self._text.strip()
            self._cells.append(text if self._number is None else float(self._number))
        elif tag == "thead":
            self._is_head = False
        elif tag == "tr" and self._is_head:
            self._titles = self._cells
        elif tag == "tr":
            self.found[self._section][-1].append(dict(zip(self._titles, self._cells, strict=True)))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run of three bots on two boards. Thinking times are skewed, so that a mean is no
    median, and only one board has forfeits, so that its ends are not those of all games.
    """
    rng = random.Random(4)
    games = []
    for board in BOARDS:
        for game in duels(BOTS, 4, board):
            think_ms = [round(20 * rng.expovariate(1) ** 2, 1) for _ in game.bots]
            slowest_ms = [round(spent / rng.randint(2, 20), 1) for spent in think_ms]
            games.append(replace(game, think_ms=think_ms, slowest_ms=slowest_ms))
    for at, seat, turn, kind in ((0, 0, 2, "exit"), (3, 0, 4, "late"), (6, 1, 3, "late")):
        game = games[at]
        faults = [(seat, turn, kind, "it failed")]
        failed = game_of(game.bots, deal=game.deal, seating=game.seating, faults=faults)
        games[at] = replace(failed, think_ms=game.think_ms, slowest_ms=game.slowest_ms)
    folder = tmp_path_factory.mktemp("figures") / "run"
    return write_run(folder, BOTS, games, deals=4, boards=BOARDS)


@pytest.fixture(scope="module")
def games(run):
    """The lines of the journal."""
    return [json.loads(line) for line in (run / "games.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def tables(run):
    return Tables(report_page(Run(run), 1).text).found


def seats_of(games, bot):
    """(game, seat) for every game of the bot."""
    return [(game, game["bots"].index(bot)) for game in games if bot in game["bots"]]


def share_of(game, seat):
    """The seat's part of the win."""
    winners = game["ranks"].count(1)
    return 1 / winners if game["ranks"][seat] == 1 else 0.0


def number(text):
    """The number in a cell, in which percentages stay percentages."""
    return float(text.removesuffix(" %").replace(",", "").replace("\N{MINUS SIGN}", "-"))


def by_bot(rows):
    assert sorted(row["Bot"] for row in rows) == sorted(BOTS)
    return {row["Bot"]: row for row in rows}


def test_thinking_times_are_those_of_the_bots_games(games, tables):
    [rows] = tables["thinking"]
    for bot, row in by_bot(rows).items():
        times = [game["think_ms"][seat] for game, seat in seats_of(games, bot)]
        slowest = max(game["slowest_ms"][seat] for game, seat in seats_of(games, bot))
        assert row["Mean"] == pytest.approx(mean(times), abs=0.006)
        assert row["Median"] == pytest.approx(median(times), abs=0.006)
        last_of_twenty = quantiles(times, n=20, method="inclusive")[-1]
        assert row["95 %"] == pytest.approx(last_of_twenty, abs=0.006)
        assert row["Longest game"] == pytest.approx(max(times), abs=0.006)
        assert row["Slowest answer"] == pytest.approx(slowest, abs=0.006)


def test_lengths_and_ends_are_shares_of_the_games_on_one_board(games, tables):
    rows = tables["outcomes"][1]
    assert [row["Board"] for row in rows] == sorted(BOARDS)
    ends = {game["end"] for game in games}
    assert len(ends) > 1
    for row in rows:
        own = [game for game in games if game["board"] == row["Board"]]
        turns = [game["turns"] for game in own]
        twentieths = quantiles(turns, n=20, method="inclusive")
        assert number(row["Games"]) == len(own)
        assert number(row["5 %"]) == pytest.approx(twentieths[0], abs=WHOLE)
        assert number(row["Median"]) == pytest.approx(median(turns), abs=WHOLE)
        assert number(row["95 %"]) == pytest.approx(twentieths[-1], abs=WHOLE)
        for end in ends:
            share = sum(game["end"] == end for game in own) / len(own)
            assert number(row[end]) == pytest.approx(100 * share, abs=ROUNDED)


def test_pagodas_left_are_those_at_the_end_of_the_bots_games(games, tables):
    for bot, row in by_bot(tables["outcomes"][0]).items():
        left = [game["left"][seat] for game, seat in seats_of(games, bot)]
        assert number(row["Games"]) == len(left)
        assert number(row["None left"]) == pytest.approx(
            100 * left.count(0) / len(left), abs=ROUNDED
        )
        assert number(row["Mean"]) == pytest.approx(mean(left), abs=ROUNDED)
        assert number(row["Median"]) == pytest.approx(median(left), abs=WHOLE)


def test_the_standings_count_the_games_of_each_bot(games, tables):
    [rows] = tables["standings"]
    for bot, row in by_bot(rows).items():
        own = seats_of(games, bot)
        shares = [share_of(game, seat) for game, seat in own]
        left = [game["left"][seat] for game, seat in own]
        faults = [fault for game, seat in own for fault in game["faults"] if fault["seat"] == seat]
        assert number(row["Games"]) == len(own)
        assert number(row["Won"]) == shares.count(1.0)
        assert number(row["Shared"]) == shares.count(0.5)
        assert number(row["Lost"]) == shares.count(0.0)
        assert number(row["Wins"]) == pytest.approx(100 * mean(shares), abs=WHOLE)
        assert number(row["Left"]) == pytest.approx(mean(left), abs=ROUNDED)
        assert number(row["Faults"]) == len(faults)


def test_head_to_head_counts_the_games_of_two_bots(games, tables):
    [rows] = tables["pairs"]
    for bot, row in by_bot(rows).items():
        for other in set(BOTS) - {bot}:
            met = [game for game in games if sorted(game["bots"]) == sorted((bot, other))]
            score = mean(share_of(game, game["bots"].index(bot)) for game in met)
            percentage, _, count = row[other].partition(" %")
            assert number(percentage) == pytest.approx(100 * score, abs=WHOLE)
            assert number(count) == len(met)


def test_seats_have_the_results_of_whoever_sat_there(games, tables):
    [rows] = tables["seats"]
    assert [row["Seat"] for row in rows] == ["moves first", "moves second"]
    for seat, row in enumerate(rows):
        shares = [share_of(game, seat) for game in games]
        assert number(row["Games"]) == len(games)
        assert number(row["Share"]) == pytest.approx(100 * mean(shares), abs=ROUNDED)
        assert number(row["Left"]) == pytest.approx(
            mean(game["left"][seat] for game in games), abs=ROUNDED
        )


def test_faults_are_shares_of_the_games_of_the_bot_that_made_them(games, tables):
    counts = defaultdict(int)
    for game in games:
        for fault in game["faults"]:
            counts[game["bots"][fault["seat"]], fault["kind"]] += 1
    [rows] = tables["faults"]
    found = {(row["Bot"], row["Kind"]): row for row in rows}
    assert found.keys() == counts.keys()
    for (bot, kind), row in found.items():
        count = counts[bot, kind]
        share = count / len(seats_of(games, bot))
        assert number(row["Faults"]) == count
        assert number(row["Share of its games"]) == pytest.approx(100 * share, abs=ROUNDED)
