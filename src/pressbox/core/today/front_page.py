"""Puts the first page of a person together: sections of all applications, and what needs attention."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.app import AppManifest, Resources
from pressbox.core.audiences.members import AnyViewer, Viewer
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.db.parameters import PERSON
from pressbox.core.logs import get_logger
from pressbox.core.notices.reader import select_unread
from pressbox.core.progress.reader import ActivitySummary, read_counts, select_counts
from pressbox.core.spoilers.store import read_sight, sight_columns
from pressbox.core.today.arrangement import Arrangement, Step
from pressbox.core.today.contracts import TODAY_CHANGED, Attention, PageReader, SectionView, TodaySection
from pressbox.core.today.failures import FAILURES, say_failure
from pressbox.core.today.rows import FrontPageRow

log = get_logger(__name__)

ATTENTION_AT_MOST = 6


@dataclass(frozen=True)
class ShownSection:
    """A section with what it shows, or with why it shows nothing."""

    section: TodaySection
    view: SectionView
    problem: str = ""

    @property
    def is_shown(self) -> bool:
        has_words = bool(self.section.nothing) or (bool(self.section.first_step) and not self.view.begun)
        return bool(self.view.lines or self.problem or has_words)


@dataclass(frozen=True)
class FrontPage:
    """All that the page shows. `cursor` was read before the rest: from there a live stream misses nothing.

    `delayed`: its reader wants scores later, hears of none of them live, and so the page asks again by itself.
    """

    sections: Sequence[ShownSection]
    attention: Sequence[Attention]
    topics: Sequence[str]
    hidden: int
    running: int
    failed: int
    unread: int
    cursor: int
    delayed: bool = False

    @property
    def is_new(self) -> bool:
        """Whether somebody sees it who has not begun with anything."""
        beginnings = [shown for shown in self.sections if shown.section.first_step]
        return bool(beginnings) and not any(shown.view.begun for shown in beginnings)

    @property
    def is_beginning(self) -> bool:
        """Whether a first step is offered."""
        return any(shown.section.first_step and not shown.view.begun for shown in self.sections)


@dataclass(frozen=True)
class _Beginning:
    """What the page needs of the core. The cursor is read first: what commits later is in the stream."""

    cursor: int
    unread: int
    work: ActivitySummary
    arrangement: Arrangement
    reader: PageReader


@dataclass(frozen=True)
class _Content:
    sections: Sequence[ShownSection]
    attention: Sequence[Attention]


async def load_front_page(resources: Resources, viewer: Viewer, manifests: Sequence[AppManifest]) -> FrontPage:
    declared = declared_sections(manifests)
    async with resources.database.unit_of_work() as work:
        begin = await _begin(work, viewer, tuple(declared))
        wanted = [declared[key] for key in begin.arrangement.sections if key not in begin.arrangement.hidden]
        content = await _load_together(work, resources, begin.reader, wanted, manifests)
    if content is None:
        content = await _load_apart(resources, begin.reader, wanted, manifests)
    person = str(viewer.user_id)
    topics = [topic for section in wanted for topic in section.topics]
    topics += [f"{topic}:{person}" for section in wanted for topic in section.own_topics]
    return FrontPage(
        sections=[shown for shown in content.sections if shown.is_shown],
        attention=content.attention[:ATTENTION_AT_MOST],
        topics=(*dict.fromkeys(topics), f"{TODAY_CHANGED}:{person}"),
        hidden=len(begin.arrangement.hidden),
        running=begin.work.running,
        failed=begin.work.failed,
        unread=begin.unread,
        cursor=begin.cursor,
        delayed=begin.reader.sight.delayed,
    )


async def _load_together(
    work: UnitOfWork,
    resources: Resources,
    reader: PageReader,
    wanted: Sequence[TodaySection],
    manifests: Sequence[AppManifest],
) -> _Content | None:
    """All of it in one transaction: a transaction costs as much as a statement. None when something of it fails."""
    try:
        sections = [
            ShownSection(section, await section.load(work, resources, reader, section.limit)) for section in wanted
        ]
        attention = [
            line
            for manifest in manifests
            if manifest.attention is not None
            for line in await manifest.attention(work, resources, reader.viewer)
        ]
    except FAILURES:
        # The transaction may be broken. Who failed, and why, is said when each is loaded by itself.
        await work.session.rollback()
        return None
    return _Content(sections, attention)


async def _load_apart(
    resources: Resources, reader: PageReader, wanted: Sequence[TodaySection], manifests: Sequence[AppManifest]
) -> _Content:
    """Each in a transaction of its own: what fails leaves the others standing."""
    sections = [await _load(section, resources, reader) for section in wanted]
    return _Content(
        sections, [line for manifest in manifests for line in await _look(manifest, resources, reader.viewer)]
    )


def declared_sections(manifests: Sequence[AppManifest]) -> Mapping[str, TodaySection]:
    return {section.key: section for manifest in manifests for section in manifest.today()}


async def load_arrangement(database: Database, user_id: int, declared: Sequence[str]) -> Arrangement:
    async with database.unit_of_work() as work:
        row = await work.session.get(FrontPageRow, user_id)
    return _arrangement(row.sections, row.hidden, declared) if row else Arrangement().over(declared)


async def arrange(database: Database, user_id: int, declared: Sequence[str], key: str, step: Step) -> None:
    """Change the order by one step. Two windows at once both count: the row is locked."""
    async with database.unit_of_work() as work:
        await work.session.execute(insert(FrontPageRow).values(user_id=user_id).on_conflict_do_nothing())
        row = await work.session.get_one(FrontPageRow, user_id, with_for_update=True)
        changed = _arrangement(row.sections, row.hidden, declared).take(key, step)
        row.sections, row.hidden = list(changed.sections), sorted(changed.hidden)
        work.changed(TODAY_CHANGED, str(user_id))


async def reset(database: Database, user_id: int) -> None:
    """Back to the order that everybody begins with, with nothing hidden."""
    async with database.unit_of_work() as work:
        row = await work.session.get(FrontPageRow, user_id)
        if row is not None:
            await work.session.delete(row)
        work.changed(TODAY_CHANGED, str(user_id))


async def _begin(work: UnitOfWork, viewer: Viewer, declared: Sequence[str]) -> _Beginning:
    """One statement."""
    found = await work.session.execute(_select_beginning(AnyViewer.like(viewer)), {"person": viewer.user_id})
    newest, stored, counted, number, *seen = found.one()
    sections, hidden = stored or ((), ())
    arrangement = _arrangement(sections, hidden, declared)
    return _Beginning(newest, number, read_counts(counted), arrangement, PageReader(viewer, read_sight(*seen)))


@lru_cache
def _select_beginning(viewer: AnyViewer) -> Select[Any]:
    cursor = select(func.coalesce(func.max(ChangeRow.id), 0)).scalar_subquery()
    mine = select(func.jsonb_build_array(FrontPageRow.sections, FrontPageRow.hidden)).where(
        FrontPageRow.user_id == PERSON
    )
    counts, unread = select_counts(viewer).scalar_subquery(), select_unread(PERSON).scalar_subquery()
    return select(cursor, mine.scalar_subquery(), counts, unread, *sight_columns(PERSON))


def _arrangement(sections: Sequence[str], hidden: Sequence[str], declared: Sequence[str]) -> Arrangement:
    return Arrangement(tuple(sections), frozenset(hidden)).over(declared)


async def _load(section: TodaySection, resources: Resources, reader: PageReader) -> ShownSection:
    """One application that does not answer leaves the others standing, and does not look empty."""
    try:
        async with resources.database.unit_of_work() as work:
            return ShownSection(section, await section.load(work, resources, reader, section.limit))
    except FAILURES as error:
        log.warning("section_not_loaded", msg=f"A section cannot be shown: {section.key}", error=str(error))
        return ShownSection(section, SectionView(), say_failure(error))


async def _look(manifest: AppManifest, resources: Resources, viewer: Viewer) -> Sequence[Attention]:
    if manifest.attention is None:
        return ()
    try:
        async with resources.database.unit_of_work() as work:
            return await manifest.attention(work, resources, viewer)
    except FAILURES as error:
        log.warning("attention_not_found", msg=f"What needs attention is not known: {manifest.name}", error=str(error))
        return ()
