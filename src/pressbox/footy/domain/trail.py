"""The trail of a goal: what was decided of each clip, and what happened, in its order. Pure.

What happened many times in the same way is one row with a count: polls, searches with the same query, downloads.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.views import AuditView, CandidateView, RunView, SearchView

# Longer lists are folded.
MOST_UNFOLDED = 3
_SHOWN = frozenset({CandidateOutcome.STORED, CandidateOutcome.REPLACED})


class Step(StrEnum):
    FIRST_SEEN = "first seen"
    SEEN = "seen"
    CONFIRMED = "confirmed"
    MISSED = "missed"
    NOTE = "note"
    SEARCH = "search"
    DOWNLOAD = "download"
    SEARCH_ENDED = "search ended"
    COMPLETE = "complete"


@dataclass(frozen=True)
class TrailRow:
    """`result` is a word that the page translates; `count` is a number of clips; `reason` is as recorded.

    `times` says how often it happened, the last time `until`.
    """

    at: datetime
    step: Step
    result: str = ""
    reason: str = ""
    subject: str = ""
    count: int | None = None
    failed: bool = False
    times: int = 1
    until: datetime | None = None


@dataclass(frozen=True)
class Decision:
    """The clips of which the same was decided. Those in which somebody looks for an answer are unfolded."""

    outcome: CandidateOutcome
    candidates: tuple[CandidateView, ...]

    @property
    def open(self) -> bool:
        return self.outcome in _SHOWN or len(self.candidates) <= MOST_UNFOLDED


def build_decisions(audit: AuditView) -> list[Decision]:
    """What is shown first, then what most clips were refused for."""
    same: dict[CandidateOutcome, list[CandidateView]] = defaultdict(list)
    for candidate in audit.candidates.items:
        same[candidate.outcome].append(candidate)
    decisions = [Decision(outcome, tuple(candidates)) for outcome, candidates in same.items()]
    return sorted(decisions, key=lambda one: (one.outcome not in _SHOWN, -len(one.candidates), one.outcome))


def build_rows(audit: AuditView) -> list[TrailRow]:
    """Oldest first."""
    rows = [*_sightings(audit), *_notes(audit), *_searches(audit), *_downloads(audit)]
    return sorted([*rows, *_ends(audit)], key=lambda row: row.at)


def _sightings(audit: AuditView) -> Iterator[TrailRow]:
    first, *others = audit.sightings or (None,)
    if first is not None:
        yield TrailRow(first.registered_at, Step.FIRST_SEEN)
    for step, runs in ((Step.SEEN, others), (Step.MISSED, audit.misses)):
        times = [run.registered_at for run in runs if run is not None]
        if times:
            yield TrailRow(min(times), step, times=len(times), until=max(times), failed=step is Step.MISSED)
    if audit.goal.confirmed_at is not None:
        yield TrailRow(audit.goal.confirmed_at, Step.CONFIRMED)


def _notes(audit: AuditView) -> Iterator[TrailRow]:
    for note in audit.notes:
        change = " → ".join(part for part in (note.before, note.after) if part)
        yield TrailRow(note.at, Step.NOTE, note.what, change)


def _searches(audit: AuditView) -> Iterator[TrailRow]:
    """One row for each source with the same query and the same failure."""
    same: dict[tuple[str, str, str], list[SearchView]] = defaultdict(list)
    for search in audit.searches:
        same[search.source, search.query, search.failure].append(search)
    for (source, query, failure), searches in same.items():
        times = [search.searched_at for search in searches]
        yield TrailRow(
            min(times),
            Step.SEARCH,
            "failed" if failure else "",
            failure or query,
            source,
            None if failure else sum(search.found for search in searches),
            bool(failure),
            times=len(searches),
            until=max(times),
        )


def _downloads(audit: AuditView) -> Iterator[TrailRow]:
    same: dict[str, list[RunView]] = defaultdict(list)
    for run in audit.downloads:
        same[run.outcome or ("finished" if run.finished_at else "running")].append(run)
    for result, runs in same.items():
        times = [run.finished_at or run.registered_at for run in runs]
        yield TrailRow(min(times), Step.DOWNLOAD, result, times=len(runs), until=max(times))


def _ends(audit: AuditView) -> Iterator[TrailRow]:
    if audit.search_ended_at is not None:
        yield TrailRow(audit.search_ended_at, Step.SEARCH_ENDED, audit.search_ended)
    if audit.goal.completed_at is not None:
        yield TrailRow(audit.goal.completed_at, Step.COMPLETE, audit.goal.completion_reason)
