"""All use cases of soonish, as pages, REST and commands get them: `wiring.service(resources)` makes one."""

from dataclasses import dataclass

from pressbox.soonish.service.board import BoardService
from pressbox.soonish.service.channels import ChannelService
from pressbox.soonish.service.events import EventService
from pressbox.soonish.service.subscriptions import SubscriptionService


@dataclass(frozen=True)
class Soonish:
    events: EventService
    channels: ChannelService
    subscriptions: SubscriptionService
    board: BoardService
