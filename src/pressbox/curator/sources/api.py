"""JSON: feeds, categories, discovery, OPML, and the preview of extraction rules."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import Field

from pressbox.core.web.api_models import RequestBody, ResponseModel, StartedWorkflow
from pressbox.core.web.joining import join_routers
from pressbox.core.web.pages.access import provide
from pressbox.curator.library.domain import CrawlOutcome, ExtractionRule, OutlineProblem
from pressbox.curator.reading.access import FeedId, Identifier, NameBody, Reader
from pressbox.curator.reading.domain import CategoryView, SourcesView
from pressbox.curator.sources.domain import FeedDetail, FeedSettings, FeedView, FoundFeedView, ImportView, PreviewView
from pressbox.curator.sources.service import OutlineService, SourceService
from pressbox.curator.sources.wiring import outline_service, source_service

Sources = Annotated[SourceService, Depends(provide(source_service))]
Outlines = Annotated[OutlineService, Depends(provide(outline_service))]

feeds = APIRouter(prefix="/api/curator", tags=["feeds"])
categories = APIRouter(prefix="/api/curator", tags=["categories"])
# For people in a browser, who have no token; programs use the address below /api/.
plain = APIRouter(include_in_schema=False)

ImportId = Annotated[str, Path(max_length=20)]
OPML = "text/x-opml; charset=utf-8"


class RuleBody(RequestBody):
    """What the expression finds on a page is kept or removed."""

    kind: Literal["css", "xpath"]
    expression: str
    keep: bool

    def rule(self) -> ExtractionRule:
        return ExtractionRule(self.kind, self.expression, self.keep)


class AddressBody(RequestBody):
    url: str = Field(max_length=2000, description="Of a site, or of a feed itself.")


class SubscribeBody(AddressBody):
    title: str = Field("", description="Your own title; empty: the feed's.")
    category_id: Identifier | None = None


class FeedChange(RequestBody):
    """What is left out stays as it is."""

    title: str | None = None
    category_id: Identifier | None = Field(None, description="null: no category; left out, it stays.")
    full_text: bool | None = None
    rules: list[RuleBody] | None = None
    interval_seconds: int | None = Field(None, ge=1, description="null: it adapts; left out, it stays.")
    entry_limit: int | None = Field(None, ge=1, description="null: no limit of its own; left out, it stays.")

    @property
    def moves(self) -> bool:
        return bool(self.model_fields_set & {"title", "category_id"})

    @property
    def configures(self) -> bool:
        return bool(self.model_fields_set - {"title", "category_id"})

    def new_place(self, feed: FeedView) -> tuple[str, int | None]:
        category = self.category_id if "category_id" in self.model_fields_set else feed.category_id
        return feed.own_title if self.title is None else self.title, category

    def new_settings(self, feed: FeedView) -> FeedSettings:
        interval, limit = feed.interval, feed.entry_limit
        if "interval_seconds" in self.model_fields_set:
            interval = None if self.interval_seconds is None else timedelta(seconds=self.interval_seconds)
        if "entry_limit" in self.model_fields_set:
            limit = self.entry_limit
        return FeedSettings(
            full_text=feed.full_text if self.full_text is None else self.full_text,
            rules=feed.rules if self.rules is None else tuple(rule.rule() for rule in self.rules),
            interval=interval,
            entry_limit=limit,
        )


class OrderBody(RequestBody):
    category_ids: list[Identifier] = Field(max_length=1000)


class PreviewBody(AddressBody):
    rules: list[RuleBody] = Field(default_factory=list, max_length=50)


class FailingFeed(ResponseModel):
    id: int
    title: str
    url: str
    outcome: CrawlOutcome | None
    reason: str
    next_crawl_at: datetime | None


class ImportResponse(ResponseModel):
    """An import as it stands. What could be subscribed is subscribed; `waiting` feeds are still to be read."""

    id: str
    total: int
    added: int
    known: int
    waiting: int
    readable: int
    broken: list[OutlineProblem] = Field(description="Lines that could not be used.")
    failing: list[FailingFeed] = Field(description="Feeds that could not be read.")

    @classmethod
    def of(cls, report: ImportView) -> Self:
        failing = [vars(feed) | vars(feed.health) for feed in report.failing]
        return cls.model_validate(vars(report) | {"total": report.total, "failing": failing})


@feeds.get("/sources", summary="Your categories, feeds and labels, with counts")
async def sources(service: Sources, identity: Reader) -> SourcesView[FeedView]:
    return await service.sources(identity.user_id)


@feeds.get("/feeds", summary="Your feeds with their health")
async def all_feeds(service: Sources, identity: Reader) -> Sequence[FeedView]:
    return (await service.sources(identity.user_id)).feeds


@feeds.post("/discover", summary="Feeds of a site, best first")
async def discover(service: Sources, identity: Reader, body: AddressBody) -> Sequence[FoundFeedView]:
    return await service.discover(identity.user_id, body.url)


@feeds.post("/feeds", status_code=201, summary="Subscribe to a feed, or to the best one of a site; it is read at once")
async def subscribe(service: Sources, identity: Reader, body: SubscribeBody) -> FeedView:
    added = service.add(identity.user_id, body.url, title=body.title, category_id=body.category_id)
    return await added


@feeds.post("/feeds/refresh", status_code=202, summary="Read every feed now that is not paused")
async def refresh_all(service: Sources, identity: Reader) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.refresh_all(identity.user_id))


@feeds.get("/feeds/{feed_id}", summary="A feed with its latest failures")
async def feed(service: Sources, identity: Reader, feed_id: FeedId) -> FeedDetail:
    return await service.detail(identity.user_id, feed_id)


@feeds.patch("/feeds/{feed_id}", summary="Your title and category; and what is common to all who read it")
async def change(service: Sources, identity: Reader, feed_id: FeedId, body: FeedChange) -> FeedView:
    user_id = identity.user_id
    found = await service.feed(user_id, feed_id)
    # First what may be refused, then what is the person's own.
    if body.configures:
        administrator = identity.is_administrator
        await service.change(user_id, feed_id, body.new_settings(found), administrator=administrator)
    if body.moves:
        title, category_id = body.new_place(found)
        await service.place(user_id, feed_id, title=title, category_id=category_id)
    return await service.feed(user_id, feed_id)


@feeds.delete("/feeds/{feed_id}", status_code=204, summary="Unsubscribe; what you starred, noted or labelled stays")
async def unsubscribe(service: Sources, identity: Reader, feed_id: FeedId) -> None:
    await service.unsubscribe(identity.user_id, feed_id)


@feeds.post("/feeds/{feed_id}/refresh", status_code=202, summary="Read a feed now")
async def refresh(service: Sources, identity: Reader, feed_id: FeedId) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.refresh(identity.user_id, feed_id))


@feeds.post("/feeds/{feed_id}/retry", status_code=202, summary="Do the entries again whose fetch or summary failed")
async def retry(service: Sources, identity: Reader, feed_id: FeedId) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.retry(identity.user_id, feed_id))


@feeds.post("/feeds/{feed_id}/pause", summary="No crawls until it is resumed")
async def pause(service: Sources, identity: Reader, feed_id: FeedId) -> FeedView:
    administrator = identity.is_administrator
    return await service.pause(identity.user_id, feed_id, administrator=administrator)


@feeds.post("/feeds/{feed_id}/resume", summary="Crawl a paused feed again, at once")
async def resume(service: Sources, identity: Reader, feed_id: FeedId) -> FeedView:
    administrator = identity.is_administrator
    return await service.resume(identity.user_id, feed_id, administrator=administrator)


@feeds.post("/preview", summary="What a page would become with some extraction rules; nothing is kept")
async def preview(service: Sources, identity: Reader, body: PreviewBody) -> PreviewView:
    found = await service.preview(identity.user_id, body.url, [rule.rule() for rule in body.rules])
    return found


@plain.get("/opml")
@feeds.get(
    "/opml", summary="Your subscriptions as OPML", response_class=Response, responses={200: {"content": {OPML: {}}}}
)
async def export(service: Outlines, identity: Reader) -> Response:
    return Response(
        await service.export(identity.user_id),
        media_type=OPML,
        headers={"Content-Disposition": 'attachment; filename="pressbox.opml"'},
    )


@plain.post("/opml", status_code=202)
@feeds.post(
    "/opml",
    status_code=202,
    summary="Subscribe to what an OPML file lists; the body is the file",
    openapi_extra={"requestBody": {"content": {"text/x-opml": {"schema": {"type": "string"}}}, "required": True}},
)
async def import_outlines(request: Request, service: Outlines, identity: Reader) -> ImportResponse:
    return ImportResponse.of(await service.take(identity.user_id, await request.body()))


@feeds.get("/imports/{import_id}", summary="How an import stands: what is read, what waits, what fails and why")
async def imported(
    service: Outlines, identity: Reader, import_id: Annotated[str, Path(max_length=20)]
) -> ImportResponse:
    return ImportResponse.of(await service.progress(identity.user_id, import_id))


@categories.post("/categories", status_code=201, summary="Make a category; one of this name is given as it is")
async def create_category(service: Sources, identity: Reader, body: NameBody) -> CategoryView[FeedView]:
    return await service.create_category(identity.user_id, body.name)


@categories.put("/categories/order", status_code=204, summary="Put your categories in an order")
async def arrange_categories(service: Sources, identity: Reader, body: OrderBody) -> None:
    await service.arrange_categories(identity.user_id, body.category_ids)


@categories.patch("/categories/{category_id}", status_code=204, summary="Rename a category")
async def rename_category(service: Sources, identity: Reader, category_id: FeedId, body: NameBody) -> None:
    await service.rename_category(identity.user_id, category_id, body.name)


@categories.delete("/categories/{category_id}", status_code=204, summary="Remove a category; its feeds stay")
async def delete_category(service: Sources, identity: Reader, category_id: FeedId) -> None:
    await service.delete_category(identity.user_id, category_id)


router = join_routers(feeds, categories, plain)
