"""Takes 200 MB, which is more than its bot.toml allows."""

import time

from polite import play


def misbehave(message):
    globals()["table"] = b"x" * 200_000_000
    time.sleep(600)


play(misbehave)
