"""OPML in and out. What could be subscribed is subscribed in one transaction; it is then read in the background."""

from datetime import UTC, datetime, timedelta

from pydantic import TypeAdapter

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, NotFoundError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.objects.store import ObjectStore
from pressbox.core.processes.calls import Terms
from pressbox.curator.feeds.opml import OutlineFeed, read_opml, write_opml
from pressbox.curator.ingest.starter import IngestStarter
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.sources.domain import FeedView, ImportView
from pressbox.curator.sources.store import SqlSubscriptions

log = get_logger(__name__)

MOST_BYTES = 10_000_000
MOST_FEEDS = 20_000
TITLE = "Pressbox"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_REPORT = TypeAdapter(ImportView)


class OutlineService:
    def __init__(
        self,
        subscriptions: SqlSubscriptions,
        objects: ObjectStore,
        ingest: IngestStarter,
        parsers: ParserPool,
        now: Clock = utc_now,
    ) -> None:
        self._subscriptions = subscriptions
        self._objects = objects
        self._ingest = ingest
        self._parsers = parsers
        self._now = now

    async def take(self, user_id: int, content: bytes) -> ImportView:
        """Import an OPML file. Its broken lines are named; every other feed is subscribed, and read soon."""
        if len(content) > MOST_BYTES:
            raise InvalidInputError("The file is larger than 10 MB. Is it an OPML file?", field="file")
        read = await self._parsers.run_by(Terms(owner=f"person {user_id}"), read_opml, content)
        if len(read.feeds) > MOST_FEEDS:
            raise InvalidInputError(f"At most {MOST_FEEDS} feeds can be imported at a time.", field="file")
        followed = await self._subscriptions.subscribe_many(user_id, read.feeds, self._now())
        report = ImportView(
            id=_name(followed.stamp),
            added=len(followed.added),
            known=followed.known,
            broken=read.problems,
            waiting=len(followed.added),
        )
        # Kept for a day, so that a reload of the page still names what could not be imported.
        await self._objects.put(_import_key(user_id, report.id), _REPORT.dump_json(report))
        log.info("outlines_imported", msg=f"{report.added} feeds imported", broken=len(report.broken))
        if followed.added:
            await self._start_ingest()
        return report

    async def progress(self, user_id: int, import_id: str) -> ImportView:
        """An import as it stands: which feeds are still to be read, which can be, and which fail and why."""
        feeds = await self._subscriptions.subscribed_since(user_id, _moment(import_id))
        try:
            report = _REPORT.validate_json(await self._objects.get(_import_key(user_id, import_id)))
        except NotFoundError:
            # Older than a day: the feeds still tell how they are.
            if not feeds:
                raise NotFoundError("There is no such import.") from None
            report = ImportView(import_id, added=len(feeds), known=0, broken=())
        return ImportView(
            id=report.id,
            added=report.added,
            known=report.known,
            broken=report.broken,
            waiting=sum(feed.health.outcome is None for feed in feeds),
            readable=sum(feed.health.outcome is not None and not feed.health.failing for feed in feeds),
            failing=tuple(feed for feed in feeds if feed.health.failing),
        )

    async def export(self, user_id: int) -> bytes:
        """All subscriptions of a person as OPML, with titles and categories as they have them."""
        sources = await self._subscriptions.sources(user_id)
        return write_opml([_outline(feed) for feed in sources.feeds], TITLE, self._now())

    async def _start_ingest(self) -> None:
        try:
            await self._ingest.ingest_all(only_due=True)
        except TransientError as error:
            # All of them are due: the schedule reads them as soon as Temporal is back.
            log.warning("ingest_not_started", msg=f"The imported feeds wait for the schedule: {error.message}")


def _import_key(user_id: int, import_id: str) -> str:
    return f"scratch/curator/import-{user_id}-{import_id}.json"


def _outline(feed: FeedView) -> OutlineFeed:
    return OutlineFeed(feed.url, title=feed.title, site_url=feed.site_url, category=feed.category)


def _name(stamp: datetime) -> str:
    return str((stamp - _EPOCH) // _MICROSECOND)


def _moment(import_id: str) -> datetime:
    if not (import_id.isascii() and import_id.isdigit() and len(import_id) < 17):
        raise NotFoundError("There is no such import.")
    return _EPOCH + int(import_id) * _MICROSECOND
