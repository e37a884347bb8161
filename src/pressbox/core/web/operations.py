"""What machines ask: `/healthz` (does the process answer), `/readyz` (are its parts there), `/metrics`."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from functools import cache

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import JSONResponse, Response
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.service import RPCError

from pressbox.core.accounts.models import Scope
from pressbox.core.app import Resources
from pressbox.core.db.migrate import current, head
from pressbox.core.errors import ForbiddenError, PressboxError, TransientError
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
    """Ready when the database answers with this version's tables, and Temporal answers."""
    try:
        resources = connected(request)
    except TransientError as error:
        return _not_ready({"connection": error.message})
    found = await asyncio.gather(_reason(_database_reason(resources)), _reason(_temporal_reason(resources)))
    reasons = {name: reason for name, reason in zip(("database", "temporal"), found, strict=True) if reason}
    return _not_ready(reasons) if reasons else JSONResponse({"status": "ok"})


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """For Prometheus on this machine, or with an administrator's token."""
    if not request.state.direct_loopback:
        await _require_administrator(request)
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _require_administrator(request: Request) -> None:
    # The usual identity reads tokens on /api/… only; this address is the one exception.
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    found = None
    if scheme.lower() == "bearer":
        found = await account_service(request).authenticate_token(token.strip(), client=client_of(request))
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


async def _database_reason(resources: Resources) -> str | None:
    async with resources.database.unit_of_work() as work:
        connection = await work.session.connection()
        version = await connection.run_sync(current)
    needed = await asyncio.to_thread(_needed_version)
    if version == needed:
        return None
    return f"The database has version {version or 'none'}, this code needs {needed}. Run `pressbox migrate`."


@cache
def _needed_version() -> str:
    return head()


async def _temporal_reason(resources: Resources) -> str | None:
    client = resources.temporal
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace), timeout=PROBE
        )
    # A lazy client that cannot connect raises RuntimeError; a connected one, RPCError.
    except (RPCError, RuntimeError):
        return "Temporal does not answer."
    return None
