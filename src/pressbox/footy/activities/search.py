"""Activities of TwitterWorkflow: build the query, ask all sources at once, and keep what they found."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PressboxError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.limits import limits
from pressbox.footy.contracts.download import SettledCandidate
from pressbox.footy.contracts.search import (
    DownloadCount,
    ExecuteSearchInput,
    FinishSearchInput,
    FoundClip,
    GoalExistence,
    GoalReference,
    SavedCandidates,
    SaveDiscoveredInput,
    SearchData,
    SearchDataInput,
    SearchResult,
    SetMonitorCompleteInput,
    SourceFailure,
)
from pressbox.footy.domain.candidates import FoundVideo, find_declared_flaw, longest_first
from pressbox.footy.domain.names import build_query
from pressbox.footy.domain.player_names import extract_player_search_names
from pressbox.footy.domain.posts import merge_same_posts
from pressbox.footy.domain.request_budget import RequestBudget, note_clock_ahead
from pressbox.footy.domain.search_window import is_urgent, search_age
from pressbox.footy.domain.team_names import derive_aliases
from pressbox.footy.ports.outside import ClipSource, HearsTime, SearchRequest
from pressbox.footy.ports.storage import BudgetStore, Candidates, Goals, SourceAnswer, SourceHealth

# Shorter than the timeout of the activity: a source that hangs must not lose what the others found.
SOURCE_TIME = timedelta(seconds=45)
# Limits the payload of one attempt. The rest is not lost: the next search finds it again.
MOST_FOUND = 40
LONGEST_TEXT = 280
# Some sources cut the time of a post to whole seconds, which makes it look older.
WHOLE_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class _Asked:
    """What the sources answered to one search."""

    begun: datetime
    found: Sequence[FoundVideo]
    answers: Sequence[SourceAnswer]

    def result(self) -> SearchResult:
        return SearchResult(
            videos=tuple(_to_contract(video) for video in self.found),
            failures=tuple(
                SourceFailure(source=each.source, reason=each.failure) for each in self.answers if each.failure
            ),
        )


class SearchActivities:
    def __init__(
        self,
        goals: Goals,
        candidates: Candidates,
        sources: Sequence[ClipSource],
        health: SourceHealth | None = None,
        budget: BudgetStore | None = None,
        now: Clock = utc_now,
        source_time: timedelta = SOURCE_TIME,
    ) -> None:
        self._goals = goals
        self._candidates = candidates
        self._sources = sources
        self._health = health
        self._budget = budget
        self._now = now
        self._source_time = source_time

    @activity.defn
    @call_with(limits(30, attempts=5, first_pause=2))
    async def set_monitor_complete(self, input: SetMonitorCompleteInput) -> None:
        await self._goals.set_monitor_complete(input.event_id, input.workflow_id, self._now())

    @activity.defn
    @call_with(limits(30, attempts=3, first_pause=2))
    async def check_event_exists(self, input: GoalReference) -> GoalExistence:
        gone = await self._goals.removal_reason(input.event_id)
        return GoalExistence(exists=gone is None, reason=gone or "")

    @activity.defn
    @call_with(limits(30, attempts=3, first_pause=2))
    async def get_download_workflow_count(self, input: GoalReference) -> DownloadCount:
        return await self._goals.count_downloads(input.event_id)

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def get_twitter_search_data(self, input: SearchDataInput) -> SearchData:
        """Read the scorer anew for each attempt: he may have been corrected meanwhile."""
        player, team, _ = await self._goals.load_scorer(input.event_id)
        names, teams = extract_player_search_names(player), input.aliases or derive_aliases(team)
        query = build_query(names, teams)
        await self._goals.record_query(input.event_id, query)
        now = self._now()
        age = search_age(input.policy, await self._goals.load_search_start(input.event_id), now)
        return SearchData(
            event_id=input.event_id,
            attempt=input.attempt,
            query=query,
            player_names=names,
            team_aliases=teams,
            max_age=age,
            max_results=input.policy.search_results,
            since=now - age,
            sources=len(self._sources),
        )

    @activity.defn
    @call_with(limits(60, attempts=3, first_pause=10, factor=1.5, heartbeat=15))
    async def execute_twitter_search(self, input: ExecuteSearchInput) -> SearchResult:
        asked = await self._ask(input)
        await self._record(input.search, asked)
        return asked.result()

    async def search_and_save(self, input: ExecuteSearchInput) -> SavedCandidates:
        """Record the search last: the next one looks back only to one whose finds are kept."""
        search, asked = input.search, await self._ask(input)
        saved = await self.save_discovered_videos(
            SaveDiscoveredInput(
                event_id=search.event_id, attempt=search.attempt, videos=asked.result().videos, policy=input.policy
            )
        )
        await self._record(search, asked)
        return saved

    async def _ask(self, input: ExecuteSearchInput) -> _Asked:
        search, begun = input.search, self._now()
        ahead = await self._load_clock_ahead()
        request = SearchRequest(
            query=search.query,
            player_names=search.player_names,
            team_aliases=search.team_aliases,
            max_results=search.max_results,
            max_age=ahead
            + (max(search.max_age, begun - search.since + WHOLE_SECOND) if search.since else search.max_age),
            exclude_urls=await self._candidates.load_known_urls(search.event_id),
            urgent=is_urgent(input.policy, search.attempt),
        )
        async with Heartbeat():
            found, answers = await search_all(self._sources, request, self._source_time)
        new = merge_same_posts(found, request.exclude_urls)
        return _Asked(begun, longest_first(new, MOST_FOUND, input.policy), answers)

    async def _record(self, search: SearchData, asked: _Asked) -> None:
        await self._candidates.record_search(search.event_id, search.attempt, search.query, asked.answers, asked.begun)
        await self._note_clock(search.event_id)
        if self._health is not None:
            await self._health.record(asked.answers, asked.begun)

    async def _note_clock(self, event_id: str) -> None:
        """Keep what the answers say of our clock. A wrong one belongs to the trail: it makes new posts look old."""
        if self._budget is None:
            return
        known = await keep_time(self._budget, self._sources)
        if known.clock_ahead:
            await self._goals.note_wrong_clock(event_id, known.clock_ahead, self._now())

    async def _load_clock_ahead(self) -> timedelta:
        """How much further to look back: to a clock that is fast every new post is too old."""
        if self._budget is None:
            return timedelta()
        return max((await self._budget.load()).clock_ahead, timedelta())

    @activity.defn
    @call_with(limits(30, attempts=3, first_pause=2))
    async def save_discovered_videos(self, input: SaveDiscoveredInput) -> SavedCandidates:
        videos = [FoundVideo(**video.model_dump()) for video in input.videos]
        saved = await self._candidates.save(input.event_id, input.attempt, videos, self._now())
        # Five compilations of two minutes must not keep five clips of half a minute from being downloaded.
        flaws = [(number, find_declared_flaw(video, input.policy)) for number, video in zip(saved, videos, strict=True)]
        unfit = [
            SettledCandidate(candidate_id=number, outcome=flaw[0], reason=flaw[1]) for number, flaw in flaws if flaw
        ]
        await self._candidates.settle(unfit, self._now())
        chosen = await self._candidates.choose(input.event_id, input.attempt, input.policy.videos_per_attempt)
        return SavedCandidates(saved=len(saved), chosen=tuple(chosen))

    @activity.defn
    @call_with(limits(30, attempts=5, first_pause=2))
    async def finish_search(self, input: FinishSearchInput) -> None:
        await self._goals.end_search(input.event_id, input.ended, self._now())


async def keep_time(store: BudgetStore, sources: Sequence[ClipSource]) -> RequestBudget:
    """Compare our clock with those of the sources, of which the middle one counts: that needs no key and no request."""
    known = await store.load()
    told = sorted(
        (seconds, source.name)
        for source in sources
        if isinstance(source, HearsTime) and (seconds := source.clock_ahead_seconds) is not None
    )
    if not told:
        return known
    seconds, by = told[len(told) // 2]
    if seconds == known.clock_ahead_seconds:
        return known
    await store.change(lambda budget: (note_clock_ahead(budget, seconds, by), None))
    return note_clock_ahead(known, seconds, by)


async def search_all(
    sources: Sequence[ClipSource], request: SearchRequest, patience: timedelta
) -> tuple[list[FoundVideo], list[SourceAnswer]]:
    """Ask all sources at once. A source that fails is recorded with its reason, never as "found nothing"."""
    asked = await asyncio.gather(*(_search(source, request, patience) for source in sources))
    return [video for videos, _ in asked for video in videos], [answer for _, answer in asked]


async def _search(
    source: ClipSource, request: SearchRequest, patience: timedelta
) -> tuple[Sequence[FoundVideo], SourceAnswer]:
    try:
        async with asyncio.timeout(patience.total_seconds()):
            found = await source.search(request)
    except TimeoutError:
        return (), _failure(source, f"no answer within {patience.total_seconds():g} s")
    except PressboxError as error:
        return (), _failure(source, error.message)
    # A bug in one source must not lose what the others found.
    except Exception as error:  # noqa: BLE001
        activity.logger.exception("%s failed in an unexpected way", source.name)
        return (), _failure(source, f"unexpected: {type(error).__name__}")
    return found, SourceAnswer(source.name, len(found))


def _failure(source: ClipSource, reason: str) -> SourceAnswer:
    return SourceAnswer(source.name, 0, reason)


def _to_contract(video: FoundVideo) -> FoundClip:
    short = replace(video, post_text=video.post_text[:LONGEST_TEXT])
    return FoundClip(
        source=short.source,
        video_page_url=short.video_page_url,
        post_url=short.post_url,
        post_text=short.post_text,
        media_url=short.media_url,
        duration_seconds=short.duration_seconds,
        posted_at=short.posted_at,
    )
