"""Apprise takes every address that comes of the fields of a service."""

from pressbox.core.config import HttpSettings
from pressbox.core.http.proxy import GuardedProxy
from pressbox.delivery.adapters.apprise_sender import AppriseSender
from pressbox.delivery.adapters.send_lanes import SendLanes
from pressbox.delivery.domain.services import build_address
from pressbox.delivery.domain.targets import Audience
from tests.fakes.lanes import MemoryLanes
from tests.unit.soonish.test_services import GOOD


async def test_apprise_takes_what_the_forms_of_services_make() -> None:
    sender = AppriseSender(GuardedProxy(HttpSettings()), SendLanes(MemoryLanes()))
    try:
        for service, values, _ in GOOD:
            facts = await sender.describe(build_address(service, values), Audience.MEMBER)
            assert facts.service, service
    finally:
        await sender.close()
