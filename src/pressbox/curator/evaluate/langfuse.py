"""Sends scores to Langfuse by its documented batch endpoint: a trace without any text, and its scores.

Langfuse learns ids, names, figures, and which model wrote by which prompt. No question, no answer, no article and no
person is sent. All ids are made from the trace, so that what is sent twice is there once.
"""

from datetime import timedelta
from typing import Any

import httpx
from pydantic import BaseModel, SecretStr, ValidationError

from pressbox.core.errors import ConfigurationError, PressboxError, RateLimitedError, TransientError
from pressbox.core.http.pauses import pause
from pressbox.curator.evaluate.activities import Evaluation
from pressbox.curator.models.domain import trace_id

LONGEST_CALL = timedelta(seconds=20)
_SETTINGS = "LANGFUSE_HOST, LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"


class _Refused(BaseModel):
    id: str
    status: int
    message: str | None = None


class _Answer(BaseModel):
    """Status 207: each event has an outcome of its own."""

    errors: list[_Refused] = []


class Langfuse:
    def __init__(
        self, url: str, public_key: str, secret_key: SecretStr, *, longest_call: timedelta = LONGEST_CALL
    ) -> None:
        self._url = f"{url.rstrip('/')}/api/public/ingestion"
        # Redirects are not followed: the key is for the address that was set.
        self._client = httpx.AsyncClient(
            trust_env=False,
            timeout=longest_call.total_seconds(),
            auth=httpx.BasicAuth(public_key, secret_key.get_secret_value()),
        )

    async def send(self, evaluation: Evaluation) -> None:
        try:
            answer = await self._client.post(self._url, json={"batch": events(evaluation)})
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigurationError(
                "LANGFUSE_HOST is not an address. Set it like https://langfuse.example.org."
            ) from error
        except httpx.HTTPError as error:
            # Texts of the library may quote the request, so only the kind is kept.
            raise TransientError(f"Langfuse cannot be reached ({type(error).__name__}).") from error
        if answer.status_code not in (httpx.codes.OK, httpx.codes.CREATED, httpx.codes.MULTI_STATUS):
            raise _error(answer, evaluation)
        try:
            errors = _Answer.model_validate_json(answer.content).errors
        except ValidationError as error:
            raise TransientError("Langfuse answered something other than the outcome of each event.") from error
        if errors:
            raise TransientError(f"Langfuse did not accept {len(errors)} of the scores ({errors[0].status}).")

    async def close(self) -> None:
        await self._client.aclose()


def events(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The trace first, then a score for each measure."""
    judged, trace, at = evaluation.judged, evaluation.trace_id, evaluation.at.isoformat()
    described = {
        "id": trace,
        "timestamp": at,
        "name": str(judged.kind),
        "metadata": {"subjectId": judged.subject_id, "model": judged.model, "promptVersion": judged.prompt_version},
    }
    scores = [
        {
            "id": trace_id("score", trace, measure.metric, evaluation.evaluator),
            "traceId": trace,
            "name": str(measure.metric),
            "value": measure.score,
            "dataType": "NUMERIC",
            "comment": evaluation.evaluator,
        }
        for measure in evaluation.measures
    ]
    return [_event("trace-create", described, at), *(_event("score-create", score, at) for score in scores)]


def _event(kind: str, body: dict[str, Any], at: str) -> dict[str, Any]:
    return {"id": trace_id("event", kind, body["id"]), "type": kind, "timestamp": at, "body": body}


def _error(answer: httpx.Response, evaluation: Evaluation) -> PressboxError:
    status = answer.status_code
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return ConfigurationError(f"Langfuse refuses the keys ({status}). Check {_SETTINGS}.")
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return RateLimitedError("Langfuse asks for fewer requests.", retry_after=pause(answer.headers, evaluation.at))
    if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.REQUEST_TIMEOUT:
        return TransientError(f"Langfuse answers {status}.")
    return ConfigurationError(f"Langfuse does not accept the scores ({status}). Check {_SETTINGS}.")
