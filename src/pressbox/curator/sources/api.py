"""JSON: feeds, categories, discovery, OPML, and the preview of extraction rules."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from pressbox.core.web.api_models import StartedWorkflow
from pressbox.core.web.pages.access import provide
from pressbox.curator.reading.access import FeedId, Reader
from pressbox.curator.reading.api_models import (
    AddressBody,
    CategoryAnswer,
    FeedAnswer,
    FeedChange,
    FeedDetailAnswer,
    FoundFeedAnswer,
    ImportAnswer,
    NameBody,
    OrderBody,
    PreviewAnswer,
    PreviewBody,
    SourcesAnswer,
    SubscribeBody,
)
from pressbox.curator.sources.outlines import OutlineService
from pressbox.curator.sources.service import SourceService
from pressbox.curator.sources.wiring import outline_service, source_service

Sources = Annotated[SourceService, Depends(provide(source_service))]
Outlines = Annotated[OutlineService, Depends(provide(outline_service))]

router = APIRouter()
feeds = APIRouter(prefix="/api/curator", tags=["feeds"])
categories = APIRouter(prefix="/api/curator", tags=["categories"])
# For people in a browser, who have no token; programs use the address below /api/.
plain = APIRouter(include_in_schema=False)

OPML = "text/x-opml; charset=utf-8"


@feeds.get("/sources", summary="Your categories, feeds and labels, with counts")
async def sources(service: Sources, identity: Reader) -> SourcesAnswer:
    found = await service.sources(identity.user_id)
    return SourcesAnswer.model_validate(vars(found) | {"feeds": [FeedAnswer.of(feed) for feed in found.feeds]})


@feeds.get("/feeds", summary="Your feeds with their health")
async def all_feeds(service: Sources, identity: Reader) -> list[FeedAnswer]:
    return [FeedAnswer.of(feed) for feed in (await service.sources(identity.user_id)).feeds]


@feeds.post("/discover", summary="Feeds of a site, best first")
async def discover(service: Sources, identity: Reader, body: AddressBody) -> list[FoundFeedAnswer]:
    found = await service.discover(identity.user_id, body.url)
    return [FoundFeedAnswer.model_validate(feed) for feed in found]


@feeds.post("/feeds", status_code=201, summary="Subscribe to a feed, or to the best one of a site; it is read at once")
async def subscribe(service: Sources, identity: Reader, body: SubscribeBody) -> FeedAnswer:
    added = service.add(identity.user_id, body.url, title=body.title, category_id=body.category_id)
    return FeedAnswer.of(await added)


@feeds.post("/feeds/refresh", status_code=202, summary="Read every feed now that is not paused")
async def refresh_all(service: Sources, identity: Reader) -> StartedWorkflow:
    return StartedWorkflow(workflow_id=await service.refresh_all())


@feeds.get("/feeds/{feed_id}", summary="A feed with its latest failures")
async def feed(service: Sources, identity: Reader, feed_id: FeedId) -> FeedDetailAnswer:
    return FeedDetailAnswer.of(await service.detail(identity.user_id, feed_id))


@feeds.patch("/feeds/{feed_id}", summary="Your title and category; and what is common to all who read it")
async def change(service: Sources, identity: Reader, feed_id: FeedId, body: FeedChange) -> FeedAnswer:
    user_id = identity.user_id
    found = await service.feed(user_id, feed_id)
    # First what may be refused, then what is the person's own.
    if body.configures:
        administrator = identity.is_administrator
        await service.change(user_id, feed_id, body.settings(found), administrator=administrator)
    if body.places:
        title, category_id = body.placed(found)
        await service.place(user_id, feed_id, title=title, category_id=category_id)
    return FeedAnswer.of(await service.feed(user_id, feed_id))


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
async def pause(service: Sources, identity: Reader, feed_id: FeedId) -> FeedAnswer:
    administrator = identity.is_administrator
    return FeedAnswer.of(await service.pause(identity.user_id, feed_id, administrator=administrator))


@feeds.post("/feeds/{feed_id}/resume", summary="Crawl a paused feed again, at once")
async def resume(service: Sources, identity: Reader, feed_id: FeedId) -> FeedAnswer:
    administrator = identity.is_administrator
    return FeedAnswer.of(await service.resume(identity.user_id, feed_id, administrator=administrator))


@feeds.post("/preview", summary="What a page would become with some extraction rules; nothing is kept")
async def preview(service: Sources, identity: Reader, body: PreviewBody) -> PreviewAnswer:
    found = await service.preview(body.url, [rule.read() for rule in body.rules])
    return PreviewAnswer.model_validate(found)


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
async def import_outlines(request: Request, service: Outlines, identity: Reader) -> ImportAnswer:
    return ImportAnswer.of(await service.take(identity.user_id, await request.body()))


@feeds.get("/imports/{import_id}", summary="How an import stands: what is read, what waits, what fails and why")
async def imported(service: Outlines, identity: Reader, import_id: Annotated[str, Path(max_length=20)]) -> ImportAnswer:
    return ImportAnswer.of(await service.progress(identity.user_id, import_id))


@categories.post("/categories", status_code=201, summary="Make a category; one of this name is given as it is")
async def create_category(service: Sources, identity: Reader, body: NameBody) -> CategoryAnswer:
    return CategoryAnswer.model_validate(await service.create_category(identity.user_id, body.name))


@categories.put("/categories/order", status_code=204, summary="Put your categories in an order")
async def arrange_categories(service: Sources, identity: Reader, body: OrderBody) -> None:
    await service.arrange_categories(identity.user_id, body.category_ids)


@categories.patch("/categories/{category_id}", status_code=204, summary="Rename a category")
async def rename_category(service: Sources, identity: Reader, category_id: FeedId, body: NameBody) -> None:
    await service.rename_category(identity.user_id, category_id, body.name)


@categories.delete("/categories/{category_id}", status_code=204, summary="Remove a category; its feeds stay")
async def delete_category(service: Sources, identity: Reader, category_id: FeedId) -> None:
    await service.delete_category(identity.user_id, category_id)


for part in (feeds, categories, plain):
    router.include_router(part)
