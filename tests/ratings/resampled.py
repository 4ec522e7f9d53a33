"""How both tests of `arena compare` do on real blocks, drawn again and again from a run.

``python -m tests.ratings.resampled RUN NEW [TRIES [ELO1]]`` takes a run of two bots of about equal
strength and prints two rows. In the first, the two exchange names by chance in every block, so that
they are equal and "better" is wrong. In the second they are as they are. Above is the Elo of all
blocks, by wins and by margin.
"""

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from arena.ratings.estimates import disagreement, plain_estimate
from arena.ratings.margins import MarginTest
from arena.ratings.sequential import Question, Verdict
from arena.records.journal import read_records
from arena.records.record import margins, shares

MOST = 20_000


def blocks_of(run, new):
    """The blocks of two games in swapped seats, as the tests take them."""
    deals = defaultdict(list)
    for record in read_records(Path(run)):
        seat = record.bots.index(new)
        deals[record.board, record.deal, *sorted(record.bots)].append(
            (shares(record.ranks)[seat], margins(record)[seat])
        )
    return [block_of(games) for games in deals.values() if len(games) == 2]


def block_of(games):
    share = float(np.mean([share for share, _ in games]))
    new = [margin for _, margin in games]
    return share, 1 - share, 0, (new, [-margin for margin in new])


def exchanged(block):
    """The block with the names of the bots exchanged."""
    new, old, group, margins = block
    return old, new, group, margins[::-1]


def drawn(blocks, rng, *, is_null):
    while True:
        block = blocks[rng.integers(len(blocks))]
        yield exchanged(block) if is_null and rng.random() < 0.5 else block


def decide(source, question):
    """Whether the answer is "better", and after how many blocks it came, by margin and by wins."""
    test, ended = MarginTest(question), {}
    while len(ended) < 2 and test.blocks < MOST:
        test.add(*next(source))
        for name, judged in (("margin", test), ("wins", test.wins)):
            if name not in ended and judged.verdict != Verdict.UNDECIDED:
                ended[name] = (judged.verdict == Verdict.BETTER, judged.blocks)
    return [value for name in ("margin", "wins") for value in ended.get(name, (False, MOST))]


def shown(estimate):
    return f"{estimate.elo:+.1f} [{estimate.low:+.1f}, {estimate.high:+.1f}]"


def main(run, new, tries=200, elo1=50.0):
    """Prints what all blocks say, and the two rows."""
    blocks, question, rng = blocks_of(run, new), Question(0, float(elo1)), np.random.default_rng(1)
    test = MarginTest(question)
    for block in blocks:
        test.add(*block)
    by_margin, by_wins, apart = plain_estimate(test), plain_estimate(test.wins), disagreement(test)
    games = ((by_wins.high - by_wins.low) / (by_margin.high - by_margin.low)) ** 2
    print(
        f"{len(blocks)} blocks; Elo by wins {shown(by_wins)}, by margin {shown(by_margin)}, which"
    )
    print(f"is worth {games:.2f} times the games; difference {shown(apart)}")
    for is_null in (True, False):
        source = drawn(blocks, rng, is_null=is_null)
        better, length, wins_better, wins_length = np.mean(
            [decide(source, question) for _ in range(int(tries))], axis=0
        )
        print(
            f"{'equal' if is_null else 'as they are':11} [0, {question.elo1:g}]: better"
            f" {better:.3f} after {length:.1f} blocks by margin, {wins_better:.3f} after"
            f" {wins_length:.1f} by wins: {wins_length / length:.2f} times",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
