"""Lines over real pipes, with deadlines."""

import os
import signal
import sys
import threading
import time

import pytest

from arena.errors import UserError
from arena.players.channel import (
    MAX_LINE,
    Channel,
    Flooded,
    LongLine,
    OutputEnded,
    SpokeUnasked,
    TimedOut,
    chosen,
)

SECOND = 1_000_000_000
EXCHANGES = {"python": None}
try:
    from arena.players.native import exchange

    EXCHANGES["native"] = exchange
except ImportError:
    if os.environ.get("ARENA_CHANNEL") == "native":
        raise


class Peer:
    """The bot's ends of the pipes."""

    def __init__(self, exchange, tap=None):
        self.stdin, to_bot = os.pipe()
        from_bot, self.stdout = os.pipe()
        self.channel = Channel(to_bot, from_bot, exchange, tap)
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


@pytest.fixture(name="exchange", params=sorted(EXCHANGES))
def exchange_in_use(request):
    return EXCHANGES[request.param]


@pytest.fixture
def peer(exchange):
    made = Peer(exchange)
    yield made
    for thread in made.threads:
        thread.join()
    made.channel.close()
    for descriptor in (made.stdin, made.stdout):
        try:
            os.close(descriptor)
        except OSError:
            pass


def soon(seconds=60.0):
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
    over = threading.Event()

    def drip():
        while not over.wait(0.02):
            peer.say(b"x")

    peer.meanwhile(drip)
    with pytest.raises(TimedOut) as caught:
        peer.channel.ask(b"?", soon(0.2))
    over.set()
    assert set(caught.value.partial) <= {ord("x")}


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
    with pytest.raises(LongLine):
        peer.channel.read_line(soon())


def test_empty_lines_without_end_are_a_flood(peer):
    peer.meanwhile(lambda: os.write(peer.stdout, b"\n" * (MAX_LINE + 10)))
    with pytest.raises(Flooded):
        peer.channel.read_line(soon())


def test_a_line_that_waits_before_the_request_was_not_asked_for(peer):
    peer.say(b"first\nunasked\n")
    assert peer.channel.read_line(soon()) == b"first"
    with pytest.raises(SpokeUnasked) as caught:
        peer.channel.ask(b"?", soon())
    assert caught.value.partial == b"unasked"
    assert not peer.channel.is_flooding([soon(0.01)])


def test_unasked_lines_are_a_flood_as_soon_as_there_are_more_than_64_kib_of_them(peer):
    peer.meanwhile(lambda: os.write(peer.stdout, b"unasked\n" * (MAX_LINE // 8 + 1)))
    assert peer.channel.is_flooding([soon(20)])


def test_a_tap_hears_all_lines_in_both_directions_and_what_was_never_read(exchange):
    heard = []
    peer = Peer(exchange, lambda *said, unread=False: heard.append((*said[:2], unread)))
    peer.channel.queue(b"one")
    peer.say(b"answer\n")
    peer.channel.ask(b"two", soon())
    peer.channel.queue(b"three")
    peer.channel.flush()
    peer.say(b"unread\nhalf")
    peer.channel.close()
    assert heard == [
        ("to", b"one\ntwo\n", False),
        ("from", b"answer", False),
        ("to", b"three\n", False),
        ("from", b"unread\nhalf", True),
    ]
    assert [text for _, text, _ in peer.channel.lines()] == [b"one", b"two", b"answer", b"three"]
    os.close(peer.stdin)
    os.close(peer.stdout)


def test_a_channel_can_be_given_its_way_of_writing():
    stdin, to_bot = os.pipe()
    from_bot, stdout = os.pipe()
    sizes = []

    def write_one_byte(descriptor, data):
        sizes.append(len(data))
        return os.write(descriptor, data[:1])

    channel = Channel(to_bot, from_bot, exchange=None, write=write_one_byte)
    os.write(stdout, b"answer\n")
    assert channel.ask(b"two", soon()) == b"answer"
    assert (os.read(stdin, 100), sizes) == (b"two\n", [4, 3, 2, 1])
    channel.close()
    os.close(stdin)
    os.close(stdout)


def test_half_a_line_that_waits_may_be_the_start_of_the_answer(peer):
    peer.say(b"first\nsec")
    assert peer.channel.read_line(soon()) == b"first"
    peer.say_later(b"ond\n")
    assert peer.channel.ask(b"?", soon()) == b"second"


def test_a_bot_that_never_reads_cannot_block_the_arena(peer):
    peer.channel.queue(b"x" * 300_000)
    with pytest.raises(TimedOut):
        peer.channel.ask(b"?", soon(0.2))
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
    kept = [line[:2] for line in peer.channel.lines()]
    assert len(kept) == 40
    assert kept[-2:] == [("to", b"?59"), ("from", b"59")]


def test_closing_twice_does_no_harm(peer):
    peer.channel.close()
    peer.channel.close()


@pytest.mark.parametrize(
    ("said", "replies"),
    [
        (b"one\n", [b"one"]),
        (b" one\n", [b" one"]),
        (b"one\r\n", [b"one\r"]),
        (b"\none\n", [b"one"]),
        (b"\t\n\x0b\none\n\n", [b"one"]),
        (b"one\ntwo\n", [b"one", b"two"]),
        (b"one\ntwo", [b"one"]),
        (b"\x00\xff\n", [b"\x00\xff"]),
        (b"\x1c\n", [b"\x1c"]),
        (b"x" * 8191 + b"\n", [b"x" * 8191]),
        (b"x" * 8192 + b"\n", [b"x" * 8192]),
        (b"x" * 20_000 + b"\n", [b"x" * 20_000]),
    ],
)
def test_whatever_is_said_is_read_as_lines_that_are_not_blank(peer, said, replies):
    peer.say(said)
    assert [
        peer.channel.ask(b"?", soon()),
        *(peer.channel.read_line(soon()) for _ in replies[1:]),
    ] == replies
    assert [text for way, text, _ in peer.channel.lines() if way == "from"] == replies


def test_a_request_is_noted_before_its_reply_and_after_the_lines_that_went_with_it(peer):
    before = time.monotonic_ns()
    peer.channel.queue(b"one")
    peer.say(b"answer\n")
    peer.channel.ask(b"two", soon())
    lines = peer.channel.lines()
    assert [line[:2] for line in lines] == [("to", b"one"), ("to", b"two"), ("from", b"answer")]
    times = [before, *(at_ns for _, _, at_ns in lines), time.monotonic_ns()]
    assert times == sorted(times)


def test_a_request_that_gets_no_answer_is_noted_too(peer):
    with pytest.raises(TimedOut):
        peer.channel.ask(b"?", soon(0.01))
    assert [line[:2] for line in peer.channel.lines()] == [("to", b"?")]


def test_a_late_answer_is_got_by_going_on(peer):
    with pytest.raises(TimedOut) as caught:
        peer.channel.ask(b"?", soon(0.01))
    assert caught.value.partial == b""
    peer.say(b"late\n")
    assert peer.channel.go_on(soon()) == b"late"
    assert peer.hear() == b"?\n"


def test_the_end_of_output_instead_of_an_answer_is_told(peer):
    os.close(peer.stdout)
    with pytest.raises(OutputEnded):
        peer.channel.ask(b"?", soon())


def test_once_the_input_is_closed_nothing_is_written_to_what_has_its_number_now(peer, tmp_path):
    number = peer.channel._to_bot
    with (tmp_path / "other").open("wb") as other:
        peer.channel.close_input()
        os.dup2(other.fileno(), number)
    peer.say(b"answer\n")
    assert peer.channel.ask(b"?", soon()) == b"answer"
    os.close(number)
    assert not (tmp_path / "other").stat().st_size


def test_a_signal_that_comes_during_the_wait_is_handled_at_once_and_the_wait_goes_on(peer):
    heard = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.set())

    def answer_once_it_is_handled():
        peer.hear()
        time.sleep(0.1)  # nothing shows when the wait for the answer begins
        os.kill(os.getpid(), signal.SIGUSR1)
        assert heard.wait(60)
        peer.say(b"answer\n")

    try:
        peer.meanwhile(answer_once_it_is_handled)
        assert peer.channel.ask(b"?", soon(120)) == b"answer"
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_handler_that_raises_ends_the_wait(peer):
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)

    def interrupt():
        peer.hear()
        time.sleep(0.1)  # nothing shows when the wait for the answer begins
        os.kill(os.getpid(), signal.SIGUSR1)

    try:
        peer.meanwhile(interrupt)
        with pytest.raises(KeyboardInterrupt):
            peer.channel.ask(b"?", soon(20))
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_other_threads_run_during_the_wait(peer):
    peer.meanwhile(lambda: peer.say(b"%s\n" % peer.hear().strip()))
    assert peer.channel.ask(b"echo", soon(20)) == b"echo"


@pytest.mark.parametrize("said", [b"answer\n", b"\nanswer\n"])
def test_the_counter_is_read_with_every_reply(exchange, said):
    counter, adds = os.pipe()
    peer = Peer(exchange)
    peer.channel.counter = counter
    assert peer.channel.counted == -1
    for number in (0, 7, 2**62):
        os.write(adds, number.to_bytes(8, sys.byteorder))
        peer.say(said)
        peer.channel.ask(b"?", soon())
        assert peer.channel.counted == number
    with pytest.raises(TimedOut):
        peer.channel.ask(b"?", soon(0.01))
    assert peer.channel.counted == 2**62
    peer.channel.close()
    for descriptor in (counter, adds, peer.stdin, peer.stdout):
        os.close(descriptor)


def test_a_counter_that_fails_is_an_error_and_loses_no_reply(exchange, refused):
    peer = Peer(exchange)
    peer.channel.counter = 1_000_000
    peer.say(b"answer\n")
    with refused(OSError):
        peer.channel.ask(b"?", soon())
    assert peer.channel.lines()[-1][1] == b"answer"
    peer.channel.close()
    os.close(peer.stdin)
    os.close(peer.stdout)


def test_what_goes_into_the_native_exchange_has_to_be_of_the_right_kind():
    native = EXCHANGES.get("native") or pytest.skip("the native channel is not built")
    for wrong in [
        (),
        (1, 2),
        (1, 2, "text", 3, 4),
        (1, "2", b"", 3, 4),
        (2**80, 1, b"", 3, 4),
        (1, 2, b"", 2**80, 4),
    ]:
        with pytest.raises((TypeError, OverflowError)):
            native(*wrong)


def test_the_native_exchange_takes_no_number_for_the_remainder_that_fits():
    native = EXCHANGES.get("native") or pytest.skip("the native channel is not built")
    reading, writing = os.pipe()
    try:
        for large in (2**40 + writing, 2**80, -(2**40) + writing, -2):
            said = f"expected a file descriptor from -1 to {2**31 - 1}, got {large}"
            for descriptors in (
                (large, reading, -1),
                (writing, large, -1),
                (writing, reading, large),
            ):
                to_bot, from_bot, counter = descriptors
                with pytest.raises(OverflowError, match=said):
                    native(to_bot, from_bot, b"line", 0, counter)
        os.set_blocking(reading, False)
        with pytest.raises(BlockingIOError):
            os.read(reading, 1)
    finally:
        os.close(reading)
        os.close(writing)


def test_the_exchange_can_be_chosen(refused):
    assert chosen("python") is None
    assert chosen("") is EXCHANGES.get("native")
    with refused(UserError):
        chosen("quick")


def test_a_native_channel_that_is_asked_for_and_missing_is_an_error(monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "arena.players.native", None)
    assert chosen("") is None
    with refused(UserError):
        chosen("native")
