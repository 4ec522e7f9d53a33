"""A game against bots on a page, as the browser that shows it would play it."""

import json
from contextlib import contextmanager


class Game:
    """A game as its page sees it. ``told`` is all that came, as text."""

    def __init__(self, server, address):
        self.server, self.address, self.told = server, address, []
        self._moved_at = None

    def post(self, what, **ask):
        status, _, text = self.server.ask(
            f"{self.address}/{what}", "POST", json.dumps(ask).encode(), cookie=self.server.cookie
        )
        # Until the game's thread has played a move, its view is the one before the move.
        if what in ("move", "undo") and status == 200:
            self._moved_at = ask["steps"] if what == "move" else None
        return status, json.loads(text)

    @contextmanager
    def events(self):
        """The views, one after the other."""
        with self.server.raw() as connection:
            connection.sendall(
                f"GET {self.address}/events HTTP/1.1\r\nhost: 127.0.0.1:{self.server.port}\r\n"
                f"cookie: {self.server.cookie}\r\n\r\n".encode()
            )
            yield self._views(connection.makefile("rb"))

    def _views(self, lines):
        for line in lines:
            if line.startswith(b"data: "):
                self.told.append(line.decode())
                yield json.loads(line[len(b"data: ") :])

    def view(self):
        """The present state, as a page that has just been opened gets it."""
        with self.events() as views:
            return next(views)

    def play(self, choose=lambda view: view["legal"][0], until=lambda view: False):
        """Plays until the game is over; returns the last view."""
        with self.events() as views:
            for view in views:
                if view["state"] == "yours" and view["count"] == self._moved_at:
                    continue
                if view["state"] in ("over", "broken") or until(view):
                    return view
                if view["state"] == "yours":
                    assert self.post("move", move=choose(view), steps=view["count"])[0] == 200
        raise AssertionError("the events ended")

    def costly_move(self, view):
        """The first move before which the server cautions the person in ``view``, and the caution.
        With the seed "caution" Bk6Bk7 costs much; should the judge change, another move will.
        """
        likely = [move for move in view["legal"] if move == "Bk6Bk7"]
        for move in [*likely, *view["legal"]]:
            status, reply = self.post("caution", move=move, steps=view["count"])
            assert status == 200
            if reply["answer"]:
                return move, reply["answer"]
        raise AssertionError("no move costs much")

    def leave(self):
        """Gives the game up; returns the last view."""
        assert self.post("leave", steps=0)[0] == 200
        with self.events() as views:
            return next(view for view in views if view["state"] in ("over", "broken"))


def begin(server, **wanted):
    body = json.dumps(wanted).encode()
    status, _, text = server.ask("/play", "POST", body, cookie=server.cookie)
    reply = json.loads(text)
    assert status == 200, reply
    return Game(server, reply["address"])
