"""The page of one subscription, for its account and for whoever holds the private link to it."""

from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import Response

from pressbox.core.errors import PressboxError
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.soonish.domain.views import Holder, Viewer
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.web.access import FORM_ERRORS, error_field, error_text, redirect
from pressbox.soonish.web.calendar import find_webcal
from pressbox.soonish.web.forms import PreferencesForm, offset_choices, offset_seconds, parse_duration

MESSAGES = {
    "subscribed": "You are subscribed. You will be told about changes, and reminded when you asked to be.",
    "confirmed": "Thank you, your address is confirmed. Keep this page: its link is yours alone.",
    "saved": "Saved.",
    "muted": "Muted. Nothing is sent until you come back here.",
    "unmuted": "You will be told about it again.",
    "reminder": "You will be reminded once.",
}


@dataclass(frozen=True)
class SubscriptionPage:
    """`base` is the address of the page; `identity` is None for a private link."""

    holder: Holder
    base: str
    identity: Identity | None = None

    async def show(
        self, request: Request, service: Soonish, done: str = "", error: PressboxError | None = None
    ) -> Response:
        found = await service.subscriptions.get(self.holder)
        user = self.holder.user_id
        channels = await service.channels.list(user) if user is not None else ()
        event_visible = await self._may_see(service, found.event.slug)
        page = render(
            request,
            "soonish/manage.html",
            error.status if error else 200,
            identity=self.identity,
            event=found.event,
            subscription=found,
            channels=channels,
            tags=sorted({tag for channel in channels for tag in channel.tags}),
            offsets=offset_seconds(found.offsets),
            offset_choices=offset_choices,
            base=self.base,
            private_link=user is None,
            event_url=f"{PATH}/{found.event.slug}" if event_visible else None,
            calendar_url=f"{PATH}/{found.event.slug}/calendar.ics" if event_visible else None,
            webcal_url=find_webcal(request, found.event) if event_visible else None,
            message=MESSAGES.get(done),
            error=error_text(error),
            field=error_field(error),
        )
        page.headers.update(refusal_headers(error) if error else {})
        return page

    async def change(self, request: Request, service: Soonish, form: PreferencesForm) -> Response:
        try:
            await service.subscriptions.change(self.holder, form.to_input())
        except FORM_ERRORS as error:
            return await self.show(request, service, error=error)
        return redirect(f"{self.base}?done=saved")

    async def mute(self, service: Soonish) -> Response:
        await service.subscriptions.mute(self.holder)
        return redirect(f"{self.base}?done=muted")

    async def unmute(self, service: Soonish) -> Response:
        await service.subscriptions.unmute(self.holder)
        return redirect(f"{self.base}?done=unmuted")

    async def leave(self, service: Soonish) -> Response:
        await service.subscriptions.leave(self.holder)
        return redirect(self.base)

    async def remind(self, request: Request, service: Soonish, amount: str, unit: int) -> Response:
        try:
            await service.subscriptions.remind_in(self.holder, parse_duration(amount, unit, field="delay"))
        except FORM_ERRORS as error:
            return await self.show(request, service, error=error)
        return redirect(f"{self.base}?done=reminder")

    async def cancel_reminder(self, service: Soonish, reminder_id: int) -> Response:
        await service.subscriptions.cancel_reminder(self.holder, reminder_id)
        return redirect(self.base)

    async def _may_see(self, service: Soonish, slug: str) -> bool:
        """Whether the event's page can be opened: a private link opens the subscription, not a private event."""
        try:
            await service.events.get(Viewer(self.holder.user_id), slug)
        except PressboxError:
            return False
        return True
