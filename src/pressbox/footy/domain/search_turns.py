"""How often one account may search X: a number in a quarter of an hour, and less after a refusal. Pure."""

from datetime import datetime, timedelta

from pressbox.core.contracts import Contract

WINDOW = timedelta(minutes=15)
FIRST_PAUSE = timedelta(minutes=1)
URGENT_SHARE = 1 / 3


class SearchTurns(Contract):
    """The searches of one account within the window, oldest first, and what it was refused."""

    taken: tuple[datetime, ...] = ()
    refused_until: datetime | None = None
    next_pause: timedelta = FIRST_PAUSE


def take_turn(
    turns: SearchTurns, most: int, now: datetime, *, urgent: bool = True
) -> tuple[SearchTurns, timedelta | None]:
    """Take one search; or return how long to wait for the next one. A part is kept for those that are urgent."""
    if not urgent:
        most = max(1, most - round(most * URGENT_SHARE))
    taken = tuple(at for at in turns.taken if now - at < WINDOW)
    turns = turns.model_copy(update={"taken": taken})
    if turns.refused_until is not None and now < turns.refused_until:
        return turns, turns.refused_until - now
    if len(taken) >= most:
        return turns, taken[-most] + WINDOW - now
    return turns.model_copy(update={"taken": (*taken, now)}), None


def note_refusal(turns: SearchTurns, now: datetime, asked: timedelta | None = None) -> tuple[SearchTurns, timedelta]:
    """X refused: wait as long as it asks for, or else twice as long each time, up to the whole window."""
    wait = turns.next_pause if asked is None else min(asked, WINDOW)
    longer = min(turns.next_pause * 2, WINDOW)
    return turns.model_copy(update={"refused_until": now + wait, "next_pause": longer}), wait


def note_success(turns: SearchTurns) -> SearchTurns:
    return turns.model_copy(update={"next_pause": FIRST_PAUSE})
