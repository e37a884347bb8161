"""The Sender port: finds the address behind a channel key and sends the message by mail or through Apprise."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.http.proxy import GuardedProxy
from pressbox.delivery.adapters.address_book import (
    EMAIL,
    AddressBook,
    Destination,
    FindUnwanted,
    Reveal,
    UnwantedError,
    find_nobody,
)
from pressbox.delivery.adapters.apprise_api import AppriseApi
from pressbox.delivery.adapters.apprise_sender import AppriseSender
from pressbox.delivery.adapters.mailer import NO_HEADERS, SmtpMailer, unsubscribe_headers
from pressbox.delivery.adapters.send_lanes import SendLanes, SqlLaneStore
from pressbox.delivery.adapters.send_limits import SendLimits
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.domain.fitting import fit_body
from pressbox.delivery.domain.pacing import Lane, mail_pace
from pressbox.delivery.domain.targets import Audience
from pressbox.delivery.ports import Attempt, NoTurnError, OutgoingMessage, SendNow
from pressbox.delivery.settings import DeliverySettings

# Somebody else may be sending it by now.
TOO_LATE = Attempt(AttemptResult.UNAVAILABLE, "This Pressbox stood still for too long to send it.", is_own_fault=True)


@dataclass(frozen=True)
class MailRoute:
    """The mail server, how many mails go there at once, and how fast."""

    mailer: SmtpMailer
    at_once: int
    lane: Lane


class RoutingSender:
    """With an `api`, Apprise URLs go there instead of through this process."""

    def __init__(
        self, addresses: AddressBook, apprise: AppriseSender, mail: MailRoute, lanes: SendLanes, api: AppriseApi | None
    ) -> None:
        self._addresses = addresses
        self._apprise = apprise
        self._mail = mail
        self._lanes = lanes
        self._api = api
        self._mails = asyncio.Semaphore(mail.at_once)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        try:
            async with self.turn(channel_key) as send:
                return await send(message)
        except NoTurnError as error:
            reason = "Too many messages go there at the moment, or it asked us to wait."
            return Attempt(AttemptResult.UNAVAILABLE, reason, error.wait)

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        destination = await self._addresses.find(channel_key)
        send = partial(self._send, channel_key, destination)
        if destination is None:
            yield send
        elif destination.kind == EMAIL:
            async with self._mails:
                await self._lanes.wait_turn([self._mail.lane])
                yield send
        else:
            async with self._apprise.turn(channel_key, destination.address):
                yield send

    async def _send(self, channel_key: str, found: Destination | None, message: OutgoingMessage) -> Attempt:
        destination = found
        if message.recipient_id is not None:
            # Whoever left while this waited for its turn gets nothing any more.
            try:
                destination = await self._addresses.find(channel_key, message.recipient_id)
            except UnwantedError as error:
                return Attempt(AttemptResult.UNWANTED, error.reason)
        if destination is None:
            return Attempt(AttemptResult.REFUSED, "The channel was removed or switched off.")
        if message.is_too_late:
            return TOO_LATE
        if destination.kind == EMAIL:
            signed = replace(message, body=fit_body(message.body, list_links(message), None))
            headers = unsubscribe_headers(message.unsubscribe_url) if message.unsubscribe_url else NO_HEADERS
            attempt = await self._mail.mailer.attempt(destination.address, signed.title, signed.body, headers)
            if attempt.server_pause:
                await self._lanes.block(self._mail.lane.name, attempt.server_pause)
            return attempt
        limit = await self._apprise.find_limit(destination.address, message.title)
        signed = replace(message, body=fit_body(message.body, list_links(message), limit))
        if self._api is not None:
            return await self._send_by_api(self._api, destination.address, signed, destination.audience)
        return await self._apprise.send_now(channel_key, destination.address, signed, destination.audience)

    async def close(self) -> None:
        await self._apprise.close()
        await self._mail.mailer.close()

    async def _send_by_api(
        self, api: AppriseApi, address: str, message: OutgoingMessage, audience: Audience
    ) -> Attempt:
        """The other server sends whatever it gets, so the address is checked here, at every message."""
        try:
            await self._apprise.describe(address, audience)
        except (InvalidInputError, RefusedAddressError) as error:
            return Attempt(AttemptResult.REFUSED, error.message)
        return await api.send(address, message.title, message.body, message.level)


def build_apprise_sender(settings: Settings, lanes: SendLanes) -> AppriseSender:
    """Also checks which Apprise URLs can be used."""
    soonish = settings.group(DeliverySettings)
    at_once = soonish.concurrent_deliveries
    limits = SendLimits(
        at_once=at_once,
        # Three hosts that hang leave a quarter for all others.
        at_once_per_host=max(1, at_once // 4),
        per_host_per_second=soonish.deliveries_per_host_per_second,
    )
    return AppriseSender(GuardedProxy(settings.http), lanes, limits, frozenset(soonish.allow_local_schemes))


def build_sender(
    settings: Settings,
    database: Database,
    reveal: Reveal,
    apprise: AppriseSender | None = None,
    find_unwanted: FindUnwanted = find_nobody,
) -> RoutingSender:
    """`find_unwanted` is asked last, for messages that name their recipient."""
    soonish = settings.group(DeliverySettings)
    api = AppriseApi(soonish.apprise_api_url) if soonish.apprise_api_url else None
    lanes = SendLanes(SqlLaneStore(database))
    lane = Lane(f"mail {soonish.smtp_host}:{soonish.smtp_port}", mail_pace(soonish.mails_per_minute))
    mail = MailRoute(SmtpMailer(soonish), soonish.smtp_connections, lane)
    return RoutingSender(
        AddressBook(database, reveal, find_unwanted), apprise or build_apprise_sender(settings, lanes), mail, lanes, api
    )


def list_links(message: OutgoingMessage) -> tuple[str, ...]:
    """The links that belong to every message; the test of a channel has none."""
    if message.footer:
        return message.footer
    links = (("Why did I get this?", message.why_url), ("Unsubscribe:", message.unsubscribe_url))
    return tuple(f"{label} {url}" for label, url in links if url)
