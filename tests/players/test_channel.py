"""Lines over real pipes, with deadlines."""

import os
import threading
import time

import pytest

from arena.players.channel import MAX_LINE, Channel, OutputEnded, Overflowed, SpokeUnasked, TimedOut

SECOND = 1_000_000_000


class Peer:
    """The bot's ends of the pipes."""

    def __init__(self):
        self.stdin, to_bot = os.pipe()
        from_bot, self.stdout = os.pipe()
        self.channel = Channel(to_bot, from_bot)
        self.threads = []

    def say(self, data):
        os.write(self.stdout, data)

    def say_later(self, *pieces, every_s=0.05):
        def run():
            for piece in pieces:
                time.sleep(every_s)
                os.write(self.stdout, piece)

        self.meanwhile(run)

    def meanwhile(self, run):
        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def hear(self):
        return os.read(self.stdin, 1 << 20)


@pytest.fixture
def peer():
    made = Peer()
    yield made
    for thread in made.threads:
        thread.join()
    made.channel.close()
    for descriptor in (made.stdin, made.stdout):
        try:
            os.close(descriptor)
        except OSError:
            pass


def soon(seconds=2.0):
    return time.monotonic_ns() + int(seconds * SECOND)


def test_a_request_goes_out_with_what_was_queued_and_the_reply_comes_back(peer):
    peer.channel.queue(b"one")
    peer.channel.queue(b"two")
    peer.say_later(b"answer\n")
    assert peer.channel.ask(b"three", soon()) == b"answer"
    assert peer.hear() == b"one\ntwo\nthree\n"


def test_a_reply_may_come_in_pieces_and_after_empty_lines(peer):
    peer.say_later(b"\n  \r\n{", b'"a"', b":1}\n", every_s=0.02)
    assert peer.channel.ask(b"?", soon()) == b'{"a":1}'


def test_two_lines_at_once_are_two_replies(peer):
    peer.say(b"first\nsecond\n")
    assert peer.channel.read_line(soon()) == b"first"
    assert peer.channel.read_line(soon()) == b"second"


def test_a_deadline_is_absolute_however_often_something_comes(peer):
    peer.say_later(*[b"x"] * 40, every_s=0.02)
    began = time.monotonic()
    with pytest.raises(TimedOut) as caught:
        peer.channel.ask(b"?", soon(0.2))
    assert time.monotonic() - began < 5
    assert set(caught.value.partial) == {ord("x")}


def test_what_is_there_at_the_deadline_counts(peer):
    peer.say(b"just in time\n")
    assert peer.channel.read_line(time.monotonic_ns() - SECOND) == b"just in time"


def test_the_end_of_output_is_told_after_what_came_before_it(peer):
    peer.say(b"last\nhalf")
    os.close(peer.stdout)
    assert peer.channel.read_line(soon()) == b"last"
    with pytest.raises(OutputEnded) as caught:
        peer.channel.read_line(soon())
    assert caught.value.partial == b"half"


def test_a_line_of_64_kib_is_taken_and_a_longer_one_is_not(peer):
    peer.meanwhile(lambda: os.write(peer.stdout, b"x" * MAX_LINE + b"\n" + b"y" * (MAX_LINE + 1)))
    assert len(peer.channel.read_line(soon())) == MAX_LINE
    with pytest.raises(Overflowed) as caught:
        peer.channel.read_line(soon())
    assert caught.value.one_line


def test_empty_lines_without_end_are_a_flood(peer):
    peer.meanwhile(lambda: os.write(peer.stdout, b"\n" * (MAX_LINE + 10)))
    with pytest.raises(Overflowed) as caught:
        peer.channel.read_line(soon())
    assert not caught.value.one_line


def test_a_line_that_waits_before_the_request_was_not_asked_for(peer):
    peer.say(b"first\nunasked\n")
    assert peer.channel.read_line(soon()) == b"first"
    with pytest.raises(SpokeUnasked) as caught:
        peer.channel.ask(b"?", soon())
    assert caught.value.line == b"unasked"
    assert not peer.channel.is_flooding()


def test_half_a_line_that_waits_may_be_the_start_of_the_answer(peer):
    peer.say(b"first\nsec")
    assert peer.channel.read_line(soon()) == b"first"
    peer.say_later(b"ond\n")
    assert peer.channel.ask(b"?", soon()) == b"second"


def test_a_bot_that_never_reads_cannot_block_the_arena(peer):
    peer.channel.queue(b"x" * 300_000)
    began = time.monotonic()
    with pytest.raises(TimedOut):
        peer.channel.ask(b"?", soon(0.2))
    assert time.monotonic() - began < 5
    assert peer.channel.unread_by_bot() > 299_000


def test_both_sides_may_write_more_than_a_pipe_holds(peer):
    def talk():
        os.write(peer.stdout, b"y" * 60_000)
        heard = 0
        while heard < 300_003:
            heard += len(peer.hear())
        os.write(peer.stdout, b"y\n")

    peer.meanwhile(talk)
    peer.channel.queue(b"x" * 300_000)
    assert len(peer.channel.ask(b"?", soon(20))) == 60_001


def test_a_bot_that_closed_its_input_can_still_answer(peer):
    os.close(peer.stdin)
    peer.say(b"answer\n")
    assert peer.channel.ask(b"?", soon()) == b"answer"
    assert not peer.channel.accepts_input
    peer.stdin = os.open(os.devnull, os.O_RDONLY)


def test_what_the_bot_has_read_is_not_unread(peer):
    with pytest.raises(TimedOut):
        peer.channel.ask(b"12345", soon(0.01))
    assert peer.channel.unread_by_bot() == 6
    peer.hear()
    assert peer.channel.unread_by_bot() == 0


def test_the_last_lines_both_ways_are_kept(peer):
    for number in range(60):
        peer.say(b"%d\n" % number)
        peer.channel.ask(b"?%d" % number, soon())
        peer.hear()
    kept = [(line.direction, line.text) for line in peer.channel.lines()]
    assert len(kept) == 40
    assert kept[-2:] == [("to", b"?59"), ("from", b"59")]


def test_closing_twice_does_no_harm(peer):
    peer.channel.close()
    peer.channel.close()
