"""The part of the reader in a digest: the stories that mattered, each with one line and why it is here."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.digests import DigestLine, DigestSection, DigestSpan
from pressbox.core.spoilers.store import load_guarded
from pressbox.core.spoilers.titles import GuardedMatch, find_told
from pressbox.curator.library.rows import EntryRow, EntryStateRow, FeedRow, SubscriptionRow
from pressbox.curator.library.store import feed_name
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.names import PATH
from pressbox.curator.reading.digest_model import write_paragraph
from pressbox.curator.search.similarity import load_taste, order_by_taste
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings
from pressbox.curator.text.plain_text import shorten

MOST_STORIES = 7
# Without anything that tells stories apart, so many of the newest.
FEWEST_STORIES = 3
# What was published earlier is no news, however late it was seen.
OLDEST = timedelta(days=2)
# So many of the newest are looked at.
MOST_ENTRIES = 3000
RECOMMENDED = 3
# Fewer entries than this leave no choice that would mean anything.
FEWEST_TO_RECOMMEND = 8
LINE_BYTES = 220
# As often as this something of the source was starred or marked up.
OFTEN = 3
_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")


@dataclass(frozen=True)
class Story:
    """A story of the time, in the copy that arrived first. `kept` counts what was kept of its sources before."""

    entry_id: int
    title: str
    summary: str
    source: str
    published_at: datetime
    sources: int = 1
    kept: int = 0
    recommended: bool = False

    @property
    def weight(self) -> int:
        return 3 * (self.sources - 1) + 2 * self.recommended + (self.kept >= OFTEN)

    @property
    def why(self) -> str:
        reasons = [
            f"In {self.sources} of your sources." if self.sources > 1 else "",
            "Close to what you marked up." if self.recommended else "",
            "From a source that you often keep." if self.kept >= OFTEN else "",
        ]
        return " ".join(filter(None, reasons)) or "New in your sources."


async def write_section(resources: Resources, viewer: Viewer, span: DigestSpan) -> DigestSection | None:
    """Stories that were first seen in this time and that the person has not read in any copy."""
    model = embedder(resources.settings.group(CuratorSettings)).model
    async with resources.database.unit_of_work() as work:
        guarded = await load_guarded(work.session, viewer.user_id)
        stories = [_cover(one, guarded) for one in choose(await _load(work.session, viewer.user_id, span, model))]
    if not stories:
        return None
    text = await write_paragraph(paid_model(resources), stories, span.language) if span.may_pay else ""
    summary = "One story that mattered." if len(stories) == 1 else f"{len(stories)} stories that mattered."
    return DigestSection("Stories that mattered", summary, [_line(story) for story in stories], text)


def choose(stories: Collection[Story]) -> Sequence[Story]:
    """The weightiest first; where few have any weight, the newest too, from as many sources as there are."""
    newest = sorted(stories, key=lambda story: (story.published_at, story.entry_id), reverse=True)
    weighty = sorted((story for story in newest if story.weight), key=lambda story: -story.weight)
    sources = {story.source for story in weighty}
    others: list[Story] = []
    again: list[Story] = []
    for story in (story for story in newest if not story.weight):
        (again if story.source in sources else others).append(story)
        sources.add(story.source)
    return [*weighty, *[*others, *again][: max(0, FEWEST_STORIES - len(weighty))]][:MOST_STORIES]


def first_sentence(text: str) -> str:
    return shorten(_END.split(" ".join(text.split()), maxsplit=1)[0], LINE_BYTES)


def _cover(story: Story, guarded: Sequence[GuardedMatch]) -> Story:
    """Of a story that tells a score which the person hides, only the match: no model reads more of it either."""
    match = find_told(f"{story.title}\n{story.summary}", guarded)
    return replace(story, title=match.heading, summary="") if match else story


def _line(story: Story) -> DigestLine:
    said = first_sentence(story.summary)
    detail = f"{story.source}: {said}" if said and story.source else said or story.source
    return DigestLine(story.title, f"{PATH}/entries/{story.entry_id}", detail=detail, why=story.why)


async def _load(session: AsyncSession, user_id: int, span: DigestSpan, model: str) -> Sequence[Story]:
    rows = (await session.execute(_entries(user_id, span))).all()
    unread: dict[int, list[int]] = {}
    read = {row.story for row in rows if row.read_at is not None}
    for number, row in enumerate(rows):
        if row.story not in read:
            unread.setdefault(row.story, []).append(number)
    firsts = [min(numbers, key=lambda number: rows[number].id) for numbers in unread.values()]
    kept = await _count_kept(session, user_id, {row.feed_id for row in rows})
    liked = await _recommend(session, user_id, [rows[number].id for number in firsts], model)
    return [
        Story(
            entry_id=rows[first].id,
            title=rows[first].title or rows[first].url,
            summary=rows[first].summary,
            source=rows[first].source,
            published_at=rows[first].published_at,
            sources=len({rows[number].feed_id for number in numbers}),
            kept=max(kept.get(rows[number].feed_id, 0) for number in numbers),
            recommended=rows[first].id in liked,
        )
        for first, numbers in zip(firsts, unread.values(), strict=True)
    ]


def _entries(
    user_id: int, span: DigestSpan
) -> Select[tuple[int, int, str, str, str, datetime, int, str, datetime | None]]:
    entry, state = EntryRow, EntryStateRow
    # An entry without a story is one of its own.
    story = func.coalesce(entry.story_id, -entry.id).label("story")
    source = feed_name(SubscriptionRow.title).label("source")
    return (
        select(
            *(entry.id, entry.feed_id, entry.title, entry.url, entry.summary, entry.published_at),
            *(story, source, state.read_at),
        )
        .join(SubscriptionRow, and_(SubscriptionRow.feed_id == entry.feed_id, SubscriptionRow.user_id == user_id))
        .join(FeedRow, FeedRow.id == entry.feed_id)
        .outerjoin(state, and_(state.entry_id == entry.id, state.user_id == user_id))
        .where(
            entry.first_seen_at > span.since,
            entry.first_seen_at <= span.until,
            entry.published_at > span.since - OLDEST,
        )
        .order_by(entry.published_at.desc(), entry.id.desc())
        .limit(MOST_ENTRIES)
    )


async def _count_kept(session: AsyncSession, user_id: int, feed_ids: Collection[int]) -> dict[int, int]:
    state = EntryStateRow
    statement = (
        select(EntryRow.feed_id, func.count())
        .join(state, state.entry_id == EntryRow.id)
        .where(state.user_id == user_id, or_(state.starred_at.is_not(None), state.preference == 1))
        .group_by(EntryRow.feed_id)
    )
    counted = (await session.execute(statement)).tuples().all()
    return {feed_id: count for feed_id, count in counted if feed_id in feed_ids}


async def _recommend(session: AsyncSession, user_id: int, entry_ids: Sequence[int], model: str) -> frozenset[int]:
    """Those that are closest to what the person marked up; none where there is no taste, or no choice."""
    if len(entry_ids) < FEWEST_TO_RECOMMEND:
        return frozenset()
    taste, _ = await load_taste(session, user_id, model)
    if taste is None:
        return frozenset()
    among = select(EntryRow.id).where(EntryRow.id.in_(entry_ids), EntryRow.vector_hash == EntryRow.shown_hash)
    return frozenset(await session.scalars(order_by_taste(user_id, among, model, taste).limit(RECOMMENDED)))
