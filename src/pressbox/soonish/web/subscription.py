"""The page of one subscription, for its account and for whoever holds the private link to it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import Response

from pressbox.core.errors import PressboxError
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.soonish.domain.views import Viewer
from pressbox.soonish.ports import Holder
from pressbox.soonish.service.inputs import Choice
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import PATH, REFUSALS, field_of, see, words_of
from pressbox.soonish.web.forms import Numbers, OffsetsForm, Text, Texts, amount_of, offset_choices, seconds_of

MESSAGES = {
    "subscribed": "You are subscribed. You will hear of changes, and be reminded when you asked to be.",
    "confirmed": "Thank you, your address is confirmed. Keep this page: its link is yours alone.",
    "saved": "Saved.",
    "muted": "Muted. Nothing is sent until you come back here.",
    "unmuted": "You hear of it again.",
    "reminder": "You will be reminded once.",
}


@dataclass(frozen=True)
class ChoiceForm:
    """How somebody wants to hear of an event."""

    channel: Numbers = None
    tag: Texts = None
    offset: Numbers = None
    own_amount: Text = ""
    own_unit: Annotated[int, Form()] = 60

    def read(self) -> Choice:
        offsets = OffsetsForm(self.offset, self.own_amount, self.own_unit).read()
        return Choice(tuple(self.channel or ()), tuple(self.tag or ()), offsets)


@dataclass(frozen=True)
class SubscriptionPages:
    """One subscription at one address. `identity` is whoever is signed in, if anybody."""

    holder: Holder
    base: str
    identity: Identity | None = None

    async def show(
        self, request: Request, service: Soonish, done: str = "", error: PressboxError | None = None
    ) -> Response:
        found = await service.subscriptions.view(self.holder)
        user = self.holder.user_id
        channels = await service.channels.all(user) if user is not None else ()
        event_seen = await self._may_see(service, found.event.slug)
        page = render(
            request,
            "soonish/manage.html",
            error.status if error else 200,
            identity=self.identity,
            event=found.event,
            subscription=found,
            channels=channels,
            tags=sorted({tag for channel in channels for tag in channel.tags}),
            offsets=seconds_of(found.offsets),
            offset_choices=offset_choices,
            base=self.base,
            private_link=user is None,
            event_url=f"{PATH}/{found.event.slug}" if event_seen else None,
            calendar_url=f"{PATH}/{found.event.slug}/calendar.ics" if event_seen else None,
            message=MESSAGES.get(done),
            error=words_of(error),
            field=field_of(error),
        )
        page.headers.update(refusal_headers(error) if error else {})
        return page

    async def change(self, request: Request, service: Soonish, form: ChoiceForm) -> Response:
        try:
            await service.subscriptions.change(self.holder, form.read())
        except REFUSALS as error:
            return await self.show(request, service, error=error)
        return see(f"{self.base}?done=saved")

    async def mute(self, service: Soonish) -> Response:
        await service.subscriptions.mute(self.holder)
        return see(f"{self.base}?done=muted")

    async def unmute(self, service: Soonish) -> Response:
        await service.subscriptions.unmute(self.holder)
        return see(f"{self.base}?done=unmuted")

    async def leave(self, service: Soonish) -> Response:
        await service.subscriptions.leave(self.holder)
        return see(self.base)

    async def remind(self, request: Request, service: Soonish, amount: str, unit: int) -> Response:
        try:
            await service.subscriptions.remind_in(self.holder, amount_of(amount, unit, field="delay"))
        except REFUSALS as error:
            return await self.show(request, service, error=error)
        return see(f"{self.base}?done=reminder")

    async def cancel_reminder(self, service: Soonish, reminder_id: int) -> Response:
        await service.subscriptions.cancel_reminder(self.holder, reminder_id)
        return see(self.base)

    async def _may_see(self, service: Soonish, slug: str) -> bool:
        """The private link opens the subscription, not the page of a private event."""
        try:
            await service.events.get(Viewer(self.holder.user_id), slug)
        except PressboxError:
            return False
        return True
