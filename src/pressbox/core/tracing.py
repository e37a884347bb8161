"""Traces by OpenTelemetry: a request, what it starts in Temporal, the activities of that, and their statements.

Off unless PRESSBOX_TRACING_ENDPOINT is set; then, and only then, OpenTelemetry's SDK is loaded. A trace holds routes,
types, ids and statements without their values; neither addresses that people asked for nor anything they wrote.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pressbox.core.config import TracingSettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer
    from sqlalchemy import Connection, Engine
    from temporalio.client import Interceptor

_LONGEST_STATEMENT = 2000
_SPANS = "pressbox_spans"
# One per process, as tracing is; None means that it is off.
_provider: TracerProvider | None = None


def start_tracing(settings: TracingSettings, part: str) -> None:
    """Trace from now on what is connected after this, if the settings say where to."""
    global _provider
    if settings.endpoint is None or _provider is not None:
        return
    from importlib.metadata import version

    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio

    headers = settings.headers.get_secret_value() if settings.headers else ""
    pairs = (pair.partition("=") for pair in headers.split(",") if "=" in pair)
    exporter = OTLPSpanExporter(
        endpoint=f"{settings.endpoint.rstrip('/')}/v1/traces",
        headers={name.strip(): value.strip() for name, _, value in pairs},
    )
    _provider = TracerProvider(
        resource=Resource.create({"service.name": f"pressbox-{part}", "service.version": version("pressbox")}),
        sampler=ParentBasedTraceIdRatio(settings.share),
    )
    _provider.add_span_processor(BatchSpanProcessor(exporter))


def stop_tracing() -> None:
    """Send what waits, and trace no more."""
    global _provider
    if _provider is not None:
        _provider.shutdown()
        _provider = None


def _tracer() -> Tracer | None:
    return _provider.get_tracer("pressbox") if _provider else None


def temporal_interceptors() -> Sequence[Interceptor]:
    """What carries a trace through workflows and activities, for the connection to Temporal."""
    tracer = _tracer()
    if tracer is None:
        return ()
    from temporalio.contrib.opentelemetry import TracingInterceptor

    return (TracingInterceptor(tracer),)


@contextmanager
def trace_request(scope: MutableMapping[str, Any], status: Callable[[], int]) -> Iterator[None]:
    """One request. It begins a trace of its own: what a stranger's headers claim counts for nothing."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind

    method = scope["method"]
    with tracer.start_as_current_span(method, context=Context(), kind=SpanKind.SERVER) as span:
        try:
            yield
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            span.update_name(f"{method} {route}")
            found = {"http.request.method": method, "http.route": route, "http.response.status_code": status()}
            span.set_attributes(found | {"pressbox.request_id": scope["state"]["request_id"]})


def trace_statements(engine: Engine) -> None:
    """Each statement inside of a trace, without its values."""
    tracer = _tracer()
    if tracer is None:
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode, get_current_span
    from sqlalchemy import event

    @event.listens_for(engine, "before_cursor_execute")
    def begin(connection: Connection, _: Any, statement: str, *__: Any) -> None:
        spans: list[Span | None] = connection.info.setdefault(_SPANS, [])
        if not get_current_span().is_recording():
            spans.append(None)
            return
        attributes = {"db.system.name": "postgresql", "db.query.text": statement[:_LONGEST_STATEMENT]}
        words = statement.split(maxsplit=1)
        spans.append(tracer.start_span(words[0].upper(), kind=SpanKind.CLIENT, attributes=attributes))

    @event.listens_for(engine, "after_cursor_execute")
    def end(connection: Connection, *_: Any) -> None:
        spans: list[Span | None] = connection.info.get(_SPANS, [])
        span = spans.pop() if spans else None
        if span is not None:
            span.end()

    @event.listens_for(engine, "handle_error")
    def fail(context: Any) -> None:
        spans: list[Span | None] = context.connection.info.get(_SPANS, []) if context.connection else []
        span = spans.pop() if spans else None
        if span is not None:
            span.set_status(Status(StatusCode.ERROR, type(context.original_exception).__name__))
            span.end()


def current_trace_id() -> str | None:
    """The trace that a log line belongs to."""
    if _provider is None:
        return None
    trace = sys.modules["opentelemetry.trace"]
    found = trace.get_current_span().get_span_context()
    return format(found.trace_id, "032x") if found.is_valid else None
