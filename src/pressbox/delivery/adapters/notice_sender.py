"""The Sender port for notices: to browsers by push, to everything else as messages are sent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from pressbox.core.errors import PermanentError, RateLimitedError, TransientError
from pressbox.delivery.adapters.address_book import AddressBook, UnwantedError, row_ids
from pressbox.delivery.adapters.gathered import Gathered
from pressbox.delivery.adapters.routing_sender import TOO_LATE, RoutingSender
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.domain.notices import PUSH
from pressbox.delivery.notice_ports import NoticeMessage
from pressbox.delivery.ports import Attempt, OutgoingMessage, SendNow
from pressbox.delivery.push.message import PushAction, PushActionKind, PushMessage
from pressbox.delivery.push.sender import PushGoneError, PushSender
from pressbox.delivery.push.store import PushStore

GONE = "This browser no longer takes messages."


class NoticeSender:
    def __init__(self, routes: RoutingSender, book: AddressBook, push: PushSender, browsers: PushStore) -> None:
        self._routes = routes
        self._book = book
        self._push = push
        self._browsers = browsers
        self._targets = Gathered(browsers.get_many)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        if channel_key.startswith(PUSH):
            return await self._send_push(channel_key, message)
        return await self._routes.send(channel_key, message)

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        if channel_key.startswith(PUSH):
            yield partial(self._send_push, channel_key)
        else:
            async with self._routes.turn(channel_key) as send:
                yield send

    async def _send_push(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        """A second copy takes the place of the first, so an answer that was lost is asked for again."""
        assert isinstance(message, NoticeMessage)
        try:
            await self._book.find(channel_key, message.recipient_id)
        except UnwantedError as error:
            return Attempt(AttemptResult.UNWANTED, error.reason)
        browser = await self._targets.get(row_ids([channel_key], "push")[0])
        if browser is None:
            return Attempt(AttemptResult.REFUSED, GONE)
        if message.is_too_late:
            return TOO_LATE
        try:
            await self._push.send(browser, write_push(message))
        except PushGoneError:
            await self._browsers.end(browser.id, browser.user_id)
            return Attempt(AttemptResult.REFUSED, GONE)
        except RateLimitedError as error:
            return Attempt(AttemptResult.UNAVAILABLE, error.message, error.retry_after)
        except TransientError as error:
            return Attempt(AttemptResult.UNAVAILABLE, error.message)
        except PermanentError as error:
            return Attempt(AttemptResult.REFUSED, error.message)
        return Attempt(AttemptResult.ACCEPTED)


def write_push(message: NoticeMessage) -> PushMessage:
    """The later one of a notice takes the place of the earlier one. Opening it marks the notice as read."""
    notice = message.notice
    assert notice is not None
    actions = [PushAction(PushActionKind.WATCH, notice.path)] if notice.picture and not message.is_withdrawn else []
    if message.because:
        actions.append(PushAction(PushActionKind.MUTE, message.because))
    actions.append(PushAction(PushActionKind.READ, str(notice.id)))
    return PushMessage(
        title=message.plain_title,
        body=message.plain_body,
        path=f"/inbox/notices/{notice.id}",
        # Not its key, which has the side and the player of a goal in it: a hidden score stays hidden on the device too.
        tag=f"notice.{notice.id}",
        actions=tuple(actions),
        withdrawn=message.is_withdrawn,
        badge=message.unread,
    )
