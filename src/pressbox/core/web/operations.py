"""What machines ask: `/healthz` (does the process answer), `/readyz` (are its parts there), `/metrics`."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from hmac import compare_digest

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import JSONResponse, Response

from pressbox.core.accounts.models import Scope
from pressbox.core.db.versions import tables_problem
from pressbox.core.errors import ForbiddenError, PressboxError, TransientError
from pressbox.core.temporal.client import temporal_problem
from pressbox.core.web.connection import account_service, connected
from pressbox.core.web.identity import client_of

router = APIRouter(include_in_schema=False)

PROBE = timedelta(seconds=3)
PROBE_METHODS = ["GET", "HEAD"]


@router.api_route("/healthz", methods=PROBE_METHODS)
async def healthz() -> Response:
    return JSONResponse({"status": "ok"})


@router.api_route("/readyz", methods=PROBE_METHODS)
async def readyz(request: Request) -> Response:
    """Ready when the database answers with tables that this version can use.

    A Temporal that is away is told and does not count: people can read, and another web process would not help.
    """
    try:
        resources = connected(request)
    except TransientError as error:
        return _not_ready({"connection": error.message})
    database, temporal = await asyncio.gather(
        _reason(tables_problem(resources.database)), _reason(temporal_problem(resources.temporal, PROBE))
    )
    if database:
        return _not_ready({"database": database} | ({"temporal": temporal} if temporal else {}))
    return JSONResponse({"status": "ok"} | ({"warnings": {"temporal": temporal}} if temporal else {}))


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """For Prometheus on this machine, with the token of the settings, or with an administrator's."""
    if not request.state.direct_loopback and not _has_metrics_token(request):
        await _require_administrator(request)
    waiting = await request.app.state.measures.exposition() if request.app.state.measures else b""
    return Response(generate_latest() + waiting, media_type=CONTENT_TYPE_LATEST)


def _has_metrics_token(request: Request) -> bool:
    """Whether this is a scraper of a cluster, which has no account: it needs neither database nor Temporal."""
    wanted = request.app.state.settings.web.metrics_token
    return wanted is not None and compare_digest(_bearer(request).encode(), wanted.get_secret_value().encode())


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def _require_administrator(request: Request) -> None:
    # The usual identity reads tokens on /api/… only; this address is the one exception.
    token = _bearer(request)
    found = await account_service(request).authenticate_token(token, client=client_of(request)) if token else None
    if found is None or Scope.ADMIN not in found.scopes:
        raise ForbiddenError("Metrics are for this machine, or for a token with the scope admin.")


def _not_ready(reasons: dict[str, str]) -> Response:
    return JSONResponse({"status": "failed", "reasons": reasons}, status_code=TransientError.status)


async def _reason(probe: Awaitable[str | None]) -> str | None:
    try:
        async with asyncio.timeout(PROBE.total_seconds()):
            return await probe
    except TimeoutError:
        return f"No answer within {PROBE.total_seconds():.0f} seconds."
    except PressboxError as error:
        return error.message
