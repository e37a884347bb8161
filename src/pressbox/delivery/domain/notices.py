"""What one person is told of a notice by one way, seen from what they were told before. Pure."""

from dataclasses import dataclass
from enum import StrEnum

CURRENT, WITHDRAWN = "current", "withdrawn"
PUSH = "push:"


@dataclass(frozen=True)
class Told:
    """What somebody was told, or may have been told. `gist` is what would be wrong to leave as it is."""

    version: str
    title: str
    gist: str
    state: str


@dataclass(frozen=True)
class NoticeText:
    """A notice in the English words that one person may read now."""

    id: int
    key: str
    application: str
    subject: str
    heading: str
    title: str
    detail: str
    path: str
    picture: str
    # The whole of it, in the reader's language already; empty where the detail says all.
    body: str = ""


class Form(StrEnum):
    """NEWS says what happened, CORRECTION what is true instead, WITHDRAWAL that it did not happen after all."""

    NEWS = "news"
    CORRECTION = "correction"
    WITHDRAWAL = "withdrawal"


@dataclass(frozen=True)
class Plan:
    form: Form
    told: Told


class Untold(StrEnum):
    """WITHDRAWN: it was taken back before anybody was told. NOTHING_NEW: the person knows it already."""

    WITHDRAWN = "withdrawn"
    NOTHING_NEW = "nothing_new"


def plan_send(now: Told, channel_key: str, before: Told | None, cut_off: Told | None = None) -> Plan | Untold:
    """Decide what is sent, from what may be read now and what was told `before` by the same way.

    `cut_off` is what a try said that nobody knows the end of: the person may have been told so.
    """
    if before is None:
        if now.state != WITHDRAWN:
            return Plan(Form.NEWS, now)
        return Untold.WITHDRAWN if cut_off is None or cut_off.state == WITHDRAWN else Plan(Form.WITHDRAWAL, now)
    if cut_off is None and not _matters(now, before, channel_key):
        return Untold.NOTHING_NEW
    if now.state == WITHDRAWN:
        return Plan(Form.WITHDRAWAL, now)
    # A push takes the place of the one before it: it says the whole thing.
    return Plan(Form.NEWS if channel_key.startswith(PUSH) else Form.CORRECTION, now)


def _matters(now: Told, before: Told, channel_key: str) -> bool:
    """A push is replaced by whatever is new; other ways are used again only when what they said is wrong."""
    if channel_key.startswith(PUSH):
        return now.version != before.version
    return (now.state, now.gist) != (before.state, before.gist)
