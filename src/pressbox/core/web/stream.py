"""`GET /api/stream?topics=…`: what changes, as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractContextManager, aclosing
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pressbox.core.audiences.members import Viewer
from pressbox.core.errors import InvalidInputError, RateLimitedError
from pressbox.core.live.feed import ChangeFeed, Listener
from pressbox.core.live.messages import Wish, event, parse_topics
from pressbox.core.live.slots import StreamSlots
from pressbox.core.quotas.declared import STREAMS
from pressbox.core.web.connection import connected
from pressbox.core.web.identity import Identity, client_of, signed_in, viewer_of
from pressbox.core.web.rates import PersonLimits
from pressbox.core.web.refusals import STREAM_SECONDS

KEEP_ALIVE_SECONDS = 15.0
# A connection ends after this time and the browser comes back by itself: sessions and rights are checked again.
LIFE_SECONDS = 600.0
# A client that takes no byte for so long is gone, or not worth the memory.
SEND_SECONDS = 30.0
RETRY_MILLISECONDS = 2000
# Always fits the column, and far beyond any number that will be reached.
LARGEST_CURSOR = 10**18

router = APIRouter(tags=["live"])


@router.get(
    "/api/stream",
    summary="Follow changes as server-sent events",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Events: hello, change, reload, stale, fresh."}
    },
)
async def stream(
    request: Request,
    identity: Annotated[Identity, Depends(signed_in)],
    topics: Annotated[str, Query(description="Comma-separated kinds, or kind:key for one thing.")],
    cursor: Annotated[int | None, Query(ge=0, le=LARGEST_CURSOR, description="Where to continue.")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    feed: ChangeFeed = request.app.state.feed
    by_name = {kind for kind, topic in feed.topics.items() if topic.by_name}
    wish = parse_topics(topics, feed.topics.keys(), by_name)
    viewer = viewer_of(request, identity)
    await feed.demand_admission(wish, viewer)
    after = _cursor(last_event_id) if last_event_id else cursor
    after = after if after is not None else await feed.newest()
    return EventStream(partial(_follow, feed, wish, viewer, after), await stream_slot(request, identity))


async def stream_slot(request: Request, identity: Identity) -> AbstractContextManager[None]:
    """A place for one more stream of this person, taken when it is entered."""
    slots: StreamSlots = request.app.state.stream_slots
    limits: PersonLimits = request.app.state.person_limits
    most = await limits.most(connected(request), STREAMS, identity.user_id)
    address = client_of(request).address
    try:
        slots.check(identity.user_id, address, most)
    except RateLimitedError as error:
        request.app.state.refusals.note(request.scope, error, seconds=STREAM_SECONDS, path=request.url.path)
        raise
    return slots.take(identity.user_id, address, most)


class EventStream(Response):
    """Sends events until they end, the client leaves, the life of a connection is over, or the process stops.

    `chunks` is asked for the next part only when the client has taken the one before: nothing piles up here.
    """

    media_type = "text/event-stream"

    def __init__(self, chunks: Callable[[], AsyncGenerator[bytes, None]], slot: AbstractContextManager[None]) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._chunks = chunks
        self._slot = slot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nothing is sent before there is a slot, so that a refusal is an ordinary answer.
        with self._slot:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            sending, gone = asyncio.create_task(self._send_all(send)), asyncio.create_task(_gone(receive))
            tasks = {sending, gone, asyncio.create_task(scope["app"].state.stopping.wait())}
            try:
                done, _ = await asyncio.wait(tasks, timeout=LIFE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            # Our own end is an answer that is whole; the browser comes back by itself.
            if gone not in done and (sending not in done or sending.result()):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> bool:
        """Send what there is; False if the client does not take it."""
        async with aclosing(self._chunks()) as chunks:
            async for chunk in chunks:
                try:
                    async with asyncio.timeout(SEND_SECONDS):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                except TimeoutError:
                    return False
        return True


async def _follow(feed: ChangeFeed, wish: Wish, viewer: Viewer, after: int) -> AsyncGenerator[bytes, None]:
    with feed.listen(wish, viewer) as listener:
        # Listening began before this read, so nothing falls between; what comes twice is recognised by its id.
        missed = await feed.missed(after, wish)
        yield f"retry: {RETRY_MILLISECONDS}\n\n".encode()
        if missed.changes is None:
            yield event("reload", {"reason": "too long ago"}, missed.cursor)
            return
        async for messages in feed.load(missed.changes, viewer):
            yield b"".join(message.wire for message in messages)
        yield event("hello", {"cursor": missed.cursor}, missed.cursor)
        if not feed.connected:
            yield event("stale", {})
        async for chunk in _live(listener, missed.cursor):
            yield chunk


async def _live(listener: Listener, last: int) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                item = await listener.next()
        except TimeoutError:
            yield b": keep-alive\n\n"
            continue
        if listener.overflowed:
            yield event("reload", {"reason": "too slow"})
            return
        if isinstance(item, bytes):
            yield item
        elif item.id > last:
            yield item.wire


def _cursor(text: str) -> int:
    # Browsers send back what we sent; anything else is not ours.
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise InvalidInputError("Last-Event-ID must be a number that this stream sent.", field="Last-Event-ID")
    return int(text)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
