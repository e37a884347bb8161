"""All use cases of soonish, as pages, API and commands get them: `wiring.service(resources)` makes one."""

from dataclasses import dataclass

from pressbox.delivery.service.channels import ChannelService
from pressbox.soonish.adapters.calendar_links import CalendarLinks
from pressbox.soonish.adapters.calendar_reader import CalendarReader
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.service.board import BoardService
from pressbox.soonish.service.events import EventService
from pressbox.soonish.service.guests import GuestService
from pressbox.soonish.service.invitations import InvitationService
from pressbox.soonish.service.organisers import OrganiserService
from pressbox.soonish.service.subscriptions import SubscriptionService


@dataclass(frozen=True)
class Soonish:
    events: EventService
    invitations: InvitationService
    channels: ChannelService
    subscriptions: SubscriptionService
    guests: GuestService
    board: BoardService
    organisers: OrganiserService
    links: SignedLinks
    calendars: CalendarLinks
    calendar_reader: CalendarReader
