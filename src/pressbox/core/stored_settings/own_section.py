"""The section of the core: the address of this instance, and whom other servers can write to."""

from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import urlsplit

import httpx

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError, InvalidInputError, PermanentError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.url import check_url
from pressbox.core.stored_settings.sections import SettingField, SettingsSection, TestReport

PUBLIC_URL = "web.public_url"
CONTACT = "http.contact"
TIMEOUT = timedelta(seconds=10)
NO_ADDRESS = "Write it as https://press.example.org, without a path."


def check_instance(settings: Settings) -> Mapping[str, str]:
    problems = {}
    if settings.web.public_url is not None and not _is_origin(settings.web.public_url):
        problems[PUBLIC_URL] = NO_ADDRESS
    elif settings.open and settings.web.public_url is not None:
        problems[PUBLIC_URL] = "PRESSBOX_OPEN=1 lets everybody in: an address for others cannot be set beside it."
    contact = settings.http.contact
    if contact is not None and ("@" not in contact and not contact.startswith(("http://", "https://"))):
        problems[CONTACT] = "An e-mail address, or the address of a page."
    return problems


async def reach_instance(resources: Resources, _: str) -> TestReport:
    """Ask the public address for our own health. An answer that does not know the name yet is ours too."""
    address = resources.settings.web.public_url
    if address is None:
        raise InvalidInputError("There is no address to try. Enter one first.", field="public_url")
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    # An administrator names it and it is asked for nothing but its health, so it may be one of this network.
    allowed = resources.settings.http.model_copy(update={"allow": (f"{parts.hostname}:{port}",)})
    try:
        async with GuardedClient(allowed) as client:
            answer = await client.get(f"{address.rstrip('/')}/healthz", timeout=TIMEOUT, max_bytes=100_000)
    except (TransientError, PermanentError, ConfigurationError, InvalidInputError) as error:
        raise TransientError(f"Nothing answers at {address}: {error.message}") from error
    if b'"status":"ok"' not in answer.body.replace(b" ", b"") and b"unknown_host" not in answer.body:
        raise TransientError(f"What answers at {address} (status {answer.status}) is not Pressbox.")
    return TestReport("Pressbox answers at %(address)s.", {"address": address})


def _is_origin(address: str) -> bool:
    try:
        check_url(address)
        parts = httpx.URL(address)
    except (InvalidInputError, PermanentError, httpx.InvalidURL):
        return False
    return parts.path in ("", "/") and not parts.query and not parts.userinfo and not parts.fragment


INSTANCE = SettingsSection(
    key="instance",
    title="This Pressbox",
    summary="The address used in mails and links, and how the operators of other servers can reach you.",
    fields=(
        SettingField(
            PUBLIC_URL,
            "Public address",
            hint="As people type it, such as https://press.example.org. With https everybody has to sign in again.",
            kind="url",
        ),
        SettingField(
            CONTACT,
            "Contact",
            hint="An e-mail address or a page, sent to every server that is asked for a feed or a page.",
        ),
    ),
    test=reach_instance,
    required=(PUBLIC_URL,),
    check=check_instance,
)
