"""The Sender port: finds the address behind a channel key, and hands the message to mail or to Apprise."""

from pressbox.soonish.adapters.address_book import EMAIL, AddressBook
from pressbox.soonish.adapters.apprise_api import AppriseApi
from pressbox.soonish.adapters.apprise_sender import AppriseSender
from pressbox.soonish.adapters.mail_sender import Mailer, one_click
from pressbox.soonish.domain.delivery import AttemptResult
from pressbox.soonish.ports import Attempt, Outgoing


class RoutingSender:
    """With an `api`, Apprise URLs go there instead of through this process."""

    def __init__(self, addresses: AddressBook, apprise: AppriseSender, mail: Mailer, api: AppriseApi | None) -> None:
        self._addresses = addresses
        self._apprise = apprise
        self._mail = mail
        self._api = api

    async def send(self, channel_key: str, message: Outgoing) -> Attempt:
        destination = await self._addresses.find(channel_key)
        if destination is None:
            return Attempt(AttemptResult.REFUSED, "The channel is gone or switched off.")
        body = signed(message)
        if destination.kind == EMAIL:
            return await self._mail.attempt(
                destination.address, message.title, body, one_click(message.unsubscribe_url)
            )
        if self._api is not None:
            return await self._api.send(destination.address, message.title, body, message.level)
        return await self._apprise.send(channel_key, destination.address, message.title, body, message.level)


def signed(message: Outgoing) -> str:
    """The text with the two links that belong to every message."""
    return f"{message.body}\n\nWhy did I get this? {message.why_url}\nUnsubscribe: {message.unsubscribe_url}\n"
