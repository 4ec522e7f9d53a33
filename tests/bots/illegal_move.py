"""Places its tile on a start."""

from polite import play, send


def misbehave(message):
    rows = message["position"]["rows"]
    row = next(number for number, text in enumerate(rows) if "R" in text)
    column = rows[row].index("R")
    tile, left = message["hand"][0], column > 0
    first, second = chr(97 + column - left), chr(98 + column - left)
    send(type="move", id=message["id"], move=f"{tile[0]}{first}{row + 1}{tile[1]}{second}{row + 1}")


play(misbehave)
