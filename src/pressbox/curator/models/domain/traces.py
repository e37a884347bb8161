"""Trace ids: the same work has the same id, wherever it is looked for. Pure."""

import hashlib


def trace_id(*parts: str | int) -> str:
    """32 hexadecimal digits, as Langfuse and OpenTelemetry want them."""
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:32]


def entry_trace_id(entry_id: int, batch_trace_id: str) -> str:
    """Of one entry inside a batch: scores find the call that they judge."""
    return trace_id("entry", entry_id, batch_trace_id)
