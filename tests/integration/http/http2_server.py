"""A server on loopback that speaks HTTP/2 over TLS as well or as badly as a test wants."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.events
import h2.exceptions


@dataclass
class Turn:
    """One request: `headers` as they came, and what a test does with its stream."""

    connection: h2.connection.H2Connection
    writer: asyncio.StreamWriter
    stream: int
    headers: dict[str, str]
    body: bytes

    async def answer(self, body: bytes, status: str = "200", **headers: str) -> None:
        await self.begin(status, **headers)
        await self.send(body, end=True)

    async def begin(self, status: str = "200", **headers: str) -> None:
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        self.connection.send_headers(self.stream, [(":status", status), *named])
        await self.flush()

    async def send(self, data: bytes, *, end: bool = False) -> None:
        while data:
            room = min(
                self.connection.local_flow_control_window(self.stream),
                self.connection.max_outbound_frame_size,
                len(data),
            )
            if room == 0:
                # Nobody reads on; a test that gets here waits for the client to leave.
                await self.flush()
                await asyncio.sleep(3600)
            self.connection.send_data(self.stream, data[:room])
            data = data[room:]
            await self.flush()
        if end:
            self.connection.end_stream(self.stream)
            await self.flush()

    async def flush(self) -> None:
        self.writer.write(self.connection.data_to_send())
        await self.writer.drain()


Answering = Callable[[Turn], Awaitable[None]]


@dataclass
class Http2Server:
    """`routes` maps a path to what happens; `requests` is what came in, `connections` how often somebody connected."""

    port: int = 0
    routes: dict[str, Answering] = field(default_factory=dict)
    requests: list[Turn] = field(default_factory=list)
    connections: int = 0
    left: int = 0

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"https://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        config = h2.config.H2Configuration(
            client_side=False,
            header_encoding=None,
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
        connection = h2.connection.H2Connection(config=config)
        connection.initiate_connection()
        writer.write(connection.data_to_send())
        bodies: dict[int, bytearray] = {}
        headers: dict[int, dict[str, str]] = {}
        answering: set[asyncio.Task[None]] = set()
        try:
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        headers[event.stream_id] = {name.decode(): value.decode() for name, value in event.headers}
                        bodies[event.stream_id] = bytearray()
                    elif isinstance(event, h2.events.DataReceived):
                        bodies[event.stream_id] += event.data
                        connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                    elif isinstance(event, h2.events.StreamEnded):
                        own = headers[event.stream_id]
                        turn = Turn(connection, writer, event.stream_id, own, bytes(bodies[event.stream_id]))
                        self.requests.append(turn)
                        task = asyncio.create_task(self._answer(turn))
                        answering.add(task)
                writer.write(connection.data_to_send())
                await writer.drain()
        except (ConnectionError, ssl.SSLError, h2.exceptions.ProtocolError):
            pass
        finally:
            self.left += 1
            for task in answering:
                task.cancel()
            await asyncio.gather(*answering, return_exceptions=True)
            with suppress(Exception):
                writer.close()

    async def _answer(self, turn: Turn) -> None:
        with suppress(ConnectionError, h2.exceptions.ProtocolError):
            await self.routes[turn.headers[":path"]](turn)


@asynccontextmanager
async def serving(tls: ssl.SSLContext) -> AsyncIterator[Http2Server]:
    tls.set_alpn_protocols(["h2"])
    server = Http2Server()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await listener.wait_closed()
