"""Payloads of RAGWorkflow: teams and their aliases."""

from datetime import datetime

from pressbox.core.contracts import Contract
from pressbox.footy.domain.policy import FootyPolicy


class TeamReference(Contract):
    team_id: int
    policy: FootyPolicy = FootyPolicy()


class RAGWorkflowInput(Contract):
    team_id: int
    refresh: bool = False
    policy: FootyPolicy = FootyPolicy()


class TeamAliases(Contract):
    """Best first. `source` is empty when nothing is cached."""

    team_id: int
    team_name: str
    aliases: tuple[str, ...] = ()
    source: str = ""
    fetched_at: datetime | None = None
    fresh: bool = False


class RAGWorkflowResult(Contract):
    team_id: int
    aliases: tuple[str, ...] = ()
    source: str = ""
