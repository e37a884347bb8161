"""A mail server on loopback that delivers nothing: it keeps what it received and shows it over HTTP.

Behaviours are set per recipient: BUSY and FAILING refuse for now (451), GONE for good (550), RESET and HANGING receive
the whole mail and never confirm it. A policy says what the server demands of senders: encryption, a sign-in, limits.
"""

import asyncio
import base64
import email
import email.policy
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class MailPolicy:
    """`certificate` makes encryption possible: by STARTTLS, or from the first byte.

    With `users` (name → password) nobody else sends, and a sign-in is offered on an encrypted connection only, if there
    is a certificate. After `mails_per_connection` the server says 421 and closes.
    """

    certificate: ssl.SSLContext | None = None
    is_encrypted_from_start: bool = False
    users: Mapping[str, str] = field(default_factory=dict)
    methods: tuple[str, ...] = ("PLAIN", "LOGIN")
    extensions: tuple[str, ...] = ("8BITMIME", "SMTPUTF8")
    greeting: bytes = b"220 mail sink\r\n"
    farewell: bytes = b"221 Bye\r\n"
    mails_per_connection: int | None = None
    closes_at: bytes = b""


OPEN = MailPolicy()


class MailSink(HttpService):
    """`smtp_port` receives mail; `port` and `url` are for the inspection. `verbs` are all commands, of all senders."""

    def __init__(self, port: int = 0, smtp_port: int = 0, policy: MailPolicy = OPEN) -> None:
        super().__init__(port)
        self.smtp_port = smtp_port
        self.policy = policy
        self.received: list[Mail] = []
        self.verbs: list[str] = []
        self.connections = 0
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
        context = self.policy.certificate if self.policy.is_encrypted_from_start else None
        self._smtp = await asyncio.start_server(self._handle, "127.0.0.1", self.smtp_port, ssl=context)
        self.smtp_port = self._smtp.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._smtp is not None:
            self._smtp.close()
            self.close_connections()
            await self._smtp.wait_closed()
        await super().__aexit__(kind, error, traceback)

    def close_connections(self) -> None:
        """As a server does with connections that were idle for too long."""
        for writer in tuple(self._connections):
            writer.transport.abort()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        self.connections += 1
        try:
            await _SmtpConnection(self, reader, writer).serve()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            # The sender is gone, so there is nobody to answer.
            writer.transport.abort()
        finally:
            self._connections.discard(writer)
            with suppress(ConnectionError, ssl.SSLError):
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
        self._is_encrypted = sink.policy.is_encrypted_from_start
        self._is_signed_in = not sink.policy.users
        self._mails = 0

    async def serve(self) -> None:
        policy = self._sink.policy
        await self._write(policy.greeting)
        while line := await self._reader.readline():
            verb = line[:4].upper()
            self._sink.verbs.append(verb.strip().decode("ascii", "replace"))
            if verb == b"QUIT":
                await self._write(policy.farewell)
                return
            if verb == b"MAIL" and self._mails == policy.mails_per_connection:
                await self._write(b"421 Enough for one connection\r\n")
                return
            if verb == policy.closes_at:
                return
            answer = await self._answer(verb, line.decode("utf-8", "replace"))
            if answer is None:
                return
            await self._write(answer)

    async def _answer(self, verb: bytes, line: str) -> bytes | None:
        match verb:
            case b"EHLO" | b"STAR" | b"AUTH":
                return await self._answer_sign_on(verb, line)
            case b"MAIL":
                if not self._is_signed_in:
                    return b"530 5.7.0 Must issue a STARTTLS command first\r\n"
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

    async def _answer_sign_on(self, verb: bytes, line: str) -> bytes:
        if verb == b"EHLO":
            return self._greet()
        if verb == b"STAR" and self._offers_encryption:
            await self._write(b"220 Go ahead\r\n")
            await self._encrypt()
            return b""
        if verb == b"AUTH" and self._sink.policy.users:
            return await self._sign_in(line.split())
        return b"502 Not here\r\n"

    @property
    def _offers_encryption(self) -> bool:
        return self._sink.policy.certificate is not None and not self._is_encrypted

    def _greet(self) -> bytes:
        policy = self._sink.policy
        offered = ["mail sink", *policy.extensions]
        if self._offers_encryption:
            offered.append("STARTTLS")
        elif policy.users:
            offered.append(f"AUTH {' '.join(policy.methods)}")
        lines = [f"250-{word}\r\n" for word in offered[:-1]] + [f"250 {offered[-1]}\r\n"]
        return "".join(lines).encode()

    async def _encrypt(self) -> None:
        assert self._sink.policy.certificate is not None
        await self._writer.start_tls(self._sink.policy.certificate)
        self._is_encrypted = True

    async def _sign_in(self, words: list[str]) -> bytes:
        """`AUTH PLAIN …`, or `AUTH LOGIN …` with the password on a line of its own."""
        method, first = words[1].upper(), base64.b64decode(words[2]).decode()
        if method not in self._sink.policy.methods:
            return b"504 Not this way\r\n"
        if method == "PLAIN":
            _, user, password = first.split("\0")
        else:
            await self._write(b"334 UGFzc3dvcmQ6\r\n")
            user, password = first, base64.b64decode(await self._reader.readline()).decode()
        self._is_signed_in = self._sink.policy.users.get(user) == password
        return b"235 Welcome\r\n" if self._is_signed_in else b"535 5.7.8 Wrong user or password\r\n"

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
        self._mails += 1
        return b"250 Taken\r\n" if self._unconfirmed is None else None

    async def _write(self, line: bytes) -> None:
        self._writer.write(line)
        await self._writer.drain()


def _parse_address(line: str) -> str:
    return line.partition("<")[2].partition(">")[0]
