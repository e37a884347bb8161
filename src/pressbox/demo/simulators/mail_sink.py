"""A mail server on loopback that delivers nothing: it keeps what it received and shows it over HTTP.

Behaviours are set per recipient: BUSY and FAILING refuse for now (451), GONE for good (550), RESET and HANGING receive
the whole mail and never confirm it.
"""

import asyncio
import email
import email.policy
from contextlib import suppress
from types import TracebackType
from typing import Self

from pressbox.core.contracts import Contract
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, HttpService, Request

_REFUSALS = {
    Kind.BUSY: b"451 Too busy\r\n",
    Kind.FAILING: b"451 Trouble here\r\n",
    Kind.GONE: b"550 No such person\r\n",
}


class Mail(Contract):
    sender: str
    recipient: str
    subject: str
    body: str
    headers: dict[str, str]


class MailSink(HttpService):
    """`smtp_port` receives mail; `port` and `url` are for the inspection. `farewell_line` answers QUIT."""

    farewell_line = b"221 Bye\r\n"

    def __init__(self, port: int = 0, smtp_port: int = 0) -> None:
        super().__init__(port)
        self.smtp_port = smtp_port
        self.received: list[Mail] = []
        self._smtp: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    def to(self, recipient: str) -> list[Mail]:
        return [mail for mail in self.received if mail.recipient == recipient]

    async def inspect(self, request: Request) -> Answer:
        recipient = request.first("to")
        return Answer.of([mail.model_dump() for mail in self.received if recipient in (None, mail.recipient)])

    def forget(self) -> None:
        self.received.clear()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._smtp = await asyncio.start_server(self._handle, "127.0.0.1", self.smtp_port)
        self.smtp_port = self._smtp.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._smtp is not None:
            self._smtp.close()
            for writer in tuple(self._connections):
                writer.transport.abort()
            await self._smtp.wait_closed()
        await super().__aexit__(kind, error, traceback)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            await _SmtpConnection(self, reader, writer).serve()
        except (asyncio.IncompleteReadError, ConnectionError):
            # The sender is gone, so there is nobody to answer.
            writer.transport.abort()
        finally:
            self._connections.discard(writer)
            with suppress(ConnectionError):
                writer.close()
                await writer.wait_closed()


class _SmtpConnection:
    """One connection of a sender, with just enough SMTP."""

    def __init__(self, sink: MailSink, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._sink = sink
        self._reader = reader
        self._writer = writer
        self._sender = ""
        self._recipients: list[str] = []
        self._unconfirmed: Kind | None = None

    async def serve(self) -> None:
        await self._write(b"220 mail sink\r\n")
        while line := await self._reader.readline():
            verb = line[:4].upper()
            if verb == b"QUIT":
                await self._write(self._sink.farewell_line)
                return
            answer = await self._answer(verb, line.decode("utf-8", "replace"))
            if answer is None:
                return
            await self._write(answer)

    async def _answer(self, verb: bytes, line: str) -> bytes | None:
        match verb:
            case b"EHLO":
                return b"250-mail sink\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n"
            case b"MAIL":
                self._sender, self._recipients, self._unconfirmed = _parse_address(line), [], None
            case b"RCPT":
                return await self._add_recipient(_parse_address(line))
            case b"DATA":
                return await self._receive_data()
            case b"HELO" | b"RSET" | b"NOOP":
                pass
            case _:
                return b"502 Not here\r\n"
        return b"250 Yes\r\n"

    async def _add_recipient(self, address: str) -> bytes:
        behaviour = await self._sink.behaviours.take(address)
        if behaviour.kind in _REFUSALS:
            return _REFUSALS[behaviour.kind]
        if behaviour.kind in (Kind.RESET, Kind.HANGING):
            self._unconfirmed = behaviour.kind
        self._recipients.append(address)
        return b"250 Yes\r\n"

    async def _receive_data(self) -> bytes | None:
        await self._write(b"354 Go on\r\n")
        text = await self._reader.readuntil(b"\r\n.\r\n")
        message = email.message_from_bytes(text[:-5].replace(b"\r\n..", b"\r\n."), policy=email.policy.default)
        part = message.get_body(("plain",))
        for recipient in self._recipients:
            self._sink.received.append(
                Mail(
                    sender=self._sender,
                    recipient=recipient,
                    subject=str(message["Subject"]),
                    body="" if part is None else str(part.get_content()).replace("\r\n", "\n"),
                    headers={name: str(value) for name, value in message.items()},
                )
            )
        if self._unconfirmed is Kind.HANGING:
            await asyncio.Event().wait()
        return b"250 Taken\r\n" if self._unconfirmed is None else None

    async def _write(self, line: bytes) -> None:
        self._writer.write(line)
        await self._writer.drain()


def _parse_address(line: str) -> str:
    return line.partition("<")[2].partition(">")[0]
