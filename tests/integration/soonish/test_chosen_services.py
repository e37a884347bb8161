"""Apprise takes every address that comes of the fields of a service."""

from pressbox.core.config import HttpSettings
from pressbox.core.http.proxy import GuardedProxy
from pressbox.soonish.adapters.apprise_sender import AppriseSender
from pressbox.soonish.domain.services import build_address
from pressbox.soonish.domain.targets import Audience
from tests.unit.soonish.test_services import GOOD


async def test_apprise_takes_what_the_forms_of_services_make() -> None:
    sender = AppriseSender(GuardedProxy(HttpSettings()))
    try:
        for service, values, _ in GOOD:
            facts = await sender.describe(build_address(service, values), Audience.MEMBER)
            assert facts.service, service
    finally:
        await sender.close()
