"""What IngestWorkflow and its activities say: ids and counts."""

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
    """One day (`fetch_todays_fixtures`), or some ids (`fetch_fixtures_by_ids`). What is fetched waits in the database
    under `run_id`: a busy day does not fit a payload."""

    run_id: str
    day: str | None = None
    fixture_ids: tuple[int, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class FetchedFixtures(Contract):
    """`found` counts what the API has for the day, `followed` what of it we follow."""

    found: int
    followed: int
    problems: tuple[str, ...] = ()
    # What must be set before there can be an answer; then nothing was asked.
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
    # What could not be done, for people.
    note: str = ""


class CleanupResult(Contract):
    """Fixtures, goals after their grace, and objects that are gone. `more` tells that another round is needed."""

    fixtures: int = 0
    goals: int = 0
    objects: int = 0
    more: bool = False
