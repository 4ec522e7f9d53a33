"""Places a tile that is not in its hand."""

from polite import play, send

TILES = ("RR", "YY", "BB", "RY", "YB", "RB")


def misbehave(message):
    other = next(tile for tile in TILES if tile not in message["hand"])
    legal = message["legal"][0]
    send(
        type="move",
        id=message["id"],
        move=f"{other[0]}{legal[1 : len(legal) // 2]}{other[1]}{legal[len(legal) // 2 + 1 :]}",
    )


play(misbehave)
