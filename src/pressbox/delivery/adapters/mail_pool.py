"""A few kept connections to one mail server, for everything that this process sends by mail."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from pressbox.core.logs import get_logger
from pressbox.delivery.adapters.mail_connection import (
    ClosedError,
    Envelope,
    MailConnection,
    MailServer,
    judge_trouble,
    not_now,
)
from pressbox.delivery.adapters.mail_trouble import BUSY_PAUSE, MailServerError
from pressbox.delivery.ports import Attempt

log = get_logger(__name__)

# Servers end connections that were silent for minutes; ending them first is kinder.
IDLE_SECONDS = 30.0
# Many servers count, and end a connection after a hundred or so.
MAILS_PER_CONNECTION = 100


class MailPool:
    """Opens connections as they are needed, at most `connections`; idle ones are closed after a while.

    Each mail has a connection of its own while it is handed over. A kept one that the server has closed meanwhile is
    replaced by a new one, once per mail.
    """

    def __init__(self, server: MailServer, connections: int) -> None:
        self._server = server
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="mail")
        self._lock = threading.Lock()
        self._idle: list[tuple[MailConnection, float]] = []
        self._sweeping = False

    async def send(self, envelope: Envelope) -> Attempt:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, envelope)

    async def close(self) -> None:
        """Close what is idle; what is under way ends by itself, and the next mail opens a new connection."""
        # The server answers to the goodbye, or is silent: not on the event loop.
        await asyncio.to_thread(self._close_idle, 0.0)

    def _send(self, envelope: Envelope) -> Attempt:
        kept = self._take()
        if kept is not None:
            try:
                return self._hand_over(kept, envelope)
            except ClosedError:
                log.debug("mail_connection_replaced", msg="A kept connection was closed by the mail server")
        try:
            return self._hand_over(MailConnection.open(self._server), envelope)
        except MailServerError as error:
            log.warning("mail_server_away", msg="The mail server cannot be used", reason=error.reason)
            return judge_trouble(error)
        except ClosedError as error:
            log.warning("mail_server_closed", msg="The mail server ended a connection", busy=error.said_busy)
            return not_now("The mail server of this instance ended the connection.", BUSY_PAUSE)

    def _hand_over(self, connection: MailConnection, envelope: Envelope) -> Attempt:
        attempt = connection.hand_over(envelope)
        self._put_back(connection)
        return attempt

    def _take(self) -> MailConnection | None:
        with self._lock:
            return self._idle.pop()[0] if self._idle else None

    def _put_back(self, connection: MailConnection) -> None:
        if not connection.is_open:
            return
        with self._lock:
            is_kept = connection.handed_over < MAILS_PER_CONNECTION
            if is_kept:
                self._idle.append((connection, time.monotonic()))
                self._sweep_later()
        if not is_kept:
            connection.say_goodbye()

    def _sweep_later(self) -> None:
        if not self._sweeping:
            self._sweeping = True
            timer = threading.Timer(IDLE_SECONDS, self._sweep)
            timer.daemon = True
            timer.start()

    def _sweep(self) -> None:
        self._close_idle(IDLE_SECONDS)
        with self._lock:
            self._sweeping = False
            if self._idle:
                self._sweep_later()

    def _close_idle(self, seconds: float) -> None:
        now = time.monotonic()
        with self._lock:
            old = [connection for connection, since in self._idle if now - since >= seconds]
            self._idle = [item for item in self._idle if now - item[1] < seconds]
        for connection in old:
            connection.say_goodbye()


@lru_cache(maxsize=4)
def shared_pool(server: MailServer, connections: int) -> MailPool:
    """One for this process and server, whoever sends."""
    return MailPool(server, connections)
