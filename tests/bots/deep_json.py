"""Sends JSON nested thirty thousand deep, in a field that nobody asked for."""

from polite import play


def misbehave(message):
    depth = 30_000
    tree = "[" * depth + "]" * depth
    print(
        f'{{"type":"move","id":{message["id"]},"move":"{message["legal"][0]}","tree":{tree}}}',
        flush=True,
    )


play(misbehave)
