"""Payloads of MonitorWorkflow: ids, counts, and goals to search for."""

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.domain.policy import FootyPolicy


class MonitorWorkflowInput(Contract):
    policy: FootyPolicy = FootyPolicy()


class MonitorProgress(Progress):
    fixtures: int = 0
    goals: int = 0


class RegisteredRun(Contract):
    """What this run has to do: whether staging fixtures are due, and how many are active."""

    staging_due: int = 0
    active: int = 0
    # The setting that the API needs; when it is missing, there is nothing to do.
    missing: str = ""


class PollResult(Contract):
    """How many calls were made, and for how many fixtures the API answered or not. Each failure is recorded."""

    calls: int = 0
    answered: int = 0
    failed: int = 0


class ActivationResult(Contract):
    fixtures: int = 0


class ComparisonResult(Contract):
    """`more` means that the activity stopped early and must be called again."""

    fixtures: int = 0
    created: int = 0
    changed: int = 0
    removed: int = 0
    failed: int = 0
    more: bool = False


class GoalToSearch(Contract):
    """A confirmed goal. The readable parts are frozen with the confirmation and never follow corrections."""

    fixture_id: int
    event_id: str
    team_id: int
    team_slug: str
    player_slug: str
    minute_label: str
    asked_before: bool = False
    # It was removed, which ended its search, and then came back: search again.
    again: bool = False


class GoalsToSearch(Contract):
    goals: tuple[GoalToSearch, ...] = ()
    more: bool = False


class WorkflowIds(Contract):
    workflow_ids: tuple[str, ...]


class CompletedFixtures(Contract):
    """Fixtures that were archived by this run, and goals that were completed because their deadline passed."""

    fixture_ids: tuple[int, ...] = ()
    overdue_goals: int = 0


class FixtureReferences(Contract):
    fixture_ids: tuple[int, ...]


class NotificationResult(Contract):
    fixtures: int = 0


class MonitorWorkflowResult(Contract):
    fixtures: int = 0
    failed: int = 0
    goals_created: int = 0
    goals_removed: int = 0
    searches_started: int = 0
    fixtures_completed: int = 0
    # What could not be done, as a sentence for people.
    note: str = ""


class FinishRunInput(Contract):
    run_id: str
    result: MonitorWorkflowResult = MonitorWorkflowResult()
