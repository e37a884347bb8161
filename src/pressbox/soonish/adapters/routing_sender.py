"""The Sender port: finds the address behind a channel key and sends the message by mail or through Apprise."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.http.proxy import GuardedProxy
from pressbox.soonish.adapters.address_book import EMAIL, AddressBook, Destination, Reveal, UnwantedError
from pressbox.soonish.adapters.apprise_api import AT_ONCE as CALLS_AT_ONCE
from pressbox.soonish.adapters.apprise_api import AppriseApi
from pressbox.soonish.adapters.apprise_sender import AppriseSender
from pressbox.soonish.adapters.mailer import AT_ONCE as MAILS_AT_ONCE
from pressbox.soonish.adapters.mailer import NO_HEADERS, SmtpMailer, unsubscribe_headers
from pressbox.soonish.adapters.send_limits import SendLimits
from pressbox.soonish.domain.delivery import AttemptResult
from pressbox.soonish.domain.fitting import fit_body
from pressbox.soonish.domain.targets import Audience
from pressbox.soonish.ports import Attempt, OutgoingMessage, SendNow
from pressbox.soonish.settings import SoonishSettings


class RoutingSender:
    """With an `api`, Apprise URLs go there instead of through this process."""

    def __init__(
        self, addresses: AddressBook, apprise: AppriseSender, mail: SmtpMailer, api: AppriseApi | None
    ) -> None:
        self._addresses = addresses
        self._apprise = apprise
        self._mail = mail
        self._api = api
        self._mails = asyncio.Semaphore(MAILS_AT_ONCE)
        self._api_calls = asyncio.Semaphore(CALLS_AT_ONCE)

    async def send(self, channel_key: str, message: OutgoingMessage) -> Attempt:
        async with self.turn(channel_key) as send:
            return await send(message)

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        destination = await self._addresses.find(channel_key)
        send = partial(self._send, channel_key, destination)
        if destination is None:
            yield send
        elif destination.kind == EMAIL:
            async with self._mails:
                yield send
        elif self._api is not None:
            async with self._api_calls:
                yield send
        else:
            async with self._apprise.turn(channel_key, destination.address):
                yield send

    async def _send(self, channel_key: str, found: Destination | None, message: OutgoingMessage) -> Attempt:
        destination = found
        if message.subscription_id is not None:
            # Whoever left while this waited for its turn gets nothing any more.
            try:
                destination = await self._addresses.find(channel_key, message.subscription_id)
            except UnwantedError as error:
                return Attempt(AttemptResult.UNWANTED, error.reason)
        if destination is None:
            return Attempt(AttemptResult.REFUSED, "The channel was removed or switched off.")
        if destination.kind == EMAIL:
            signed = replace(message, body=fit_body(message.body, list_links(message), None))
            headers = unsubscribe_headers(message.unsubscribe_url) if message.unsubscribe_url else NO_HEADERS
            return await self._mail.attempt(destination.address, signed.title, signed.body, headers)
        limit = await self._apprise.find_limit(destination.address, message.title)
        signed = replace(message, body=fit_body(message.body, list_links(message), limit))
        audience = Audience.MEMBER if channel_key.startswith("channel:") else Audience.ANYBODY
        if self._api is not None:
            return await self._send_by_api(self._api, destination.address, signed, audience)
        return await self._apprise.send_now(channel_key, destination.address, signed, audience)

    async def close(self) -> None:
        await self._apprise.close()
        self._mail.close()

    async def _send_by_api(
        self, api: AppriseApi, address: str, message: OutgoingMessage, audience: Audience
    ) -> Attempt:
        """The other server sends whatever it gets, so the address is checked here, at every message."""
        try:
            await self._apprise.describe(address, audience)
        except (InvalidInputError, RefusedAddressError) as error:
            return Attempt(AttemptResult.REFUSED, error.message)
        return await api.send(address, message.title, message.body, message.level)


def build_apprise_sender(settings: Settings) -> AppriseSender:
    """Also checks which Apprise URLs can be used."""
    soonish = settings.group(SoonishSettings)
    at_once = soonish.concurrent_deliveries
    limits = SendLimits(
        at_once=at_once,
        # Three hosts that hang leave a quarter for all others.
        at_once_per_host=max(1, at_once // 4),
        per_host_per_second=soonish.deliveries_per_host_per_second,
    )
    return AppriseSender(GuardedProxy(settings.http), limits, frozenset(soonish.allow_local_schemes))


def build_sender(
    settings: Settings, database: Database, reveal: Reveal, apprise: AppriseSender | None = None
) -> RoutingSender:
    soonish = settings.group(SoonishSettings)
    api = AppriseApi(soonish.apprise_api_url) if soonish.apprise_api_url else None
    return RoutingSender(
        AddressBook(database, reveal), apprise or build_apprise_sender(settings), SmtpMailer(soonish), api
    )


def list_links(message: OutgoingMessage) -> tuple[str, ...]:
    """The links that belong to every message; the test of a channel has none."""
    if message.footer:
        return message.footer
    links = (("Why did I get this?", message.why_url), ("Unsubscribe:", message.unsubscribe_url))
    return tuple(f"{label} {url}" for label, url in links if url)
