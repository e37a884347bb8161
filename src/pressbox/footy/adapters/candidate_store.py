"""Clips that the searches found, and what became of each, in PostgreSQL."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError, shorten
from pressbox.footy.adapters.changes import publish_goal
from pressbox.footy.adapters.rows import ClipCandidateRow, ClipSearchRow
from pressbox.footy.contracts.download import SettledCandidate
from pressbox.footy.domain.candidates import CandidateOutcome, FoundVideo, longest_first
from pressbox.footy.domain.posts import merge_same_posts, post_key
from pressbox.footy.ports.storage import Candidate, SourceAnswer

# Posts can be long, and a trail shows many.
_TEXT_LENGTH = 1_000
_REASON_LENGTH = 500

OPEN = tuple(outcome.value for outcome in CandidateOutcome if not outcome.final)

_SETTLE = text("""
    UPDATE footy.clip_candidates AS candidate
    SET outcome = result.outcome,
        reason = result.reason,
        settled_at = CASE WHEN result.final THEN CAST(:now AS timestamptz) END
    FROM unnest(CAST(:ids AS bigint[]), CAST(:outcomes AS text[]), CAST(:reasons AS text[]), CAST(:finals AS boolean[]))
        AS result (id, outcome, reason, final)
    WHERE candidate.id = result.id AND candidate.outcome = ANY(CAST(:open AS text[]))
    RETURNING candidate.event_id
""")


class SqlCandidates:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_known_urls(self, event_id: str) -> frozenset[str]:
        statement = select(ClipCandidateRow.video_page_url).where(ClipCandidateRow.event_id == event_id)
        async with self._database.unit_of_work() as work:
            return frozenset(await work.session.scalars(statement))

    async def record_search(
        self, event_id: str, attempt: int, query: str, answers: Sequence[SourceAnswer], now: datetime
    ) -> None:
        same = (ClipSearchRow.event_id == event_id) & (ClipSearchRow.attempt == attempt)
        rows = {
            answer.source: {
                "event_id": event_id,
                "attempt": attempt,
                "source": answer.source,
                "query": query,
                "searched_at": now,
                "found": answer.found,
                "failure": shorten(answer.failure, _REASON_LENGTH),
            }
            for answer in answers
        }
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(ClipSearchRow).where(same))
            if rows:
                await work.session.execute(insert(ClipSearchRow), list(rows.values()))
            publish_goal(work, event_id)

    async def save(self, event_id: str, attempt: int, videos: Sequence[FoundVideo], now: datetime) -> Sequence[int]:
        if not videos:
            return []
        known = select(ClipCandidateRow.video_page_url, ClipCandidateRow.id).where(
            ClipCandidateRow.event_id == event_id
        )
        async with self._database.unit_of_work() as work:
            before = [url for url, _ in (await work.session.execute(known)).tuples()]
            new = merge_same_posts(videos, before)
            rows = [_new_row(event_id, attempt, video, now) for video in new]
            if rows:
                rows.sort(key=lambda row: str(row["video_page_url"]))
                await work.session.execute(insert(ClipCandidateRow).on_conflict_do_nothing(), rows)
            ids = {post_key(url): number for url, number in (await work.session.execute(known)).tuples()}
            publish_goal(work, event_id)
        return [ids[post_key(video.video_page_url)] for video in videos]

    async def choose(self, event_id: str, attempt: int, limit: int) -> Sequence[int]:
        of_goal = ClipCandidateRow.event_id == event_id
        taken = select(ClipCandidateRow.id).where(of_goal, ClipCandidateRow.chosen_in == attempt)
        waiting = (
            select(ClipCandidateRow)
            .where(of_goal, ClipCandidateRow.outcome == CandidateOutcome.FOUND)
            .order_by(ClipCandidateRow.id)
            .with_for_update()
        )
        async with self._database.unit_of_work() as work:
            if before := list(await work.session.scalars(taken.order_by(ClipCandidateRow.id))):
                return before
            videos = {_found_video(row): row for row in await work.session.scalars(waiting)}
            chosen = [videos[video] for video in longest_first(list(videos), limit)]
            for row in chosen:
                row.outcome, row.chosen_in = CandidateOutcome.CHOSEN, attempt
            return sorted(row.id for row in chosen)

    async def load(self, candidate_id: int) -> Candidate:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(ClipCandidateRow, candidate_id)
        if row is None:
            raise NotFoundError("This candidate no longer exists.", candidate_id=candidate_id)
        return Candidate(row.id, row.event_id, _found_video(row), CandidateOutcome(row.outcome).final)

    async def settle(self, candidates: Iterable[SettledCandidate], now: datetime) -> None:
        settled = sorted(candidates, key=lambda candidate: candidate.candidate_id)
        if not settled:
            return
        async with self._database.unit_of_work() as work:
            changed = await work.session.scalars(
                _SETTLE,
                {
                    "ids": [candidate.candidate_id for candidate in settled],
                    "outcomes": [candidate.outcome.value for candidate in settled],
                    "reasons": [shorten(candidate.reason, _REASON_LENGTH) for candidate in settled],
                    "finals": [candidate.outcome.final for candidate in settled],
                    "open": list(OPEN),
                    "now": now,
                },
            )
            for event_id in set(changed):
                publish_goal(work, event_id)


def _new_row(event_id: str, attempt: int, video: FoundVideo, now: datetime) -> dict[str, object]:
    return {
        "event_id": event_id,
        "attempt": attempt,
        "source": video.source,
        "video_page_url": video.video_page_url,
        "tweet_url": video.post_url,
        "tweet_text": _without_nul(shorten(video.post_text, _TEXT_LENGTH)),
        "media_url": video.media_url,
        "duration": video.duration_seconds,
        "posted_at": video.posted_at,
        "discovered_at": now,
        "outcome": CandidateOutcome.FOUND,
    }


def _without_nul(words: str) -> str:
    # PostgreSQL's text cannot hold the zero character, but posts can.
    return words.replace("\x00", "")


def _found_video(row: ClipCandidateRow) -> FoundVideo:
    return FoundVideo(
        source=row.source,
        video_page_url=row.video_page_url,
        post_url=row.tweet_url,
        post_text=row.tweet_text,
        media_url=row.media_url,
        duration_seconds=row.duration,
        posted_at=row.posted_at,
    )
