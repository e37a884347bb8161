"""Summarises in a sentence or two what became of a goal and its clips, above all why there is none. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.views import GoalState, GoalView, OutcomeCount, RunView, SearchView

# Successes come last: the question is mostly why there is no clip.
_LAST = (
    CandidateOutcome.FOUND,
    CandidateOutcome.CHOSEN,
    CandidateOutcome.READY,
    CandidateOutcome.SAME_FILE,
    CandidateOutcome.DUPLICATE,
    CandidateOutcome.REPLACED,
    CandidateOutcome.STORED,
)
_WORDS = {
    CandidateOutcome.FOUND: "still to be checked",
    CandidateOutcome.CHOSEN: "being downloaded",
    CandidateOutcome.READY: "waiting to be stored",
}


@dataclass(frozen=True)
class Trail:
    """What the summary is made from."""

    goal: GoalView
    outcomes: Sequence[OutcomeCount]
    searches: Sequence[SearchView]
    sightings: int
    runs_to_confirm: int
    downloads: Sequence[RunView]
    search_ended: str


def summarise(trail: Trail) -> str:
    """As "4 found: 2 wrong minute, 1 filmed from a screen, 1 stored." """
    parts = [part for part in (_state(trail), _found(trail), _failures(trail.searches), _end(trail)) if part]
    return " ".join(part[0].upper() + part[1:] + "." for part in parts)


def _state(trail: Trail) -> str:
    goal = trail.goal
    if goal.state is GoalState.REMOVED:
        return "disallowed: the goal is no longer in the data of the match"
    if goal.state is not GoalState.UNCONFIRMED:
        return ""
    if not goal.scorer_known:
        return "not searched yet: the scorer is not known"
    return f"not confirmed yet: seen in {trail.sightings} of {trail.runs_to_confirm} polls"


def _found(trail: Trail) -> str:
    found = sum(item.count for item in trail.outcomes)
    if found:
        told = sorted(trail.outcomes, key=lambda item: (_place(item.outcome), -item.count, item.outcome))
        return f"{found} found: " + ", ".join(f"{item.count} {_words(item.outcome)}" for item in told)
    attempts = len({search.attempt for search in trail.searches if not search.failure})
    if attempts:
        return f"nothing found in {_count(attempts, 'search', 'searches')}"
    if trail.goal.state is GoalState.SEARCHING and not trail.searches:
        return "confirmed, and the search is about to begin"
    return ""


def _failures(searches: Sequence[SearchView]) -> str:
    failed = Counter(search.source for search in searches if search.failure)
    if not failed:
        return ""
    last = {search.source: search.failure for search in searches if search.failure}
    return "failed: " + "; ".join(
        f"{source} {_count(count, 'time', 'times')} ({last[source].rstrip('.')})" for source, count in failed.items()
    )


def _end(trail: Trail) -> str:
    if trail.goal.state is GoalState.REMOVED:
        return ""
    if trail.goal.completion_reason:
        return f"complete: {trail.goal.completion_reason}"
    open_downloads = sum(1 for run in trail.downloads if run.finished_at is None)
    if trail.search_ended:
        waiting = f", {_count(open_downloads, 'download', 'downloads')} still running" if open_downloads else ""
        return f"the search ended: {trail.search_ended}{waiting}"
    return ""


def _place(outcome: CandidateOutcome) -> int:
    return _LAST.index(outcome) + 1 if outcome in _LAST else 0


def _words(outcome: CandidateOutcome) -> str:
    return _WORDS.get(outcome, outcome.value)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
