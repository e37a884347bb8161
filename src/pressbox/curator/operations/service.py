"""Work on demand: what `pressbox trigger` starts, the preview of rules, and what models cost."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from pressbox.core.errors import InvalidInputError
from pressbox.core.objects.store import ObjectStore
from pressbox.curator.library.domain.feeds import ExtractionRule
from pressbox.curator.library.domain.views import BudgetView, CostsView, PreviewView
from pressbox.curator.models.domain import day_start, next_day_start
from pressbox.curator.models.ports import ModelLedger
from pressbox.curator.operations.ports import Workflows
from pressbox.curator.reading.ports import Costs, ReadingLists, Subscriptions
from pressbox.curator.sources.service import checked_address, checked_rules

COST_DAYS = 30
MOST_ENTRIES = 500
SEEN_FOR = timedelta(seconds=20)


class WorkService:
    """Each method that starts something gives the id of its workflow."""

    def __init__(
        self,
        workflows: Workflows,
        subscriptions: Subscriptions,
        lists: ReadingLists,
        costs: Costs,
        ledger: ModelLedger,
        objects: ObjectStore,
        tokens_per_day: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._workflows = workflows
        self._subscriptions = subscriptions
        self._lists = lists
        self._costs = costs
        self._ledger = ledger
        self._objects = objects
        self._tokens_per_day = tokens_per_day
        self._now = now
        self._looked_at: tuple[datetime, BudgetView] | None = None

    async def ingest(self, *, only_due: bool = True) -> str:
        return await self._workflows.ingest_all(only_due=only_due)

    async def ingest_feed(self, feed_id: int) -> str:
        """Any feed of the instance, in nobody's name."""
        await self._subscriptions.demand_feed(feed_id)
        return await self._workflows.ingest_feed(feed_id)

    async def distil(self, entry_ids: Sequence[int] = ()) -> str:
        """These entries, or everything that is not distilled yet."""
        return await self._workflows.distil(_some(entry_ids))

    async def reprocess(self, entry_ids: Sequence[int], *, fetch: bool = True, distill: bool = True) -> str:
        if not entry_ids:
            raise InvalidInputError("Name at least one entry.", field="entry_ids")
        return await self._workflows.reprocess(_some(entry_ids), fetch=fetch, distill=distill)

    async def redo(self, user_id: int, entry_id: int) -> str:
        """Fetch and summarise one of the person's entries again."""
        await self._lists.article(user_id, entry_id)
        return await self._workflows.reprocess([entry_id], fetch=True, distill=True)

    async def reindex(self, *, batch_size: int = 500, clean: bool = False) -> str:
        return await self._workflows.reindex(batch_size, clean)

    async def prune(self, *, batch_size: int = 1000) -> str:
        return await self._workflows.prune(batch_size)

    async def embed(self, *, batch_size: int = 100) -> str:
        return await self._workflows.embed(batch_size)

    async def clean_up(self, *, days: int = 7, dry_run: bool = False) -> str:
        return await self._workflows.clean_up(days, dry_run)

    async def preview(self, url: str, rules: Sequence[ExtractionRule]) -> PreviewView:
        """What a page would become with these rules. Nothing is stored with a feed."""
        checked_rules(rules)
        done = await self._workflows.preview(checked_address(url), rules)
        if not done.ok:
            return PreviewView(ok=False, error=done.error)
        html = (await self._objects.get(done.preview_key)).decode()
        return PreviewView(ok=True, html=html, title=done.title, words=done.words)

    async def costs(self, user_id: int, *, administrator: bool = False, days: int = COST_DAYS) -> CostsView:
        """Per day of UTC, feed and feature: of the person's feeds, for an administrator of all."""
        now = self._now()
        since = day_start(now) - timedelta(days=days - 1)
        spent = await self._costs.by_day(None if administrator else user_id, since)
        return CostsView(tuple(spent), await self.budget(), since.date() + timedelta(days=days - 1))

    async def budget(self) -> BudgetView:
        now = self._now()
        return BudgetView(await self._ledger.tokens_today(now), self._tokens_per_day, next_day_start(now))

    async def spent_budget(self) -> BudgetView | None:
        """The budget when it is used up. Every page of the reader asks, so the answer may be some seconds old."""
        now = self._now()
        if self._looked_at is None or not now - SEEN_FOR < self._looked_at[0] <= now:
            self._looked_at = (now, await self.budget())
        seen = self._looked_at[1]
        return seen if seen.used_up else None


def _some(entry_ids: Sequence[int]) -> Sequence[int]:
    if len(entry_ids) > MOST_ENTRIES:
        raise InvalidInputError(f"At most {MOST_ENTRIES} entries at a time.", field="entry_ids")
    return entry_ids
