"""The HTTP server's door: how many connections there are, and how long a request may take to arrive.

uvicorn waits for ever for the rest of a request, and for a client to take its answer. `Door` looks once a second: what
does not arrive in time ends, and when there is no room the connection that has waited longest with half a request gives
its place to the next one. So an honest request finds a place, whatever else is held open.
"""

import asyncio
import resource
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pressbox.core.accounts.limits import address_subject
from pressbox.core.logs import get_logger
from pressbox.core.web.addresses import Network, is_trusted
from pressbox.core.web.metrics import CONNECTIONS_ENDED

log = get_logger(__name__)

LOOK_SECONDS = 1.0
# The application refuses half of it with a clear answer; this only bounds what is kept before the headers end.
MOST_HEAD_BYTES = 65_536
# Files that are open besides connections: databases, logs, sockets of our own.
RESERVED_FILES = 256


class Phase(Enum):
    """What a connection waits for."""

    HEAD = auto()
    BODY = auto()
    # Nothing of the client: a request is being answered, or the connection is kept for the next one.
    NOTHING = auto()


class Ending(Enum):
    """Why a connection was ended."""

    SLOW_REQUEST = "slow_request"
    SLOW_READER = "slow_reader"
    LARGE_HEAD = "large_head"
    NO_ROOM = "no_room"


@dataclass(frozen=True)
class DoorLimits:
    per_address: int = 256
    in_all: int = 2000
    head_seconds: float = 15.0
    # A body has this long, and a second more for every so many bytes that have arrived.
    body_seconds: float = 20.0
    body_bytes_per_second: int = 1000
    # Without a single byte taken for so long, nobody reads.
    reader_seconds: float = 40.0

    def patience(self, phase: Phase, received: int) -> float:
        """How long a request may be on its way."""
        match phase:
            case Phase.HEAD:
                return self.head_seconds
            case Phase.BODY:
                return self.body_seconds + received / self.body_bytes_per_second
            case Phase.NOTHING:
                return float("inf")


class Door:
    """Every connection of one server."""

    def __init__(self, limits: DoorLimits, trusted: Sequence[Network] = ()) -> None:
        self.limits = limits
        self._trusted = trusted
        self._connections: dict[GuardedProtocol, None] = {}
        self._by_address: dict[str, dict[GuardedProtocol, None]] = defaultdict(dict)
        self._ended: Counter[Ending] = Counter()
        self._look: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._connections)

    def enter(self, connection: "GuardedProtocol") -> bool:
        """Let a connection in, at the cost of one that waits when there is no room; False when all are busy."""
        subject = self._subject(connection)
        neighbours = self._by_address[subject] if subject else {}
        if len(neighbours) >= self.limits.per_address and not self._end_longest_waiting(neighbours):
            return False
        if len(self._connections) >= self.limits.in_all and not self._end_longest_waiting(self._connections):
            return False
        self._connections[connection] = None
        if subject:
            self._by_address[subject][connection] = None
        if self._look is None:
            self._look = connection.loop.call_later(LOOK_SECONDS, self._look_around, connection.loop)
        return True

    def leave(self, connection: "GuardedProtocol") -> None:
        self._connections.pop(connection, None)
        subject = self._subject(connection)
        if subject:
            self._by_address[subject].pop(connection, None)
            if not self._by_address[subject]:
                del self._by_address[subject]

    def note(self, ending: Ending) -> None:
        self._ended[ending] += 1
        CONNECTIONS_ENDED.labels(ending.value).inc()

    def _subject(self, connection: "GuardedProtocol") -> str | None:
        """For whom a connection counts. A proxy that we trust stands for many people, a socket file for itself."""
        peer = connection.client[0] if connection.client else None
        return None if peer is None or is_trusted(peer, self._trusted) else address_subject(peer)

    def _end_longest_waiting(self, connections: Collection["GuardedProtocol"]) -> bool:
        waiting = [connection for connection in connections if connection.is_waiting]
        if not waiting:
            return False
        longest = min(waiting, key=lambda connection: connection.since)
        longest.end(Ending.NO_ROOM)
        self.leave(longest)
        return True

    def _look_around(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection in tuple(self._connections):
            connection.check(now)
        if self._ended:
            counts = {ending.value: number for ending, number in self._ended.items()}
            log.info("connections_ended", msg="Connections were ended", **counts)
            self._ended.clear()
        self._look = loop.call_later(LOOK_SECONDS, self._look_around, loop) if self._connections else None


class GuardedProtocol(HttpToolsProtocol):
    """A connection that knows what it waits for, and since when."""

    door: Door

    since = 0.0
    _phase = Phase.NOTHING
    _received = 0
    # How much of an answer waited to be taken when we last looked, and since when it did not become less.
    _untaken = 0
    _untaken_since = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its client: for a request, or for the rest of one."""
        answering = self.cycle is not None and not self.cycle.response_complete
        return self._phase is not Phase.NOTHING or not answering

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for(Phase.HEAD)
        if not self.door.enter(self):
            self.door.note(Ending.NO_ROOM)
            self._refuse(b"503 Service Unavailable", b"Too many connections are open. Try again in a moment.")

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._phase is Phase.NOTHING:
            self._wait_for(Phase.HEAD)
        if self._phase is Phase.HEAD:
            self._received += len(data)
        super().data_received(data)
        if self._phase is Phase.HEAD and self._received > MOST_HEAD_BYTES:
            self.door.note(Ending.LARGE_HEAD)
            self._refuse(b"431 Request Header Fields Too Large", b"The headers of the request are too large.")

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._wait_for(Phase.BODY)

    def on_body(self, body: bytes) -> None:
        self._received += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._wait_for(Phase.NOTHING)
        super().on_message_complete()

    def check(self, now: float) -> None:
        """End what takes too long."""
        if self._phase is Phase.BODY and self.flow.read_paused:
            # It is we who do not read.
            self._wait_for(Phase.BODY)
        late = now - self.since > self.door.limits.patience(self._phase, self._received)
        if late and not self.transport.is_closing():
            self._end_late_request()
            return
        untaken = self.transport.get_write_buffer_size()
        if not untaken or untaken < self._untaken:
            self._untaken_since = now
        elif now - self._untaken_since > self.door.limits.reader_seconds:
            self.end(Ending.SLOW_READER)
        self._untaken = untaken

    def end(self, ending: Ending) -> None:
        """End at once, without waiting for anything to be taken."""
        self.door.note(ending)
        self.transport.abort()

    def _end_late_request(self) -> None:
        if self._phase is Phase.HEAD and self._received and not self.transport.get_write_buffer_size():
            self.door.note(Ending.SLOW_REQUEST)
            self._refuse(b"408 Request Timeout", b"The request did not arrive in time.")
        else:
            self.end(Ending.SLOW_REQUEST)

    def _refuse(self, status: bytes, words: bytes) -> None:
        self.transport.write(_answer(status, words))
        self.transport.close()

    def _wait_for(self, phase: Phase) -> None:
        self._phase, self.since, self._received = phase, self.loop.time(), 0


def guarded_protocol(guard: Door) -> type[GuardedProtocol]:
    """The protocol for uvicorn's `http`: all connections of one server stand at one door."""

    class Guarded(GuardedProtocol):
        door = guard

    return Guarded


def allow_many_files(wanted: int) -> int:
    """Let this process open that many files if the system does; gives how many connections that leaves room for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted + RESERVED_FILES if hard == resource.RLIM_INFINITY else min(wanted + RESERVED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    else:
        most = wanted + RESERVED_FILES
    return max(1, min(wanted, most - RESERVED_FILES))


def _answer(status: bytes, words: bytes) -> bytes:
    head = b"HTTP/1.1 %s\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nretry-after: 5\r\n"
    return head % (status, len(words)) + b"connection: close\r\n\r\n" + words
