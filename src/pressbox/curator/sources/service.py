"""Sources: finding feeds, subscribing, OPML in and out, categories, settings and health."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import ForbiddenError, InvalidInputError, NotFoundError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.objects.store import ObjectStore
from pressbox.core.processes.calls import Terms
from pressbox.core.quotas.at_once import AtOnce
from pressbox.core.quotas.store import QuotaUses
from pressbox.curator.feeds.domain import Discovery
from pressbox.curator.feeds.opml import OutlineFeed, read_opml, write_opml
from pressbox.curator.ingest.starter import IngestStarter
from pressbox.curator.library.domain import CuratorPolicy, ExtractionRule
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.library.quotas import LOOKED_UP_SITES, PREVIEWS, REFRESHES
from pressbox.curator.library.urls import LONGEST_FEED_ADDRESS, feed_address, is_too_long, site_name
from pressbox.curator.reading.domain import LONGEST_NAME, CategoryView, SourcesView, check_length, check_name
from pressbox.curator.sources.domain import FeedDetail, FeedSettings, FeedView, FoundFeedView, ImportView, PreviewView
from pressbox.curator.sources.store import SqlCategories, SqlSubscriptions
from pressbox.curator.text.plain_text import make_storable

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


ERRORS_SHOWN = 20
LONGEST_RULE = 2000
MOST_RULES = 50
SHORTEST_INTERVAL = CuratorPolicy().shortest_interval
LONGEST_INTERVAL = timedelta(days=30)
MOST_ENTRIES = 1000
MOST_LOOKUPS_AT_ONCE = 4
_SAYS_SCHEME = re.compile(r"\s*+(?:feed:(?://)?+)?+https?://", re.IGNORECASE)


class SourceService:
    """Feeds exist once for everybody and are fetched once; who reads them is private.

    What concerns all subscribers (full text, rules, interval, limit, pause) is changed by the only one who reads a
    feed, or by an administrator.
    """

    def __init__(
        self,
        subscriptions: SqlSubscriptions,
        categories: SqlCategories,
        discovery: Discovery,
        ingest: IngestStarter,
        objects: ObjectStore,
        now: Clock = utc_now,
        *,
        quotas: QuotaUses,
        shortest_interval: timedelta = SHORTEST_INTERVAL,
    ) -> None:
        self._subscriptions = subscriptions
        self._categories = categories
        self._discovery = discovery
        self._ingest = ingest
        self._objects = objects
        self._now = now
        self._quotas = quotas
        self._shortest_interval = shortest_interval
        # Each waits for somebody else's server.
        self._lookups = AtOnce(MOST_LOOKUPS_AT_ONCE, "Sites looked at for feeds")

    async def sources(self, user_id: int) -> SourcesView[FeedView]:
        """Categories, feeds with all that is known of them, labels and counts."""
        return await self._subscriptions.sources(user_id)

    async def feed(self, user_id: int, feed_id: int) -> FeedView:
        return await self._subscriptions.feed(user_id, feed_id)

    async def detail(self, user_id: int, feed_id: int) -> FeedDetail:
        """A feed with its latest failures."""
        return await self._subscriptions.detail(user_id, feed_id, ERRORS_SHOWN)

    async def everything(self) -> Sequence[FeedView]:
        """All feeds of the instance, for whoever runs it."""
        return await self._subscriptions.everything()

    async def discover(self, user_id: int, address: str) -> Sequence[FoundFeedView]:
        """Feeds of a site, best first; a feed's address gives itself. None is an InvalidInputError."""
        checked = checked_address(address)
        # Where nobody wrote a scheme, some sites speak http alone: discovery tries both.
        asked = checked if _SAYS_SCHEME.match(address) else checked.removeprefix("https://")
        await self._quotas.demand(LOOKED_UP_SITES, user_id)
        with self._lookups.take(user_id):
            found = await self._discovery.discover(asked, _owner(user_id))
        if not found:
            raise InvalidInputError(
                "No feed was found at this address. Paste the address of the feed itself, if you know it.", field="url"
            )
        known = await self._subscriptions.subscribed_urls(user_id, [item.url for item in found])
        return [
            FoundFeedView(
                url=item.url,
                title=item.title or site_name(item.url),
                entries=len(item.parsed.entries) if item.parsed else None,
                subscribed=item.url in known,
            )
            for item in found
        ]

    async def subscribe(
        self, user_id: int, url: str, *, title: str = "", category_id: int | None = None, called: str = ""
    ) -> FeedView:
        """Subscribe to a feed by its own address, as `discover` gave it; it is read at once. Twice is fine.

        `title` is the person's own; `called` is the one that `discover` found, for as long as nobody has read the feed.
        """
        feed = OutlineFeed(checked_address(url), title=check_length(title, "title"))
        name = make_storable(" ".join(called.split()))[:LONGEST_NAME]
        following = await self._subscriptions.subscribe(user_id, feed, category_id, self._now(), name)
        if following.new:
            log.info("subscribed", msg="Somebody subscribed to a feed", feed_id=following.feed_id)
            await self._start_ingest(following.feed_id, name or site_name(feed.url))
        return await self._subscriptions.feed(user_id, following.feed_id)

    async def add(self, user_id: int, address: str, *, title: str = "", category_id: int | None = None) -> FeedView:
        """Subscribe to the best feed of a site, in one step."""
        best = (await self.discover(user_id, address))[0]
        return await self.subscribe(user_id, best.url, title=title, category_id=category_id, called=best.title)

    @property
    def unread_at_start(self) -> int:
        """How many entries of a feed are unread for somebody who is new to it."""
        return self._subscriptions.unread_at_start

    async def unsubscribe(self, user_id: int, feed_id: int) -> None:
        """What the person starred, marked up, noted or labelled stays; a feed that nobody reads or keeps is removed."""
        if await self._subscriptions.unsubscribe(user_id, feed_id, self._now()):
            log.info("feed_removed", msg="A feed without subscribers was removed", feed_id=feed_id)

    async def place(self, user_id: int, feed_id: int, *, title: str, category_id: int | None) -> FeedView:
        """The person's own title (empty: the feed's) and category."""
        await self._subscriptions.place(user_id, feed_id, check_length(title, "title"), category_id)
        return await self._subscriptions.feed(user_id, feed_id)

    async def change(
        self, user_id: int, feed_id: int, settings: FeedSettings, *, administrator: bool = False
    ) -> FeedView:
        """Full text, rules, interval and limit, for all subscribers."""
        await self._demand_common(user_id, feed_id, administrator)
        await self._subscriptions.change(
            user_id, feed_id, checked_settings(settings, self._shortest_interval), self._now()
        )
        return await self._subscriptions.feed(user_id, feed_id)

    async def pause(self, user_id: int, feed_id: int, *, administrator: bool = False) -> FeedView:
        """No crawls until somebody resumes it; what was read stays."""
        return await self._pause(user_id, feed_id, True, administrator)

    async def resume(self, user_id: int, feed_id: int, *, administrator: bool = False) -> FeedView:
        return await self._pause(user_id, feed_id, False, administrator)

    async def refresh(self, user_id: int, feed_id: int) -> str:
        """Read a feed now, also one that is gone or backed off; the id of the workflow that does it."""
        await self._quotas.demand(REFRESHES, user_id)
        await self._subscriptions.make_due(user_id, feed_id, self._now())
        feed = await self._subscriptions.feed(user_id, feed_id)
        # The person's own title is private, and others who read the feed see the work too.
        return await self._ingest.ingest_feed(feed_id, site_name(feed.url) if feed.own_title else feed.title)

    async def refresh_all(self, user_id: int) -> str:
        """Read every feed now that is not paused; the id of the workflow."""
        await self._quotas.demand(REFRESHES, user_id)
        return await self._ingest.ingest_all(only_due=False)

    async def retry(self, user_id: int, feed_id: int) -> str | None:
        """Do the entries again whose fetch or summary failed; the id of the workflow, None when there are none."""
        await self._quotas.demand(REFRESHES, user_id)
        failed = await self._subscriptions.retry_entries(user_id, feed_id)
        return await self._ingest.reprocess(failed, fetch=True, distill=True) if failed else None

    async def preview(self, user_id: int, url: str, rules: Sequence[ExtractionRule]) -> PreviewView:
        """What a page would become with these rules. Nothing is stored with a feed. A person has one at a time."""
        checked_rules(rules)
        address = checked_address(url)
        await self._quotas.demand(PREVIEWS, user_id)
        done = await self._ingest.preview(address, rules, user_id)
        if not done.ok:
            return PreviewView(ok=False, html="", title="", words=0, error=done.error)
        html = (await self._objects.get(done.preview_key)).decode()
        return PreviewView(ok=True, html=html, title=done.title, words=done.words, error="")

    async def create_category(self, user_id: int, name: str) -> CategoryView[FeedView]:
        """One with this name that exists already is given as it is."""
        return await self._categories.create(user_id, check_name(name))

    async def rename_category(self, user_id: int, category_id: int, name: str) -> None:
        await self._categories.rename(user_id, category_id, check_name(name))

    async def delete_category(self, user_id: int, category_id: int) -> None:
        """Its feeds stay, without a category."""
        await self._categories.delete(user_id, category_id)

    async def arrange_categories(self, user_id: int, category_ids: Sequence[int]) -> None:
        await self._categories.arrange(user_id, category_ids)

    async def _pause(self, user_id: int, feed_id: int, paused: bool, administrator: bool) -> FeedView:
        await self._demand_common(user_id, feed_id, administrator)
        await self._subscriptions.pause(user_id, feed_id, paused, self._now())
        log.info("feed_paused" if paused else "feed_resumed", msg="A feed was paused or resumed", feed_id=feed_id)
        return await self._subscriptions.feed(user_id, feed_id)

    async def _demand_common(self, user_id: int, feed_id: int, administrator: bool) -> None:
        feed = await self._subscriptions.feed(user_id, feed_id)
        if feed.shared and not administrator:
            raise ForbiddenError("Other people read this feed too, so only an administrator may change this for all.")

    async def _start_ingest(self, feed_id: int, name: str) -> None:
        try:
            await self._ingest.ingest_feed(feed_id, name)
        except TransientError as error:
            # The feed is due: the schedule reads it as soon as Temporal is back.
            log.warning("ingest_not_started", msg=f"A feed waits for the schedule: {error.message}", feed_id=feed_id)


def _owner(user_id: int) -> str:
    """Whose turn it is at the parser."""
    return f"person {user_id}"


def checked_address(address: str) -> str:
    """An address as people paste it; without a scheme it is taken as https."""
    text = feed_address(address)
    if "://" not in text:
        text = feed_address(f"https://{text}")
    if is_too_long(text):
        raise InvalidInputError(f"The address is longer than {LONGEST_FEED_ADDRESS} characters.", field="url")
    if not _is_web_address(text):
        raise InvalidInputError("Write an address such as https://example.org or example.org.", field="url")
    return text


def checked_settings(settings: FeedSettings, shortest: timedelta) -> FeedSettings:
    interval, limit = settings.interval, settings.entry_limit
    if interval is not None and not shortest <= interval <= LONGEST_INTERVAL:
        minutes = f"{shortest / timedelta(minutes=1):g}"
        raise InvalidInputError(
            f"An interval lies between {minutes} minutes and 30 days. Whoever runs this Pressbox may allow shorter "
            "ones with PRESSBOX_CURATOR_SHORTEST_INTERVAL_MINUTES.",
            field="interval",
        )
    if limit is not None and not 1 <= limit <= MOST_ENTRIES:
        raise InvalidInputError(f"A limit lies between 1 and {MOST_ENTRIES} entries.", field="entry_limit")
    checked_rules(settings.rules)
    return settings


def checked_rules(rules: Sequence[ExtractionRule]) -> None:
    if len(rules) > MOST_RULES:
        raise InvalidInputError(f"A feed has at most {MOST_RULES} rules.", field="rules")
    for rule in rules:
        if rule.kind not in ("css", "xpath"):
            raise InvalidInputError("A rule is of the kind css or xpath.", field="rules")
        if not rule.expression.strip() or len(rule.expression) > LONGEST_RULE:
            raise InvalidInputError("A rule needs an expression, such as article .content.", field="rules")


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(c.isspace() for c in text)
