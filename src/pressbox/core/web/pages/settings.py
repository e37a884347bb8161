"""Settings that an administrator sets on pages: keys, addresses and the mail server, tried by a button."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.models import Actor
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError
from pressbox.core.logs import redact
from pressbox.core.stored_settings.sections import TestReport
from pressbox.core.stored_settings.service import InvalidSectionError, SettingsService
from pressbox.core.web.connection import connected
from pressbox.core.web.identity import Identity, actor_of
from pressbox.core.web.pages.access import Administrator
from pressbox.core.web.proof import ProvedAdministrator
from pressbox.core.web.rendering import render

PATH = "/settings"

router = APIRouter(include_in_schema=False)


def settings_service(request: Request) -> SettingsService:
    return SettingsService(connected(request), request.app.state.manifests)


Service = Annotated[SettingsService, Depends(settings_service)]
By = Annotated[Actor, Depends(actor_of)]


@router.get(PATH)
async def list_sections(request: Request, service: Service, _: Administrator) -> Response:
    return render(request, "settings.html", sections=await service.list())


@router.get(f"{PATH}/{{key}}")
async def show_section(request: Request, service: Service, _: Administrator, key: str, done: bool = False) -> Response:
    return await _show(request, service, key, saved=done)


@router.post(f"{PATH}/{{key}}")
async def save_section(request: Request, service: Service, identity: ProvedAdministrator, by: By, key: str) -> Response:
    """Save, and with the other button try at once what was saved."""
    form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    try:
        await service.save(key, form, by)
    except InvalidSectionError as error:
        return await _show(request, service, key, problems=dict(error.problems), values=form)
    except ConflictError as error:
        return await _show(request, service, key, refusal=error)
    if form.get("act") == "test":
        return await _try_out(request, service, identity, by, key, saved=True)
    return RedirectResponse(f"{PATH}/{key}?done=1", status_code=HTTPStatus.SEE_OTHER)


@router.post(f"{PATH}/{{key}}/test")
async def try_section(request: Request, service: Service, identity: ProvedAdministrator, by: By, key: str) -> Response:
    return await _try_out(request, service, identity, by, key)


@router.post(f"{PATH}/{{key}}/file")
async def take_file(request: Request, service: Service, _: ProvedAdministrator, by: By, key: str) -> Response:
    """Keep the file that was chosen; with the other button remove the one that is kept."""
    most = service.largest_file(key)
    async with request.form(max_files=1, max_fields=5) as form:
        file, act = form.get("file"), form.get("act")
        content = await file.read(most + 1) if isinstance(file, UploadFile) else b""
    if act == "remove":
        await service.remove_file(key, by)
        return RedirectResponse(f"{PATH}/{key}", status_code=HTTPStatus.SEE_OTHER)
    try:
        report = await service.keep_file(key, content, by)
    except InvalidInputError as error:
        return await _show(request, service, key, refusal=error)
    return await _show(request, service, key, report=report)


async def _try_out(
    request: Request, service: SettingsService, identity: Identity, by: Actor, key: str, *, saved: bool = False
) -> Response:
    try:
        report = await service.try_out(key, identity.email, by)
    except PressboxError as error:
        return await _show(request, service, key, failure=redact(error.message), saved=saved)
    return await _show(request, service, key, report=report, saved=saved)


async def _show(
    request: Request,
    service: SettingsService,
    key: str,
    *,
    saved: bool = False,
    report: TestReport | None = None,
    failure: str = "",
    refusal: PressboxError | None = None,
    problems: dict[str, str] | None = None,
    values: dict[str, str] | None = None,
) -> Response:
    status = refusal.status if refusal else HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK
    view = await service.view(key)
    return render(
        request,
        "settings_section.html",
        status,
        section=view,
        saved=saved,
        report=report,
        failure=failure,
        error=refusal.message if refusal else None,
        problems=problems or {},
        values=values or {},
        grace=connected(request).settings.worker.graceful_shutdown_seconds,
    )
