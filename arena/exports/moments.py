"""The moments that decided a game for one of its players, in words: the player's costliest moves
by a judge's grades, what happened with each, and who won by how much.

Everything follows from the record and the grades, so these words can be made at any time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from arena.errors import ArenaError
from arena.exports.effects import LAST, SINGLE, Effect, colours_of, effects_of, takes_back
from arena.exports.grid import counted
from arena.exports.text import seat_names
from arena.exports.winners import lag_of, lead_of, names_of, winners_of
from arena.match.chances import Sources
from arena.match.replay import positions, retire_faulty
from arena.records.grades import Grade
from arena.records.record import DUEL, FORFEIT, GameRecord
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, parse_move, play_text

MAX_MOMENTS = 3
"""The most moments that are told of a game."""
COSTLY = 0.05
"""A move counts as costly if it cost at least this share of the win, and more than the error of
that figure.
"""
STEP = 5
"""Shares of the win that were estimated with large errors are rounded to this many percent."""
NUMBERS = ("no", "one", "two", "three")
PLACES = ("first", "second", "third", "last")


class Moment(NamedTuple):
    """A costly move of a player.

    ``step``    the number of moves before it, including passes
    ``turn``    the number of tiles on the board before it
    ``title``   what happened, in a few words; they do not say which move was better
    ``words``   more about it, a sentence; may be empty
    ``before``  the player's share of the win, 0 to 1, with the better move
    ``after``   the share of the win after the move that was played
    ``played``, ``better``  the texts of both moves
    ``reason``  the colours of the better tile and what it does, such as ``red and blue: a village``
    """

    step: int
    turn: int
    title: str
    words: str
    before: float
    after: float
    played: str
    better: str
    reason: str

    @property
    def shown(self) -> dict[str, int | float | str]:
        """What a page may show before the player has tried to find the better move."""
        return {
            "step": self.step,
            "turn": self.turn,
            "title": self.title,
            "words": self.words,
            "before": self.before,
            "after": self.after,
            "played": self.played,
        }


class _Caption(NamedTuple):
    """A title and a sentence about a move."""

    title: str
    words: str


class _Reply(NamedTuple):
    """A move that another seat made after the player's move: its text, its seat, what it did."""

    text: str
    seat: int
    effects: list[Effect]


def is_costly(grade: Grade) -> bool:
    """Whether a move cost enough for the page to show it as a moment; ``grade`` is its grade."""
    return grade.cost >= COSTLY and grade.cost > grade.error


def moments_of(
    record: GameRecord, board: Board, seat: int, grades: Mapping[int, Grade]
) -> list[Moment]:
    """The costliest moves of the player at ``seat`` in the game of ``record``, played on ``board``,
    as moments in the order of the game: at most `MAX_MOMENTS`, and none that is not costly, see
    `is_costly`. ``grades`` has the grades of that player's moves by turn. Raises ArenaError if the
    record does not follow from its deck and moves.
    """
    own = [grade for grade in grades.values() if grade.seat == seat]
    costly = sorted(filter(is_costly, own), key=lambda grade: (-grade.cost, grade.turn))
    chosen = {grade.turn: grade for grade in costly[:MAX_MOMENTS]}
    names = seat_names(record.bots)
    moments = list[Moment]()
    for step, (state, text) in enumerate(positions(record, board)):
        if text == PASSED or state.turns not in chosen:
            continue
        grade = chosen[state.turns]
        story = _story_of(record, state.copy(), step, names, grade)
        better = parse_move(board, grade.better)
        brief = effects_of(state, better, names, seat).brief
        moments.append(
            Moment(
                step=step,
                turn=state.turns,
                title=story.title,
                words=story.words,
                before=min(1.0, grade.win + grade.cost),
                after=grade.win,
                played=grade.played,
                better=grade.better,
                reason=f"{colours_of(board, better)}: {brief}",
            )
        )
    return moments


def _story_of(
    record: GameRecord, state: State, step: int, names: Sequence[str], grade: Grade
) -> _Caption:
    """What happened with the graded move, the entry with the index ``step`` of the moves of
    ``record``, which was played in ``state``: what it gave to others, or what the others then took,
    if the better move would have prevented it; or else that it did nothing.
    """
    seat = grade.seat
    played = effects_of(state, parse_move(state.board, grade.played), names, seat).effects
    better = effects_of(state, parse_move(state.board, grade.better), names, seat).effects
    prevented = _kinds_by_seat(better)
    gifts = [one for one in played if (one.kind, one.seat) not in prevented]
    for kind in ("major", "absorb", "conquer", "connect"):
        for effect in gifts:
            if effect.kind == kind and effect.seat != seat:
                return _gift(effect, played, names, seat)
    replies = list(_replies(record, state, step, names))
    for reply in replies:
        story = _loss(reply, names, seat)
        if story and not _could_reply(record, state, grade, replies, reply, names):
            return story
    for effect in gifts:
        if effect.kind == "expand" and effect.seat != seat:
            return _Caption(f"You enlarged {names[effect.seat]}'s province", effect.words)
    if played[0].kind == SINGLE:
        return _Caption("Your tile founded nothing", "No pagoda was placed.")
    return _Caption("You had a better move", f"You played: {played[0].words}")


def _gift(effect: Effect, played: Sequence[Effect], names: Sequence[str], seat: int) -> _Caption:
    """What the player at ``seat`` gave to the owner of ``effect``, one of the effects of the move
    that was ``played``.
    """
    rival = names[effect.seat]
    has_lost = takes_back(played, seat)
    titles = {
        "major": f"You made {rival}'s province safe",
        "absorb": f"You let {rival} swallow your province"
        if has_lost
        else f"You joined provinces for {rival}",
        "conquer": f"You gave {rival} a village",
        "connect": f"You gave {rival} a village",
    }
    why = f" {effect.why}" if effect.why else ""
    return _Caption(titles[effect.kind], f"{effect.words}{why}")


def _replies(record: GameRecord, state: State, step: int, names: Sequence[str]) -> Iterator[_Reply]:
    """The moves of the other seats between the player's move, which has the index ``step`` in
    ``record`` and was played in ``state``, and the player's next turn.
    """
    after = state.copy()
    seat = state.mover
    play_text(after, record.moves[step])
    for text in record.moves[step + 1 :]:
        retire_faulty(after, record.faults)
        if after.mover == seat:
            return
        mover = after.mover
        move = parse_move(after.board, text)
        yield _Reply(text, mover, effects_of(after, move, names, seat).effects)
        after.play(move)


def _loss(reply: _Reply, names: Sequence[str], seat: int) -> _Caption | None:
    """What the player at ``seat`` lost by this reply; None if nothing that is worth telling."""
    rival = names[reply.seat]
    has_lost = takes_back(reply.effects, seat)
    for effect in reply.effects:
        if effect.kind == LAST:
            return _Caption(f"You let {rival} end the game", effect.words)
        if effect.kind == "conquer" and effect.brief == "a village from you":
            return _Caption("You left your village open", f"{rival} took it with the next tile.")
        if effect.kind == "connect" and effect.seat == reply.seat:
            return _Caption("You left a village open", f"{rival} took it with the next tile.")
        if effect.kind == "absorb" and effect.seat == reply.seat and has_lost:
            return _Caption("You left your province open", f"{rival} swallowed it. {effect.words}")
    return None


def _could_reply(
    record: GameRecord,
    state: State,
    grade: Grade,
    replies: Sequence[_Reply],
    reply: _Reply,
    names: Sequence[str],
) -> bool:
    """Whether ``reply`` would have been possible, with the same effects, had the better move of
    ``grade`` been played in ``state`` and then the ``replies`` before it.
    """
    after = state.copy()
    try:
        play_text(after, grade.better)
        for earlier in takewhile(lambda other: other is not reply, replies):
            retire_faulty(after, record.faults)
            play_text(after, earlier.text)
        move = parse_move(after.board, reply.text)
        if not after.is_legal(move):
            return False
        effects = effects_of(after, move, names, grade.seat).effects
    except ArenaError:
        return False
    return _kinds_by_seat(reply.effects) <= _kinds_by_seat(effects)


def _kinds_by_seat(effects: Iterable[Effect]) -> set[tuple[str, int]]:
    """The kind and the seat of each of the ``effects``."""
    return {(effect.kind, effect.seat) for effect in effects}


def headline(record: GameRecord, seat: int, moments: int | None = None) -> str:
    """The headline of the game of ``record`` for the player at ``seat``: who won and by how much,
    then how many costly moves of that player (``moments``, 0 to 3) made it so; None leaves the
    second part out.
    """
    result = _result(record, seat)
    if moments is None:
        return result
    count = NUMBERS[moments]
    subject = f"{count.capitalize()} move{'' if moments == 1 else 's'}"
    is_alone = winners_of(record) == [seat]
    if not moments:
        what = "No move of yours cost much" if is_alone else "No single move made it so"
    elif is_alone:
        what = f"{subject} could have cost it"
    else:
        what = f"{subject} made it so"
    return f"{result} {what}."


def _result(record: GameRecord, seat: int) -> str:
    """A sentence for the player at ``seat``: who won the game of ``record``, and by how much."""
    winners = winners_of(record)
    if winners == [seat]:
        if record.end == FORFEIT:
            return "You won: nobody else was left in the game."
        lead = lead_of(record, seat)
        return f"You won{_by(lead)}."
    others = _other_winners(record, seat)
    if seat in winners:
        return f"You and {others} share the win."
    lag = lag_of(record, seat)
    pagodas = counted(lag, "pagoda")
    if len(winners) > 1:
        return f"{others} share the win, {pagodas} ahead of you."
    players = len(record.bots)
    if players == DUEL:
        return f"{others} won{_by(lag)}."
    rank = record.ranks[seat]
    place = "last" if rank == players else PLACES[rank - 1]
    return f"{others} won; you came {place}, {pagodas} behind."


def _other_winners(record: GameRecord, seat: int) -> str:
    """The names of the seats that won the game of ``record``, without ``seat``."""
    return names_of(record, [winner for winner in winners_of(record) if winner != seat])


def title_of(record: GameRecord, seat: int) -> str:
    """The game of ``record`` in a few words for a heading, from the view of the player at ``seat``:
    "You lost to careful by 19 pagodas". Whoever forfeits has lost, whatever pagodas they had left.
    """
    winners = winners_of(record)
    if winners == [seat]:
        rivals = seat_names(record.bots)
        del rivals[seat]
        everyone = " and ".join(", ".join(rivals).rsplit(", ", 1))
        if record.end == FORFEIT:
            return f"You won: {everyone} forfeited"
        lead = lead_of(record, seat)
        return f"You won against {everyone}{_by(lead)}"
    others = _other_winners(record, seat)
    if seat in winners:
        return f"You shared the win with {others}"
    lag = lag_of(record, seat)
    return f"You lost to {others}{_by(lag)}"


def _by(pagodas: int) -> str:
    """By how many ``pagodas`` a game was won, such as `` by 5 pagodas``; empty without a lead."""
    return f" by {counted(pagodas, 'pagoda')}" if pagodas > 0 else ""


def sources_text(sources: Sources, names: Sequence[str], seat: int) -> str:
    """A sentence on where the result of the player at ``seat`` came from: the player's mistakes,
    the moves of the others, and the tiles. ``sources`` has these parts as shares of the win;
    ``names`` are the names of the seats.
    """
    rivals = [f"{name}'s" for other, name in enumerate(names) if other != seat]
    their = rivals[0] if len(rivals) == 1 else "the others'"
    # Mistakes gain nothing: a share above zero is the error of the judge's estimates.
    parts = (
        _part("your mistakes", min(sources.own, 0.0), "gained", "cost"),
        _part(f"{their} moves", sources.rivals, "gave you", "took"),
        _part("the tiles", sources.tiles, "gave you", "took"),
    )
    return f"From an even chance of winning at the start, {parts[0]}, {parts[1]}, and {parts[2]}."


def _part(what: str, share: float, gained: str, lost: str) -> str:
    """What ``what`` contributed to the chance of winning, such as ``the tiles took about 10 %``.
    ``share``, from -1 to 1, decides between the words ``gained`` (above 0) and ``lost``.
    """
    percent = STEP * round(100 * abs(share) / STEP)
    if not percent:
        return f"{what} changed little"
    return f"{what} {gained if share > 0 else lost} about {percent} %"
