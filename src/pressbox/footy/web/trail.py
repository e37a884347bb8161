"""The trail of a goal as one table, in the order in which things happened."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pressbox.footy.domain.views import AuditView, CandidateView


class Step(StrEnum):
    FIRST_SEEN = "first seen"
    SEEN = "seen"
    CONFIRMED = "confirmed"
    MISSED = "missed"
    NOTE = "note"
    SEARCH = "search"
    CANDIDATE = "candidate"
    DOWNLOAD = "download"
    SEARCH_ENDED = "search ended"
    COMPLETE = "complete"


@dataclass(frozen=True)
class TrailRow:
    """`result` is a word that the page translates; `count` is a number of clips; `reason` is as recorded."""

    at: datetime
    step: Step
    result: str = ""
    reason: str = ""
    subject: str = ""
    count: int | None = None
    failed: bool = False
    candidate: CandidateView | None = None


def build_rows(audit: AuditView) -> list[TrailRow]:
    """Oldest first."""
    rows = [*_sightings(audit), *_notes(audit), *_searches(audit), *_candidates(audit), *_downloads(audit)]
    return sorted([*rows, *_ends(audit)], key=lambda row: row.at)


def _sightings(audit: AuditView) -> Iterator[TrailRow]:
    for number, run in enumerate(audit.sightings):
        step = Step.SEEN if number else Step.FIRST_SEEN
        yield TrailRow(run.registered_at, step, subject=run.workflow_id)
    for run in audit.misses:
        yield TrailRow(run.registered_at, Step.MISSED, subject=run.workflow_id, failed=True)
    if audit.goal.confirmed_at is not None:
        yield TrailRow(audit.goal.confirmed_at, Step.CONFIRMED)


def _notes(audit: AuditView) -> Iterator[TrailRow]:
    for note in audit.notes:
        change = " → ".join(part for part in (note.before, note.after) if part)
        yield TrailRow(note.at, Step.NOTE, note.what, change, note.run_id)


def _searches(audit: AuditView) -> Iterator[TrailRow]:
    for search in audit.searches:
        yield TrailRow(
            search.searched_at,
            Step.SEARCH,
            "failed" if search.failure else "",
            search.failure or search.query,
            f"{search.attempt} · {search.source}",
            None if search.failure else search.found,
            bool(search.failure),
        )


def _candidates(audit: AuditView) -> Iterator[TrailRow]:
    for candidate in audit.candidates.items:
        at = candidate.settled_at or candidate.discovered_at
        yield TrailRow(
            at, Step.CANDIDATE, candidate.outcome.value, candidate.reason, candidate.source, candidate=candidate
        )


def _downloads(audit: AuditView) -> Iterator[TrailRow]:
    for run in audit.downloads:
        result = run.outcome or ("finished" if run.finished_at else "running")
        yield TrailRow(run.finished_at or run.registered_at, Step.DOWNLOAD, result, subject=run.workflow_id)


def _ends(audit: AuditView) -> Iterator[TrailRow]:
    if audit.search_ended_at is not None:
        yield TrailRow(audit.search_ended_at, Step.SEARCH_ENDED, audit.search_ended)
    if audit.goal.completed_at is not None:
        yield TrailRow(audit.goal.completed_at, Step.COMPLETE, audit.goal.completion_reason)
