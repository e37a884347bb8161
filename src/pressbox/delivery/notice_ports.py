"""What the sending of notices needs from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.delivery.domain.notices import NoticeText, Plan, Told
from pressbox.delivery.domain.quiet_hours import QuietHours
from pressbox.delivery.ports import Claim, ClaimedRows, OutgoingMessage


@dataclass(frozen=True)
class Reader:
    """To whom it is said, and the subject and name of what they follow; empty when it was told to them by name.

    `quiet` are their quiet hours, as far as they concern what is said.
    """

    user_id: int
    language: str
    because: str = ""
    because_subject: str = ""
    unread: int = 0
    quiet: QuietHours | None = None

    def quiet_until(self, now: datetime) -> datetime | None:
        return None if self.quiet is None else self.quiet.quiet_until(now)


@dataclass(frozen=True)
class PlannedSend:
    """A row of the ledger that this round holds, and what it says to its person."""

    delivery_id: int
    channel_key: str
    tries: int
    notice: NoticeText
    plan: Plan
    reader: Reader
    before: Told | None = None


@dataclass(frozen=True)
class NoticeMessage(OutgoingMessage):
    """A notice on its way. Browsers, which show more than a text, are given its parts."""

    notice: NoticeText | None = None
    plain_title: str = ""
    plain_body: str = ""
    is_withdrawn: bool = False
    unread: int = 0
    because: str = ""


class NoticeLedger(ClaimedRows, Protocol):
    async def claim_due(self, claim: Claim, limit: int) -> Sequence[PlannedSend]:
        """Hand out what may leave now and nobody else holds, decided by what each person may read at this moment.

        What nobody wants any more, and what would say nothing new, is settled without being handed out.
        """
        ...

    async def count_waiting(self) -> int:
        """How many are due now and held by nobody."""
        ...


class NoticeWording(Protocol):
    def write(self, item: PlannedSend, not_after: float) -> NoticeMessage:
        """The message in the language of its reader."""
        ...
