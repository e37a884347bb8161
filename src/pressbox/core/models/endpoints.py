"""Where models are, and what this process knows of each: what it accepts, and until when it is not asked."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import SecretStr

from pressbox.core.models.dialect import Dialect

# A service that asks for more is asked once an hour: somebody may have paid or changed the plan.
LONGEST_REST = timedelta(hours=1)
OLLAMA_PORT, OLLAMA_CONTEXT = ":11434", 4_096


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and by which settings people change that.

    `context_tokens` is what the model reads at once, if somebody has set it.
    """

    url: str
    model: str
    key: SecretStr | None
    url_setting: str
    key_setting: str
    model_setting: str
    context_tokens: int | None = None


@dataclass
class EndpointState:
    dialect: Dialect
    rests_until: datetime | None = None
    rest_reason: str = ""

    def learn(self, learnt: Dialect) -> None:
        """Add to what others have learnt meanwhile."""
        self.dialect = self.dialect.joined(learnt)

    def rest(self, wait: timedelta, reason: str, now: datetime) -> None:
        self.rests_until, self.rest_reason = now + min(wait, LONGEST_REST), reason


_STATES: dict[Endpoint, EndpointState] = {}


def state_of(endpoint: Endpoint) -> EndpointState:
    """What everybody in this process shares about an endpoint, a model and a key.

    Ollama cuts long prompts silently at 4,096 tokens, unless it was told otherwise.
    """
    if endpoint not in _STATES:
        ollama = OLLAMA_CONTEXT if OLLAMA_PORT in endpoint.url else None
        _STATES[endpoint] = EndpointState(Dialect(context_tokens=endpoint.context_tokens or ollama))
    return _STATES[endpoint]
