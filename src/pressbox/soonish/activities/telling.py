"""Tells an event's workflow what is in the outbox: each row by one teller at a time, and sign-ups in bulk."""

from collections.abc import Sequence
from datetime import timedelta

from pressbox.soonish.contracts import OutboxEntry, ParticipantAdded, ParticipantChanged, ParticipantRemoved
from pressbox.soonish.domain.reminders import EVERYBODY
from pressbox.soonish.ports import Outbox, Workflows

# A teller that dies holds up its event for so long.
LEASE = timedelta(seconds=15)
PAGE = 500
# More sign-ups than this are told as one: the workflow then compares the schedules of everybody.
MOST_SINGLE = 20
_SIGN_UPS = (ParticipantAdded, ParticipantChanged, ParticipantRemoved)


class Teller:
    def __init__(self, outbox: Outbox, workflows: Workflows) -> None:
        self._outbox = outbox
        self._workflows = workflows

    async def tell(self, event_id: int) -> int:
        """Tell everything in order, messages before sign-ups; return how many rows that were.

        While somebody else tells this event it does nothing: they look again before they end.
        """
        told = 0
        await self._outbox.settle(event_id)
        while rows := await self._outbox.claim(event_id, LEASE, PAGE):
            told += await self._tell_page(event_id, rows)
        return told

    async def _tell_page(self, event_id: int, rows: Sequence[OutboxEntry]) -> int:
        sign_ups = [row for row in rows if isinstance(row, _SIGN_UPS)]
        others = [row for row in rows if not isinstance(row, _SIGN_UPS)]
        done: list[int] = []
        try:
            for row in others:
                await self._workflows.signal_event(event_id, [row])
                done.append(row.outbox_id)
            if len(sign_ups) > MOST_SINGLE:
                everybody = ParticipantChanged(outbox_id=sign_ups[-1].outbox_id, subscription_id=EVERYBODY)
                await self._workflows.signal_event(event_id, [everybody])
                done += [row.outbox_id for row in sign_ups]
            else:
                for one in sign_ups:
                    await self._workflows.signal_event(event_id, [one])
                    done.append(one.outbox_id)
        finally:
            # Also after a failure: what was told is told, and the rest is free for the next teller.
            await self._outbox.mark_sent(done)
            if left := [row.outbox_id for row in rows if row.outbox_id not in set(done)]:
                await self._outbox.release(left)
        return len(done)
