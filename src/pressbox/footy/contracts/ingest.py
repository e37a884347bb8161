"""Payloads of IngestWorkflow: ids and counts."""

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.domain.policy import FootyPolicy


class IngestWorkflowInput(Contract):
    """With `fixture_ids` only those are taken, whatever their date; otherwise the days of the policy from today."""

    fixture_ids: tuple[int, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class IngestProgress(Progress):
    fixtures: int = 0
    teams: int = 0
    deleted: int = 0


class FetchFixturesInput(Contract):
    """One day (`fetch_todays_fixtures`), or some ids (`fetch_fixtures_by_ids`).

    What is fetched is kept in the database under `run_id`: a busy day does not fit into a payload.
    """

    run_id: str
    day: str | None = None
    fixture_ids: tuple[int, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class FetchedFixtures(Contract):
    """`found` counts what the API has for the day, `followed` how many of those are followed."""

    found: int
    followed: int
    problems: tuple[str, ...] = ()
    # Why the plan has no access to this day; then the days after it are not asked for either.
    refused: str = ""
    # The setting that the API needs; when it is missing, nothing was fetched.
    missing: str = ""


class RunReference(Contract):
    """One run of Ingest or Monitor, by its workflow id."""

    run_id: str
    policy: FootyPolicy = FootyPolicy()


class StoredFixtures(Contract):
    """`teams` are the teams of all upcoming fixtures whose aliases are missing or old, at most a page of them."""

    staging: int = 0
    active: int = 0
    completed: int = 0
    known: int = 0
    teams: tuple[int, ...] = ()


class IngestWorkflowResult(Contract):
    staging: int = 0
    active: int = 0
    completed: int = 0
    known: int = 0
    aliases: int = 0
    deleted: int = 0
    # What could not be done, as a sentence for people.
    note: str = ""


class CleanupResult(Contract):
    """How many fixtures, removed goals and objects were deleted. `more` asks for another round."""

    fixtures: int = 0
    goals: int = 0
    objects: int = 0
    more: bool = False
