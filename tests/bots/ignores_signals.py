"""Ignores every signal that can be ignored, and stops answering."""

import signal
import time

from polite import play


def misbehave(message):
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(600)


play(misbehave)
