"""Places a tile where there is no board."""

from polite import play, send

play(
    lambda message: send(
        type="move", id=message["id"], move=f"{message['hand'][0][0]}z25{message['hand'][0][1]}z26"
    )
)
