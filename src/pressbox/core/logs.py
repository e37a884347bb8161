"""Structured logs: one JSON line per state change, or a readable line for people. Secrets are blotted out.

Every line has `ts`, `level`, `module`, `action`, `msg` and the ids that were bound: `request_id`, `person_id`,
`workflow_id`, `run_id`, `activity`, `trace_id`. `action` is the stable name of what happened ("part_restarted"); `msg`
is for people.
"""

import logging
import re
import sys
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from typing import Any, TextIO
from urllib.parse import urlsplit

import structlog
from pydantic import SecretStr

from pressbox.core.config import Group, LogFormat, LogSettings, Settings
from pressbox.core.tracing import current_trace_id

BLOT = "[secret]"
_CREDENTIALS_IN_URL = re.compile(r"(?<=[a-z0-9+.-]://)[^/\s@:]*+:[^/\s@]++@", re.IGNORECASE)
# What opens a private feed, calendar or page is often there.
_QUERY_IN_URL = re.compile(r"(?P<address>\bhttps?://[^\s?#\"'<>]*+)(?P<query>\?[^\s\"'<>]++)?+", re.IGNORECASE)
# Our own tokens are known by their shape, wherever they come from.
_OWN_TOKEN = re.compile(r"pbx_[\w-]{20,}")
_SHORTEST_SECRET = 6


class Redactor:
    """Replaces known secrets, and credentials and queries of addresses, in any text that leaves the process."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: tuple[str, ...] = ()
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        # Very short values would blot out half of every line. Longest first, so that none leaves a rest.
        known = {*self._secrets, *(secret for secret in secrets if len(secret) >= _SHORTEST_SECRET)}
        self._secrets = tuple(sorted(known, key=len, reverse=True))

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, BLOT)
        text = _CREDENTIALS_IN_URL.sub(f"{BLOT}@", text)
        return _OWN_TOKEN.sub(BLOT, _QUERY_IN_URL.sub(_blot_query, text))


def _blot_query(found: re.Match[str]) -> str:
    return f"{found['address']}?{BLOT}" if found["query"] else found["address"]


# One per process, as logging is: everything that formats text for the outside asks it.
redact = Redactor()


def secret_values(group: Group) -> Iterable[str]:
    """Every secret in a settings tree."""
    for name in type(group).model_fields:
        value = getattr(group, name)
        if isinstance(value, SecretStr):
            secret = value.get_secret_value()
            yield secret
            # Of an address, the password alone must not appear either.
            with suppress(ValueError):
                yield urlsplit(secret).password or ""
        elif isinstance(value, Group):
            yield from secret_values(value)
        elif name == "applications":
            for application in value:
                yield from secret_values(application)


def configure_logs(settings: Settings, stream: TextIO | None = None) -> None:
    """Send our lines and those of libraries through one formatter to standard error."""
    redact.add(*secret_values(settings))
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        structlog.processors.format_exc_info,
        _add_trace,
        _name_fields,
        _redact_fields,
    ]
    output = stream or sys.stderr
    handler = logging.StreamHandler(output)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, _spread_temporal_fields, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer(settings.log, output)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log.level.upper())
    for chatty in ("httpx", "httpcore", "uvicorn.access", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    logging.getLogger("temporalio.activity").addFilter(_already_said)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_logger_name,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def get_logger(module: str) -> structlog.stdlib.BoundLogger:
    """`log.info("part_restarted", msg="Worker restarted", part="worker")`: the event is the action."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(module)
    return logger


def _already_said(record: logging.LogRecord) -> bool:
    # Our error interceptor has said what failed, once and without secrets; the SDK would say it again, with them.
    return not record.getMessage().startswith("Completing activity as failed")


# Of what the SDK knows, what a line needs; the names are those of our own lines.
_TEMPORAL_FIELDS = {
    "workflow_id": "workflow_id",
    "run_id": "run_id",
    "workflow_run_id": "run_id",
    "workflow_type": "workflow",
    "activity_type": "activity",
    "attempt": "attempt",
}


def _spread_temporal_fields(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Make fields of what Temporal's loggers, and those of its core, add to a record."""
    record = event.get("_record")
    known = getattr(record, "temporal_activity", None) or getattr(record, "temporal_workflow", None) or {}
    event.update({ours: known[theirs] for theirs, ours in _TEMPORAL_FIELDS.items() if theirs in known})
    core = getattr(record, "temporal_log", None)
    if core is not None:
        event["target"] = core.target
        event.update({name: str(value) for name, value in core.fields.items() if name not in event})
    return event


def _renderer(settings: LogSettings, stream: TextIO) -> structlog.typing.Processor:
    on_terminal = stream.isatty()
    if settings.format is LogFormat.PRETTY or (settings.format is None and on_terminal):
        return structlog.dev.ConsoleRenderer(event_key="action", timestamp_key="ts", colors=on_terminal)
    return structlog.processors.JSONRenderer(ensure_ascii=False)


def _name_fields(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    module = event.pop("logger", "")
    text = str(event.pop("event", ""))
    ours = module.startswith("pressbox")
    action = text if ours and " " not in text else "log"
    head = {"ts": event.pop("ts"), "level": event.pop("level"), "module": module, "action": action}
    return {**head, "msg": event.pop("msg", text), **event}


def _add_trace(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    trace_id = current_trace_id()
    return {**event, "trace_id": trace_id} if trace_id else event


def _redact_fields(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {key: redact(value) if isinstance(value, str) else value for key, value in event.items()}
