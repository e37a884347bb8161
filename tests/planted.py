"""Secrets of one person in every application: rows that only they may read of, and the work on them.

Every secret begins with `planted-`, so that it is found in whatever comes out of the web application.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.rows import TokenRow
from pressbox.core.app import Resources
from pressbox.core.audiences.contracts import NOBODY, Audience, person
from pressbox.core.notices.publish import NOTICE_CHANGED
from pressbox.core.notices.rows import FollowRow, InboxRow, NoticeRow
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.sink import store
from pressbox.core.spending.domain import Outcome
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.core.today.contracts import TODAY_CHANGED
from pressbox.curator.apps.domain import stored_view
from pressbox.curator.apps.store import AppPasswordRow, ViewFeedRow
from pressbox.curator.ask.domain import AnswerMethod, AnswerState
from pressbox.curator.ask.store import AnswerRow, ConversationRow
from pressbox.curator.cards.domain import EnrichmentKind
from pressbox.curator.cards.store import EnrichmentRow
from pressbox.curator.context.domain import ContextMethod
from pressbox.curator.context.store import EntryContextRow, EntryLinkRow
from pressbox.curator.graph.store import GraphEdgeRow, GraphEvidenceRow, GraphGenerationRow, GraphNodeRow
from pressbox.curator.library.audiences import asker_of, readers_of_entry, readers_of_feed, researcher_of
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.library.rows import (
    CategoryRow,
    EntryLabelRow,
    EntryRow,
    EntryStateRow,
    FeedRow,
    LabelRow,
    SubscriptionRow,
)
from pressbox.curator.reading.domain import ListKind, Selection
from pressbox.curator.research.domain import ResearchState, StepKind, StepState
from pressbox.curator.research.store import ResearchRunRow, ResearchStepRow
from pressbox.curator.translate.store import EntryTranslationRow
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.soonish.adapters import rows as soonish
from pressbox.soonish.domain.audiences import organiser_of, sender_of, subscriber_of
from pressbox.soonish.domain.events import EventStatus, Visibility
from tests.fakes.reader import Library

NOW = datetime.now(UTC).replace(microsecond=0)
ADDRESS = "https://private.example/feed.xml?token=planted-feed-address"
# Of whom there is work.
AUDIENCES = ("feed", "untitled", "entry", "answer", "research", "event", "message", "subscription", "person", "nobody")
WORDS = [1.0, 0.0, 0.5]


FOLLOWED = "footy.team.777"


@dataclass(frozen=True)
class Planted:
    """The ids by which one could ask for what belongs to the first person."""

    user_id: int
    feed_id: int
    untitled_feed_id: int
    category_id: int
    label_id: int
    entry_id: int
    card_id: int
    entity: str
    conversation_id: int
    answer_id: int
    run_id: int
    import_id: str
    slug: str
    open_slug: str
    subscription_id: int
    channel_id: int
    message_id: int
    notice_id: int
    workflow_ids: tuple[str, ...]


async def plant(resources: Resources, user_id: int) -> Planted:
    library = Library(resources)
    untitled = await library.feed(user_id, url=ADDRESS, title=" ")
    feed = await library.feed(user_id, title="planted-feed-title")
    await library.crawled(untitled, CrawlOutcome.UNREACHABLE, "planted-failure of the server")
    entry = await library.entry(
        feed,
        "planted-entry-title",
        body="<p>planted-entry-body</p>",
        summary="planted-summary",
        story="fire",
        vector=WORDS,
        at=NOW - timedelta(hours=1),
    )
    import_id = str(int(NOW.timestamp() * 1_000_000))
    broken = [{"line": 1, "title": "planted-import", "reason": "It is no feed."}]
    report = {"id": import_id, "added": 1, "known": 0, "broken": broken}
    await resources.objects.put(f"scratch/curator/import-{user_id}-{import_id}.json", json.dumps(report).encode())
    async with resources.database.unit_of_work() as work:
        session = work.session
        (await session.get_one(FeedRow, untitled)).title = ""
        reading = await _plant_reading(session, user_id, feed, entry)
        asking = await _plant_questions(session, user_id, entry, feed)
        events = await _plant_events(session, user_id)
        notice = await _plant_inbox(session, user_id)
        audiences = (
            readers_of_feed(feed),
            readers_of_feed(untitled),
            readers_of_entry(entry),
            asker_of(asking["answer_id"]),
            researcher_of(asking["run_id"]),
            organiser_of(events["event_id"]),
            sender_of(events["message_id"]),
            subscriber_of(events["subscription_id"]),
            person(user_id),
            NOBODY,
        )
        named = list(zip(AUDIENCES, audiences, strict=True))
        await store(work, [_work(name, audience) for name, audience in named])
        for kind, key in (
            ("curator.feed", feed),
            ("curator.entry", entry),
            ("curator.enrichment", entry),
            ("curator.person", user_id),
            ("curator.answer", asking["answer_id"]),
            ("curator.research", asking["run_id"]),
            ("soonish.event", events["slug"]),
            ("soonish.notification", events["message_id"]),
            (NOTICE_CHANGED, notice),
            (TODAY_CHANGED, user_id),
        ):
            work.changed(kind, str(key))
    known = {**reading, **asking, **events}
    del known["event_id"]
    ids = tuple(_workflow_id(name) for name in AUDIENCES)
    return Planted(
        user_id=user_id,
        feed_id=feed,
        untitled_feed_id=untitled,
        entry_id=entry,
        import_id=import_id,
        entity="planted-entity",
        notice_id=notice,
        workflow_ids=ids,
        **known,
    )


async def _plant_inbox(session: AsyncSession, user_id: int) -> int:
    """A notice, and what they follow, which they muted a moment ago."""
    session.add(FollowRow(user_id=user_id, subject=FOLLOWED, name="planted-follow", path="/footy", muted_at=NOW))
    notice = NoticeRow(
        key="planted",
        application="footy",
        kind="goal",
        subject="footy.fixture.1",
        heading="planted-heading",
        followed=[FOLLOWED],
        title="planted-notice",
        path="/footy",
        occurred_at=NOW,
    )
    await _add(session, notice)
    session.add(InboxRow(user_id=user_id, notice_id=notice.id, because=FOLLOWED))
    return notice.id


_VIEW = stored_view(Selection(kind=ListKind.ALL, query="planted-search"), full_text=False)


def _workflow_id(name: str) -> str:
    return f"toy-{name}"


def _work(name: str, audience: Audience) -> ProgressUpdate:
    """Every second one has failed, so that all lists of work have some."""
    state = ProgressState.FAILED if AUDIENCES.index(name) % 2 else ProgressState.RUNNING
    return ProgressUpdate(
        workflow_id=_workflow_id(name),
        run_id="run",
        workflow_type="ToyWorkflow",
        task_queue="core",
        parent_workflow_id=None,
        state=state,
        title=f"planted-work-{name}",
        done=1,
        total=2,
        message=f"planted-message-{name} of {ADDRESS}",
        error=f"planted-error-{name}" if state is ProgressState.FAILED else "",
        detail={"words": f"planted-detail-{name}"},
        audience=audience,
        started_at=NOW - timedelta(minutes=1),
        updated_at=NOW,
    )


async def _add(session: AsyncSession, row: Any) -> Any:
    session.add(row)
    await session.flush()
    return row


async def _plant_reading(session: AsyncSession, user_id: int, feed: int, entry: int) -> Mapping[str, Any]:
    category = await _add(session, CategoryRow(user_id=user_id, name="planted-category"))
    label = await _add(session, LabelRow(user_id=user_id, name="planted-label"))
    await session.execute(
        update(SubscriptionRow)
        .where(SubscriptionRow.user_id == user_id, SubscriptionRow.feed_id == feed)
        .values(category_id=category.id, title="planted-own-title")
    )
    (await session.get_one(EntryRow, entry)).url = "https://private.example/planted-entry-address"
    session.add_all(
        (
            EntryStateRow(user_id=user_id, entry_id=entry, starred_at=NOW, note="planted-note"),
            EntryLabelRow(label_id=label.id, entry_id=entry),
            EntryLinkRow(entry_id=entry, url="https://private.example/planted-link", title="planted-link-title"),
            EntryTranslationRow(
                entry_id=entry, language="en", provider="llm", content_hash="", title="planted-translation", at=NOW
            ),
            EntryContextRow(
                entry_id=entry, content_hash="", method=ContextMethod.OFFLINE, key_points=["planted-key-point"], at=NOW
            ),
            PaidRequestRow(
                content_hash="h",
                prompt_version="1",
                model="m",
                feature="distil",
                item_id=entry,
                source_id=feed,
                outcome=Outcome.ANSWERED,
                answer="planted-ledger",
                tokens_in=10,
                tokens_out=1,
                weight=11,
                cost=1.5,
                at=NOW,
            ),
            AppPasswordRow(user_id=user_id, name="planted-app", hint="abcd", password_hash="unusable"),
            ViewFeedRow(user_id=user_id, token="planted-view-token", view=_VIEW),
            TokenRow(
                token_hash=secrets.token_bytes(8), hint="pbx_x", user_id=user_id, name="planted-token", scopes=["read"]
            ),
        )
    )
    card = EnrichmentRow(
        entry_id=entry,
        kind=EnrichmentKind.LINK,
        key="https://private.example/planted-link",
        title="planted-card",
        url="https://private.example/planted-link",
        body_html="<p>planted-card-body</p>",
        facts={"author": "", "language": "en", "words": 1},
        at=NOW,
    )
    await _add(session, card)
    generation = await _add(session, GraphGenerationRow(state="current"))
    nodes = [
        await _add(session, GraphNodeRow(generation_id=generation.id, key=f"planted-{name}", name=f"planted-{name}"))
        for name in ("entity", "neighbour")
    ]
    edge = GraphEdgeRow(generation_id=generation.id, source_id=nodes[0].id, target_id=nodes[1].id, relation="knows")
    await _add(session, edge)
    session.add_all(GraphEvidenceRow(node_id=node.id, entry_id=entry, quote="planted-quote") for node in nodes)
    session.add(GraphEvidenceRow(edge_id=edge.id, entry_id=entry, quote="planted-edge-quote"))
    return {"category_id": category.id, "label_id": label.id, "card_id": card.id}


async def _plant_questions(session: AsyncSession, user_id: int, entry: int, feed: int) -> Mapping[str, Any]:
    conversation = await _add(session, ConversationRow(user_id=user_id, title="planted-conversation", entry_id=entry))
    answer = AnswerRow(
        conversation_id=conversation.id,
        position=1,
        question="planted-question",
        state=AnswerState.DONE,
        method=AnswerMethod.MODEL,
        text="planted-answer",
        finished_at=NOW,
    )
    await _add(session, answer)
    material = {"title": "planted-source", "url": "https://a.example/1", "entry_id": entry, "feed_id": feed}
    run = ResearchRunRow(
        user_id=user_id,
        question="planted-research",
        state=ResearchState.DONE,
        report="planted-report [1]",
        sources=[{"number": 1, "material": material, "quotes": []}],
        finished_at=NOW,
    )
    await _add(session, run)
    step = ResearchStepRow(run_id=run.id, position=1, kind=StepKind.SEARCH, title="planted-step", state=StepState.DONE)
    session.add(step)
    return {"conversation_id": conversation.id, "answer_id": answer.id, "run_id": run.id}


async def _plant_events(session: AsyncSession, user_id: int) -> Mapping[str, Any]:
    private = await _event(session, user_id, "planted-event", Visibility.PRIVATE)
    public = await _event(session, user_id, "Open day", Visibility.PUBLIC)
    channel = ChannelRow(
        user_id=user_id,
        name="planted-channel",
        tags=["planted-tag"],
        encrypted_url=b"sealed",
        key_id="k",
        kind="json",
        target=secrets.token_bytes(8),
        last_error="planted-channel-error",
    )
    await _add(session, channel)
    ids: dict[str, Any] = {"event_id": private.id, "slug": private.slug, "open_slug": public.slug}
    for event, name in ((public, "open"), (private, "private")):
        contact = ContactRow(
            kind="email",
            encrypted_address=b"sealed",
            key_id="k",
            target=secrets.token_bytes(8),
            shown=f"planted-contact-{name}@***",
            verified_at=NOW,
        )
        await _add(session, contact)
        await _add(session, soonish.SubscriptionRow(event_id=event.id, contact_id=contact.id, state="active"))
        own = await _add(session, soonish.SubscriptionRow(event_id=event.id, user_id=user_id, state="active"))
        message = soonish.NotificationRow(
            event_id=event.id,
            cause="announcement",
            version="1",
            level="info",
            title=f"planted-announcement-{name}",
            body=f"planted-body-{name}",
        )
        await _add(session, message)
        session.add(soonish.RecipientRow(notification_id=message.id, subscription_id=own.id))
        delivery = soonish.DeliveryRow(
            notification_id=message.id,
            event_id=event.id,
            subscription_id=own.id,
            cause="announcement",
            version="1",
            channel_key=f"channel:{channel.id}",
            state="failed",
            reason=f"planted-reason-{name}",
        )
        session.add(delivery)
        ids |= {"subscription_id": own.id, "message_id": message.id}
    return ids | {"channel_id": channel.id}


async def _event(session: AsyncSession, user_id: int, name: str, visibility: Visibility) -> soonish.EventRow:
    event = soonish.EventRow(
        slug=secrets.token_hex(6),
        organiser_id=user_id,
        name=name,
        description=f"planted-description-{visibility}" if visibility is Visibility.PRIVATE else "Come all.",
        start_date=NOW + timedelta(days=7),
        end_date=NOW + timedelta(days=7, hours=2),
        location="planted-place" if visibility is Visibility.PRIVATE else "Town hall",
        timezone="Europe/Berlin",
        visibility=visibility,
        status=EventStatus.ACTIVE,
    )
    await _add(session, event)
    return event
