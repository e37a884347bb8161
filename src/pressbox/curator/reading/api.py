"""JSON: lists, articles, what people do with them, and labels."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from pressbox.core.web.api_models import RequestBody, ResponseModel, StartedWorkflow
from pressbox.core.web.joining import join_routers
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rates import spend
from pressbox.curator.library.quotas import REFRESHES
from pressbox.curator.reading.access import EntryId, Identifier, NameBody, Reader
from pressbox.curator.reading.domain import (
    ArticleView,
    CountedLabel,
    EntryItem,
    EntryPage,
    ListKind,
    MarkedRead,
    OfflineMark,
    Preference,
    Selection,
    Sort,
)
from pressbox.curator.reading.service import ReadingService, StateService
from pressbox.curator.reading.wiring import reading_service, state_service

Service = Annotated[ReadingService, Depends(provide(reading_service))]
States = Annotated[StateService, Depends(provide(state_service))]

reading = APIRouter(prefix="/api/curator", tags=["entries"])
labelling = APIRouter(prefix="/api/curator", tags=["labels"])

After = Annotated[str | None, Query(max_length=100, description="The `after` of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=200)]


class EntryChange(RequestBody):
    """What is left out stays as it is."""

    read: bool | None = None
    starred: bool | None = None
    preference: Preference | None = None
    note: str | None = None
    labels: list[str] | None = Field(None, description="Exactly these afterwards; new names become labels.")


class ReadBody(RequestBody):
    entry_ids: list[Identifier] = Field(max_length=1000)
    read: bool = True


class MarkBody(RequestBody):
    key: UUID = Field(description="Made by the phone: a mark that comes again with the same key changes nothing.")
    entry_id: Identifier
    read: bool | None = None
    starred: bool | None = None


class MarksBody(RequestBody):
    marks: list[MarkBody] = Field(min_length=1, max_length=100)


class AllReadBody(RequestBody):
    view: ListKind = ListKind.ALL
    id: Identifier | None = None
    until: datetime = Field(description="When you saw the list, with an offset: what arrived later stays unread.")

    def selection(self) -> Selection:
        return Selection(self.view, self.id)


class UndoBody(RequestBody):
    stamp: datetime


class UndoneCount(ResponseModel):
    count: int


def _selection(
    view: Annotated[ListKind, Query(description="Which list.")] = ListKind.ALL,
    id: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="Of the category, feed or label.")] = None,
    unread: Annotated[bool, Query(description="Only what is unread.")] = False,
    sort: Annotated[Sort | None, Query(description="Otherwise the newest first, and a search by relevance.")] = None,
    q: Annotated[str, Query(max_length=500, description="Words to search for.")] = "",
    opened_at: Annotated[
        datetime | None, Query(description="Keep in an unread list what was read since; with an offset.")
    ] = None,
    graph_added: Annotated[
        bool | None, Query(alias="graphAdded", description="Only entries whose text is in the graph, or is not.")
    ] = None,
) -> Selection:
    order = sort or (Sort.RELEVANCE if q.strip() else Sort.NEWEST)
    return Selection(
        view, id, unread_only=unread, sort=order, query=q, opened_at=_aware(opened_at), graph_added=graph_added
    )


Chosen = Annotated[Selection, Depends(_selection)]


@reading.get("/entries", summary="One page of a list, or of what a search found")
async def entries(
    service: Service, identity: Reader, selection: Chosen, after: After = None, limit: PageSize = 50
) -> EntryPage:
    return await service.load_entries(identity.user_id, selection, after=after, limit=limit)


@reading.post("/entries/read", status_code=204, summary="Mark entries as read or unread")
async def mark_read(states: States, identity: Reader, body: ReadBody) -> None:
    await states.mark_read(identity.user_id, body.entry_ids, read=body.read)


@reading.post("/entries/marks", status_code=204, summary="Send marks that were made without network, in their order")
async def send_marks(states: States, identity: Reader, body: MarksBody) -> None:
    marks = [OfflineMark(str(mark.key), mark.entry_id, mark.read, mark.starred) for mark in body.marks]
    await states.apply_marks(identity.user_id, marks)


@reading.post("/entries/all-read", summary="Mark everything in a list as read that was there when you saw it")
async def mark_all_read(states: States, identity: Reader, body: AllReadBody) -> MarkedRead:
    until = _aware(body.until)
    assert until is not None
    return await states.mark_all_read(identity.user_id, body.selection(), until=until)


@reading.post("/entries/all-read/undo", summary='Take one "all read" back')
async def undo_all_read(states: States, identity: Reader, body: UndoBody) -> UndoneCount:
    stamp = _aware(body.stamp)
    assert stamp is not None
    return UndoneCount(count=await states.undo_all_read(identity.user_id, stamp))


@reading.get("/entries/{entry_id}", summary="One article")
async def article(service: Service, identity: Reader, entry_id: EntryId) -> ArticleView:
    return await service.load_article(identity.user_id, entry_id)


@reading.patch("/entries/{entry_id}", summary="Read, star, prefer, note or label an entry")
async def change(
    service: Service, states: States, identity: Reader, entry_id: EntryId, body: EntryChange
) -> ArticleView:
    user_id = identity.user_id
    # Refused before anything is written, when it is not the person's.
    await service.load_item(user_id, entry_id)
    if body.read is not None:
        await states.mark_read(user_id, [entry_id], read=body.read)
    if body.starred is not None:
        await states.star(user_id, entry_id, starred=body.starred)
    if body.preference is not None:
        await states.prefer(user_id, entry_id, Preference(body.preference))
    if body.note is not None:
        await states.set_note(user_id, entry_id, body.note)
    if body.labels is not None:
        await states.set_labels(user_id, entry_id, body.labels)
    return await service.load_article(user_id, entry_id)


@reading.get("/entries/{entry_id}/related", summary="Other stories that are near in meaning")
async def related(
    service: Service, identity: Reader, entry_id: EntryId, limit: Annotated[int, Query(ge=1, le=50)] = 6
) -> Sequence[EntryItem]:
    return await service.load_related(identity.user_id, entry_id, limit=limit)


@reading.post(
    "/entries/{entry_id}/redo",
    status_code=202,
    summary="Fetch and summarise an entry again",
    dependencies=[Depends(spend(REFRESHES))],
)
async def redo(service: Service, identity: Reader, entry_id: EntryId) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.redo(identity.user_id, entry_id))


@labelling.get("/labels", summary="Your labels")
async def labels(states: States, identity: Reader) -> Sequence[CountedLabel]:
    return await states.load_labels(identity.user_id)


@labelling.post("/labels", status_code=201, summary="Make a label; one of this name is given as it is")
async def create_label(states: States, identity: Reader, body: NameBody) -> CountedLabel:
    return await states.create_label(identity.user_id, body.name)


@labelling.patch("/labels/{label_id}", status_code=204, summary="Rename a label")
async def rename_label(states: States, identity: Reader, label_id: EntryId, body: NameBody) -> None:
    await states.rename_label(identity.user_id, label_id, body.name)


@labelling.delete("/labels/{label_id}", status_code=204, summary="Remove a label from all its entries")
async def delete_label(states: States, identity: Reader, label_id: EntryId) -> None:
    await states.delete_label(identity.user_id, label_id)


def _aware(moment: datetime | None) -> datetime | None:
    """A time without an offset is taken as UTC."""
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


router = join_routers(reading, labelling)
