"""Which kinds of notices there are of what people follow, so that they can choose among them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from pressbox.core.errors import InvalidInputError

# What people follow begins with a kick-off or the like: so long before it they are reminded unless they chose.
DEFAULT_REMINDERS = (timedelta(minutes=15),)
# What pages offer. Programs may ask for any time of these bounds.
OFFERED_REMINDERS = (
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(minutes=30),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(days=1),
)
SHORTEST_REMINDER, LONGEST_REMINDER = timedelta(minutes=1), timedelta(days=365)
MOST_REMINDERS = 10
# How many minutes after others somebody may want to hear of something: what pages offer, and the longest.
OFFERED_DELAYS = (0, 1, 2, 5, 10, 15, 30, 60, 180)
LONGEST_DELAY = 1_440


@dataclass(frozen=True)
class NoticeKind:
    """A kind of notice of the subjects that begin with `subjects`. Those that are not `by_default` have to be chosen.

    `note` says in a sentence what people should know before they choose it.
    """

    kind: str
    title: str
    subjects: str
    by_default: bool = True
    note: str = ""


class Offering(Protocol):
    """A manifest, as far as it offers something to follow."""

    @property
    def notice_kinds(self) -> Callable[[], Sequence[NoticeKind]]: ...

    @property
    def reminded_subjects(self) -> tuple[str, ...]: ...


def find_kinds(manifests: Iterable[Offering], subject: str) -> Sequence[NoticeKind]:
    """All kinds of notices that there are of a subject."""
    offered = (kind for manifest in manifests for kind in manifest.notice_kinds())
    return [kind for kind in offered if subject.startswith(kind.subjects)]


def can_remind(manifests: Iterable[Offering], subject: str) -> bool:
    return any(subject.startswith(manifest.reminded_subjects) for manifest in manifests)


def choose_kinds(offered: Sequence[NoticeKind], chosen: Collection[str]) -> Sequence[str] | None:
    """The chosen kinds in the order of the offer; None when they are those that are told by default anyway."""
    if strange := sorted(set(chosen) - {kind.kind for kind in offered}):
        raise InvalidInputError(f"There is no notice of this kind: {strange[0][:40]}.", field="kinds")
    kinds = [kind.kind for kind in offered if kind.kind in chosen]
    return None if kinds == [kind.kind for kind in offered if kind.by_default] else kinds


def choose_reminders(chosen: Collection[timedelta]) -> Sequence[int] | None:
    """The seconds of each, longest first; None when they are the default."""
    if len(chosen) > MOST_REMINDERS:
        raise InvalidInputError(f"At most {MOST_REMINDERS} reminders.", field="reminders")
    if any(not SHORTEST_REMINDER <= one <= LONGEST_REMINDER for one in chosen):
        raise InvalidInputError("A reminder is between 1 minute and 365 days before the start.", field="reminders")
    wanted = sorted(set(chosen), reverse=True)
    return None if tuple(wanted) == DEFAULT_REMINDERS else [int(one.total_seconds()) for one in wanted]


def choose_delay(minutes: int) -> int:
    if not 0 <= minutes <= LONGEST_DELAY:
        raise InvalidInputError(f"A delay has at most {LONGEST_DELAY} minutes.", field="delay_minutes")
    return minutes


@dataclass(frozen=True)
class OfferedKind:
    kind: str
    title: str
    note: str
    chosen: bool


@dataclass(frozen=True)
class OfferedReminder:
    seconds: int
    chosen: bool


@dataclass(frozen=True)
class OfferedDelay:
    minutes: int
    chosen: bool


@dataclass(frozen=True)
class Offer:
    """What somebody can choose of a follow, with what they chose. No reminders: nobody reminds of such a subject."""

    kinds: Sequence[OfferedKind]
    reminders: Sequence[OfferedReminder]
    delays: Sequence[OfferedDelay]


class Chosen(Protocol):
    """A follow, as far as it was chosen what is heard of it."""

    @property
    def subject(self) -> str: ...

    @property
    def kinds(self) -> Sequence[str] | None: ...

    @property
    def reminders(self) -> Sequence[int] | None: ...

    @property
    def delay_minutes(self) -> int: ...


def offer_choices(manifests: Sequence[Offering], follow: Chosen) -> Offer:
    """A time that a program chose is offered beside those that pages have."""
    kinds = [
        OfferedKind(one.kind, one.title, one.note, one.by_default if follow.kinds is None else one.kind in follow.kinds)
        for one in find_kinds(manifests, follow.subject)
    ]
    own = [int(one.total_seconds()) for one in DEFAULT_REMINDERS] if follow.reminders is None else follow.reminders
    times = sorted({int(one.total_seconds()) for one in OFFERED_REMINDERS} | set(own))
    reminders = [OfferedReminder(seconds, seconds in own) for seconds in times]
    later = sorted({*OFFERED_DELAYS, follow.delay_minutes})
    delays = [OfferedDelay(minutes, minutes == follow.delay_minutes) for minutes in later]
    return Offer(kinds, reminders if can_remind(manifests, follow.subject) else (), delays)
