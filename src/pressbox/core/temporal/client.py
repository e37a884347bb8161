"""The one connection to Temporal per process. Nobody else connects."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import HttpConnectProxyConfig, RPCError, RPCStatusCode, TLSConfig

from pressbox.core.config import TemporalSettings
from pressbox.core.errors import ConfigurationError, NotFoundError, TransientError
from pressbox.core.tracing import temporal_interceptors

# The address of the embedded server: a Unix socket, which the SDK reaches as it would a proxy.
SOCKET_PREFIX = "unix:"
# The SDK wants a name to call; behind the socket it means nothing.
_BEHIND_SOCKET = "temporal.invalid:7233"
# The SDK warns at every connection through a socket that it does not balance load over several addresses.
_FILTER = f"{TelemetryFilter(core_level='WARN', other_level='ERROR').formatted()},temporal_sdk_bridge::client=ERROR"
CORE_LOGS = LoggingConfig(
    _FILTER,
    # Through our own formatter: one shape, and no secrets. What the core knows besides becomes fields there.
    forwarding=LogForwardingConfig(
        logging.getLogger("temporalio.core"),
        append_target_to_name=False,
        prepend_target_on_message=False,
        append_log_fields_to_message=False,
    ),
)
AWAY = {
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.RESOURCE_EXHAUSTED,
    RPCStatusCode.CANCELLED,
    # What a server under load says when its database is behind.
    RPCStatusCode.ABORTED,
    RPCStatusCode.INTERNAL,
    RPCStatusCode.UNKNOWN,
}


async def connect(
    settings: TemporalSettings, address: str, *, lazy: bool = True, runtime: Runtime | None = None
) -> Client:
    """A lazy client dials at the first call: web and commands can start, and say so, while Temporal is away.

    A worker cannot use a lazy one; for it a Temporal that does not answer is a TransientError.
    """
    socket = socket_of(address)
    try:
        return await Client.connect(
            _BEHIND_SOCKET if socket else address,
            namespace=settings.namespace,
            api_key=settings.api_key.get_secret_value() if settings.api_key else None,
            tls=tls(settings) if socket is None else False,
            http_connect_proxy_config=HttpConnectProxyConfig(target_host=address) if socket else None,
            data_converter=pydantic_data_converter,
            connect_timeout=timedelta(seconds=5),
            lazy=lazy,
            runtime=runtime or _quiet_runtime(),
            interceptors=temporal_interceptors(),
        )
    except RuntimeError as error:
        # The SDK has no narrower type for a failed dial.
        raise TransientError(f"Temporal at {address} does not answer: {error}") from error


@cache
def _quiet_runtime() -> Runtime:
    # Without forwarding: a thread of the core that hands over a line while a command ends would abort the process.
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(_FILTER)))


async def temporal_problem(client: Client, within: timedelta) -> str | None:
    """Why the namespace cannot be reached through this very connection; None if it can."""
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace), timeout=within
        )
    # A lazy client that cannot connect raises RuntimeError; a connected one, RPCError.
    except (RPCError, RuntimeError):
        return "Temporal does not answer."
    return None


def socket_of(address: str) -> Path | None:
    """The Unix socket that an address names; None for one on the network."""
    return Path(address.removeprefix(SOCKET_PREFIX)) if address.startswith(SOCKET_PREFIX) else None


@contextmanager
def translate_rpc_errors(missing: str | None = None) -> Iterator[None]:
    """Turn "Temporal is away" into a TransientError and, given a text for it, "no such thing" into a NotFoundError."""
    try:
        yield
    except RPCError as error:
        if error.status in AWAY:
            raise TransientError(f"Temporal does not answer: {error.message}") from error
        if error.status is RPCStatusCode.NOT_FOUND and missing is not None:
            raise NotFoundError(missing) from error
        raise
    except RuntimeError as error:
        # What a lazy client raises when it cannot dial; the SDK has no narrower type for it.
        raise TransientError(f"Temporal does not answer: {error}") from error


def tls(settings: TemporalSettings) -> TLSConfig | bool:
    if (settings.tls_client_cert is None) != (settings.tls_client_key is None):
        raise ConfigurationError(
            "PRESSBOX_TEMPORAL_TLS_CLIENT_CERT and PRESSBOX_TEMPORAL_TLS_CLIENT_KEY belong together: set both or none."
        )
    files = (settings.tls_server_ca, settings.tls_client_cert, settings.tls_client_key)
    if not any(files):
        return settings.tls or settings.api_key is not None
    ca, certificate, key = (_read(file) for file in files)
    return TLSConfig(server_root_ca_cert=ca, client_cert=certificate, client_private_key=key)


def _read(file: Path | None) -> bytes | None:
    try:
        return file.read_bytes() if file else None
    except OSError as error:
        raise ConfigurationError(f"Cannot read {file}: {error.strerror}. Check PRESSBOX_TEMPORAL_TLS_….") from error
