from arena.players.channel import Told

def exchange(
    to_bot: int, from_bot: int, lines: bytes, deadline_ns: int, counter: int, /
) -> Told: ...
