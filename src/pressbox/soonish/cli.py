"""`pressbox soonish`: commands for whoever runs this machine; they act in the name of the organisers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from pressbox.core.commands import Json, print_json, run_with_resources
from pressbox.core.errors import InvalidInputError
from pressbox.delivery.domain.attempts import DeliveryState, Level
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.times import format_time
from pressbox.soonish.service.inputs import Announcement, EventInput

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.soonish.domain.views import EventView, MessageView, ResendView
    from pressbox.soonish.service.soonish import Soonish

Result = TypeVar("Result")
MakeService = Callable[["Resources"], "Soonish"]
Slug = Annotated[str, typer.Argument(help="The id of the event that `events` shows.")]


class EventCommands:
    """The commands, on the service that `make` builds from the resources of the process."""

    def __init__(self, make: MakeService, rotate: Callable[[Resources], Awaitable[int]]) -> None:
        self._make = make
        self._rotate = rotate

    def events(self, context: typer.Context, as_json: Json = False) -> None:
        """Show all events of this instance, the newest start first."""
        found = self._run(context, lambda service: service.events.list_all())
        if as_json:
            print_json([asdict(event) for event in found])
            return
        for event in found:
            typer.echo(_event_line(event))

    def create(
        self,
        context: typer.Context,
        name: Annotated[str, typer.Argument(help="The name of the event.")],
        organiser: Annotated[str, typer.Option(help="E-mail address of the account that organises it.")],
        start: Annotated[str, typer.Option(help="Such as 2027-05-01T19:30, in the zone of the event.")],
        timezone: Annotated[str, typer.Option(help="Such as Europe/Berlin.")],
        end: Annotated[str | None, typer.Option(help="In the same form; default: four hours after the start.")] = None,
        location: Annotated[str, typer.Option(help="A place, or the link to a meeting.")] = "",
        description: Annotated[str, typer.Option(help="What it is about.")] = "",
        private: Annotated[bool, typer.Option("--private", help="Only for invited people.")] = False,
        listed: Annotated[bool, typer.Option("--listed", help="In the public agenda, for everybody.")] = False,
        draft: Annotated[bool, typer.Option("--draft", help="Only its organiser can see it.")] = False,
        as_json: Json = False,
    ) -> None:
        """Create an event."""
        stated = EventInput(
            name=name,
            start_date=_parse_time(start, "start"),
            timezone=timezone,
            end_date=_parse_time(end, "end") if end else None,
            description=description,
            location=location,
            visibility=Visibility.PRIVATE if private else Visibility.LISTED if listed else Visibility.PUBLIC,
            draft=draft,
        )

        async def make(resources: Resources) -> EventView:
            from pressbox.core.accounts.service import AccountService

            user = await AccountService(resources.database, resources.settings).user_by_email(organiser)
            return await self._make(resources).events.create(user.id, stated)

        event = run_with_resources(context, make)
        if as_json:
            print_json(asdict(event))
        else:
            typer.echo(_event_line(event))

    def announce(
        self,
        context: typer.Context,
        slug: Slug,
        text: Annotated[str, typer.Argument(help="The message.")],
        title: Annotated[str, typer.Option(help="Default: the name of the event.")] = "",
        level: Annotated[Level, typer.Option(help="info, warning or critical.")] = Level.INFO,
        to: Annotated[list[int] | None, typer.Option(help="Only this subscription; can be repeated.")] = None,
    ) -> None:
        """Send a message to all subscribers, or to some."""
        stated = Announcement(text=text, title=title, level=level, subscription_ids=tuple(to) if to else None)

        async def act(service: Soonish) -> MessageView:
            return await service.board.announce(await service.events.find_organiser(slug), slug, stated)

        message = self._run(context, act)
        subscribers = "subscriber" if message.recipients == 1 else "subscribers"
        typer.echo(f"Message {message.id} is being sent to {message.recipients} {subscribers}.")

    def cancel(self, context: typer.Context, slug: Slug) -> None:
        """Cancel an event; its subscribers are told."""

        async def act(service: Soonish) -> EventView:
            return await service.events.cancel(await service.events.find_organiser(slug), slug)

        typer.echo(_event_line(self._run(context, act)))

    def reopen(self, context: typer.Context, slug: Slug) -> None:
        """Take back a cancellation; whoever was told of it is told that the event takes place."""

        async def act(service: Soonish) -> EventView:
            return await service.events.reopen(await service.events.find_organiser(slug), slug)

        typer.echo(_event_line(self._run(context, act)))

    def subscribers(self, context: typer.Context, slug: Slug, as_json: Json = False) -> None:
        """Show the subscribers of an event; addresses are masked."""

        async def act(service: Soonish) -> list[dict[str, Any]]:
            organiser_id = await service.events.find_organiser(slug)
            return await _load_all(
                lambda after: service.board.list_subscribers(organiser_id, slug, after=after, limit=500),
                "subscription_id",
            )

        found = self._run(context, act)
        if as_json:
            print_json(found)
            return
        for item in found:
            kinds = ", ".join(item["kinds"]) or "no usable channel"
            typer.echo(f"{item['subscription_id']:<8} {item['name']:<30} {item['state']:<8} {kinds}")

    def deliveries(
        self,
        context: typer.Context,
        slug: Slug,
        message: Annotated[int | None, typer.Option(help="Show the deliveries of this message.")] = None,
        state: Annotated[DeliveryState | None, typer.Option(help="Only deliveries in this state.")] = None,
        as_json: Json = False,
    ) -> None:
        """Show the messages of an event, or the deliveries of one message."""

        async def act(service: Soonish) -> list[dict[str, Any]]:
            organiser_id = await service.events.find_organiser(slug)
            if message is None:
                return [asdict(item) for item in await service.board.list_messages(organiser_id, slug)]
            return await _load_all(
                lambda after: service.board.list_deliveries(organiser_id, message, state=state, after=after, limit=500),
                "id",
            )

        found = self._run(context, act)
        if as_json:
            print_json(found)
            return
        for item in found:
            typer.echo(_message_line(item) if message is None else _delivery_line(item))

    def resend(
        self,
        context: typer.Context,
        slug: Slug,
        message: Annotated[int, typer.Argument(help="The id of the message that `deliveries` shows.")],
        delivery: Annotated[list[int] | None, typer.Option(help="Only this delivery; can be repeated.")] = None,
        uncertain: Annotated[
            bool, typer.Option("--uncertain", help="Also what may have arrived, and may then arrive twice.")
        ] = False,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask before --uncertain.")] = False,
    ) -> None:
        """Send a message again to those to whom it failed; who left or muted the event is skipped."""
        if uncertain and not yes:
            typer.confirm("Whoever got the message already will get it a second time. Send it?", abort=True)

        async def act(service: Soonish) -> ResendView:
            organiser_id = await service.events.find_organiser(slug)
            chosen = tuple(delivery) if delivery else None
            return await service.board.resend(organiser_id, message, chosen, with_uncertain=uncertain)

        found = self._run(context, act)
        deliveries = "delivery is" if found.deliveries == 1 else "deliveries are"
        skipped = f" {found.skipped} are skipped: left, muted, or without a channel." if found.skipped else ""
        typer.echo(f"{found.deliveries} {deliveries} sent again.{skipped}")

    def why(
        self,
        context: typer.Context,
        delivery_id: Annotated[int, typer.Argument(help="The id that `deliveries --message` shows.")],
        as_json: Json = False,
    ) -> None:
        """Show why somebody got a message, over which channel, and with what result."""
        found = self._run(context, lambda service: service.board.explain(delivery_id))
        if as_json:
            print_json(asdict(found))
            return
        twice = ", one of them cut off and repeated" if found.maybe_twice else ""
        typer.echo(f"{found.title}\nEvent: {found.event_name}\nCause: {found.cause}\nRule: {found.rule or 'none'}")
        typer.echo(f"Channel: {found.channel or 'none'}\nTries: {found.tries}{twice}")
        typer.echo(f"Result: {found.state}{f' ({found.reason})' if found.reason else ''}")

    def rotate_key(self, context: typer.Context) -> None:
        """Encrypt all addresses with the present instance key, so that older keys are no longer needed."""
        count = run_with_resources(context, self._rotate)
        typer.echo(f"{count} addresses were encrypted with the present key.")
        typer.echo(
            "`pressbox rotate-key` does this for everything else too; then older keys are no longer needed.",
            err=True,
        )

    def _run(self, context: typer.Context, act: Callable[[Soonish], Awaitable[Result]]) -> Result:
        async def run(resources: Resources) -> Result:
            return await act(self._make(resources))

        return run_with_resources(context, run)


def build_commands(make: MakeService, rotate: Callable[[Resources], Awaitable[int]]) -> typer.Typer:
    commands = typer.Typer(help="Events, announcements and reminders.", no_args_is_help=True)
    group = EventCommands(make, rotate)
    for command in (
        group.events,
        group.create,
        group.announce,
        group.cancel,
        group.reopen,
        group.subscribers,
        group.deliveries,
        group.resend,
        group.why,
    ):
        commands.command()(command)
    commands.command("rotate-key")(group.rotate_key)
    return commands


async def _load_all(page: Callable[[int], Awaitable[Sequence[Any]]], key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while items := await page(found[-1][key] if found else 0):
        found.extend(asdict(item) for item in items)
    return found


def _parse_time(text: str, option: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInputError(f"--{option} must look like 2027-05-01T19:30.", field=option) from error


def _event_line(event: EventView) -> str:
    return f"{event.slug:<18} {event.status:<10} {format_time(event.start_date, event.timezone):<42} {event.name}"


def _message_line(item: dict[str, Any]) -> str:
    counts = ", ".join(f"{count} {state}" for state, count in item["counts"].items() if count) or "nothing yet"
    return (
        f"{item['id']:<8} {item['cause']:<13} {item['state']:<10} {item['title']:<40} to {item['recipients']}: {counts}"
    )


def _delivery_line(item: dict[str, Any]) -> str:
    reason = f" ({item['reason']})" if item["reason"] else ""
    return f"{item['id']:<8} {item['name']:<30} {item['channel']:<24} {item['state']}{reason}, {item['tries']} tries"
