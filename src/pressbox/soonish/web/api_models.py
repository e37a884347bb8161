"""What the API of events takes and gives. Addresses of channels come in and never go out."""

from datetime import datetime, timedelta
from typing import Annotated, Self

from fastapi import Query
from pydantic import Field, SecretStr

from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.soonish.domain.delivery import AttemptResult, Cause, DeliveryState, Level
from pressbox.soonish.domain.events import EventStatus, Visibility
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import EventView, MessageView, SubscriptionView
from pressbox.soonish.service.inputs import Announcement, ChannelInput, Choice, EventInput
from pressbox.soonish.web.forms import seconds_of

MOST_CHOSEN = 10_000

After = Annotated[int, Query(ge=0, le=2**63 - 1, description="The last id of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=500)]


class EventBody(RequestBody):
    name: str
    start_date: datetime = Field(description="Without an offset it is read in the event's own zone.")
    timezone: str = Field(description="A name such as Europe/Berlin.")
    end_date: datetime | None = None
    description: str = ""
    location: str = ""
    visibility: Visibility = Visibility.PUBLIC
    draft: bool = Field(False, description="A draft is seen by its organiser only, and nobody is told.")

    def read(self) -> EventInput:
        return EventInput(**self.model_dump())


class EventChange(RequestBody):
    """What is left out stays as it is."""

    name: str | None = None
    start_date: datetime | None = None
    timezone: str | None = None
    end_date: datetime | None = Field(None, description="null removes the end; left out, it stays.")
    description: str | None = None
    location: str | None = None
    visibility: Visibility | None = None

    def over(self, event: EventView) -> EventInput:
        end = self.end_date if "end_date" in self.model_fields_set else event.end_date
        return EventInput(
            name=event.name if self.name is None else self.name,
            start_date=self.start_date or event.start_date,
            timezone=event.timezone if self.timezone is None else self.timezone,
            end_date=end,
            description=event.description if self.description is None else self.description,
            location=event.location if self.location is None else self.location,
            visibility=self.visibility or event.visibility,
        )


class EventAnswer(ResponseModel):
    id: int
    slug: str = Field(description="Names the event in addresses.")
    name: str
    description: str
    start_date: datetime
    end_date: datetime | None
    ends_at: datetime = Field(description="The end, or four hours after the start.")
    location: str
    timezone: str
    visibility: Visibility
    status: EventStatus
    version: int = Field(description="Rises with every change that people see.")
    organiser: str
    organises: bool = Field(description="Whether it is yours.")
    subscription_id: int | None = Field(description="Yours, if you follow it.")
    updated_at: datetime


class EventsAnswer(ResponseModel):
    organised: list[EventAnswer]
    followed: list[EventAnswer]
    public: list[EventAnswer]


class AnnouncementBody(RequestBody):
    text: str
    title: str = Field("", description="Empty: the name of the event.")
    level: Level = Level.INFO
    subscription_ids: list[int] | None = Field(None, max_length=MOST_CHOSEN, description="null: everybody.")
    request_key: str | None = Field(None, max_length=100, description="The same key again is the same message.")

    def read(self) -> Announcement:
        ids = None if self.subscription_ids is None else tuple(self.subscription_ids)
        return Announcement(self.text, self.title, self.level, ids, self.request_key)


class PreviewBody(RequestBody):
    subscription_ids: list[int] | None = Field(None, max_length=MOST_CHOSEN, description="null: everybody.")


class ReachAnswer(ResponseModel):
    people: int
    unreachable: int = Field(description="Subscribers without a usable channel.")
    by_kind: dict[str, int]


class ChoiceBody(RequestBody):
    channel_ids: list[int] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    offsets: list[int] | None = Field(None, description="Seconds before the start; null: 1 day and 1 hour; []: none.")

    def read(self) -> Choice:
        return Choice(tuple(self.channel_ids), tuple(self.tags), spans_of(self.offsets))


class SubscribeBody(ChoiceBody):
    """With channels or tags of your own; or for an address, which then has no account."""

    email: str | None = Field(None, description="Gets one mail with a link to confirm, and nothing else before.")
    url: SecretStr | None = Field(None, description="An Apprise address.")
    invitation: str | None = Field(None, description="Needed to join a private event.")


class ChoiceChange(RequestBody):
    """What is left out stays as it is."""

    channel_ids: list[int] | None = None
    tags: list[str] | None = None
    offsets: list[int] | None = Field(None, description="null: the default of 1 day and 1 hour; []: none.")

    def over(self, found: SubscriptionView) -> Choice:
        offsets = spans_of(self.offsets) if "offsets" in self.model_fields_set else found.offsets
        return Choice(
            found.channel_ids if self.channel_ids is None else tuple(self.channel_ids),
            found.tags if self.tags is None else tuple(self.tags),
            offsets,
        )


class ReminderBody(RequestBody):
    delay_seconds: int = Field(description="From now.")


class ReminderAnswer(ResponseModel):
    id: int
    fire_at: datetime
    outcome: str


class SubscriptionAnswer(ResponseModel):
    id: int
    event: EventAnswer
    state: SubscriptionState
    offsets: list[int] = Field(description="Seconds before the start.")
    default_offsets: bool
    channel_ids: list[int]
    tags: list[str]
    too_late: list[str] = Field(description="Reminders whose moment has passed.")
    reminders: list[ReminderAnswer]

    @classmethod
    def of(cls, view: SubscriptionView) -> Self:
        told = {**vars(view), "offsets": list(seconds_of(view.offsets)), "default_offsets": view.offsets is None}
        return cls.model_validate(told)


class JoinedAnswer(ResponseModel):
    """`subscription` is null while an e-mail address waits for its confirmation."""

    state: SubscriptionState
    subscription: SubscriptionAnswer | None = None
    manage_url: str | None = Field(None, description="The private link of somebody without an account.")


class SubscriberAnswer(ResponseModel):
    subscription_id: int
    name: str
    kinds: list[str]
    state: SubscriptionState
    reachable: bool
    since: datetime


class ChannelBody(RequestBody):
    name: str
    url: SecretStr = Field(description="An Apprise address. It is kept encrypted and never given back.")
    tags: list[str] = Field(default_factory=list)
    is_active: bool = True

    def read(self) -> ChannelInput:
        return ChannelInput(self.name, self.url.get_secret_value(), tuple(self.tags), self.is_active)


class ChannelChange(RequestBody):
    """What is left out stays as it is."""

    name: str | None = None
    url: SecretStr | None = None
    tags: list[str] | None = None
    is_active: bool | None = None


class ChannelAnswer(ResponseModel):
    id: int
    name: str
    kind: str
    tags: list[str]
    is_active: bool
    failures: int
    broken_at: datetime | None
    last_error: str
    created_at: datetime


class AttemptAnswer(ResponseModel):
    result: AttemptResult
    reason: str


class CountsAnswer(ResponseModel):
    sent: int
    pending: int
    uncertain: int
    failed: int
    skipped: int


class MessageAnswer(ResponseModel):
    id: int
    event: str = Field(description="The event's slug.")
    cause: Cause
    level: Level
    title: str
    body: str
    recipients: int
    counts: CountsAnswer
    created_at: datetime
    finished_at: datetime | None
    cancelled_at: datetime | None

    @classmethod
    def of(cls, view: MessageView) -> Self:
        return cls.model_validate({**vars(view), "event": view.event_slug})


class DeliveryAnswer(ResponseModel):
    id: int
    subscription_id: int
    name: str
    channel: str
    state: DeliveryState
    reason: str
    tries: int
    maybe_twice: bool
    next_try_at: datetime | None
    created_at: datetime
    finished_at: datetime | None


class InvitationAnswer(ResponseModel):
    id: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class NewInvitationAnswer(InvitationAnswer):
    token: str = Field(description="The invitation itself. It is shown this once.")
    url: str


def spans_of(offsets: list[int] | None) -> tuple[timedelta, ...] | None:
    return None if offsets is None else tuple(timedelta(seconds=seconds) for seconds in offsets)
