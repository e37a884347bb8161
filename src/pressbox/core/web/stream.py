"""`GET /api/stream?topics=…`: what changes, as server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pressbox.core.errors import InvalidInputError
from pressbox.core.live.feed import ChangeFeed, Listener
from pressbox.core.live.messages import Wish, event, parse_topics
from pressbox.core.web.identity import Identity, signed_in

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
    after = _cursor(last_event_id) if last_event_id else cursor
    return EventStream(feed, wish, after if after is not None else await feed.newest())


class EventStream(Response):
    """Replays what was missed, then follows. The queue is bounded, the connection's life too."""

    media_type = "text/event-stream"

    def __init__(self, feed: ChangeFeed, wish: Wish, after: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._feed = feed
        self._wish = wish
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._feed.listen(self._wish) as listener:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            tasks = {
                asyncio.create_task(self._send_all(listener, send)),
                asyncio.create_task(_gone(receive)),
            }
            try:
                done, _ = await asyncio.wait(tasks, timeout=LIFE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_all(self, listener: Listener, send: Send) -> None:
        async for chunk in self._chunks(listener):
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _chunks(self, listener: Listener) -> AsyncIterator[bytes]:
        # Listening began before this read, so nothing falls between; what comes twice is recognised by its id.
        replay = await self._feed.replay(self._after, self._wish)
        yield f"retry: {RETRY_MILLISECONDS}\n\n".encode()
        if replay.messages is None:
            yield event("reload", {"reason": "too long ago"}, replay.cursor)
            return
        last = replay.cursor
        for message in replay.messages:
            yield message.wire
        yield event("hello", {"cursor": last}, last)
        if not self._feed.connected:
            yield event("stale", {})
        async for chunk in _live(listener, last):
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
