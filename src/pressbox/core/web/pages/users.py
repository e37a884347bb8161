"""Users, as administrators manage them: invite, change, disable, hand over a link."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from starlette.background import BackgroundTask
from starlette.responses import RedirectResponse, Response

from pressbox.core.accounts.audit import AuditFilter, AuditLog
from pressbox.core.accounts.ending import AccountEnding
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.links import LIVES
from pressbox.core.accounts.models import Actor, Role
from pressbox.core.accounts.recovery import AccountRecovery, MadeLink
from pressbox.core.accounts.service import AccountService
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError
from pressbox.core.web.account_mail import INVITATION, mail_task, mailer_of, own_url
from pressbox.core.web.connection import (
    account_ending,
    account_life_cycle,
    account_recovery,
    account_service,
    second_factors,
)
from pressbox.core.web.identity import actor_of
from pressbox.core.web.pages.access import Administrator, Parts
from pressbox.core.web.pages.recovery import CHOOSE_PATH
from pressbox.core.web.proof import ProvedAdministrator
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

PATH = "/users"
Accounts = Annotated[AccountService, Depends(account_service)]
LifeCycle = Annotated[AccountLifeCycle, Depends(account_life_cycle)]
Recovery = Annotated[AccountRecovery, Depends(account_recovery)]
Ending = Annotated[AccountEnding, Depends(account_ending)]
By = Annotated[Actor, Depends(actor_of)]
UserId = Annotated[int, Path(ge=1, le=2**63 - 1)]
Text = Annotated[str, Form()]
_REFUSALS = (InvalidInputError, ConflictError)
RECENT = 15
MESSAGES = {
    "role": "The role is changed.",
    "disabled": "This account is disabled. Its sessions and credentials have ended.",
    "enabled": "This account can be used again. What had ended has to be made anew.",
    "email": "The address is changed.",
    "second-factor": "The second factor is removed. The password alone opens this account now.",
    "deleted": "The account is deleted, with everything that was theirs alone.",
}


@router.get(PATH)
async def users(request: Request, accounts: Accounts, _: Administrator, done: str = "") -> Response:
    return await _list(request, accounts, message=MESSAGES.get(done))


@router.post(PATH)
async def invite(
    request: Request,
    accounts: Accounts,
    recovery: Recovery,
    by: By,
    _: ProvedAdministrator,
    email: Text = "",
    name: Text = "",
    role: Annotated[Role, Form()] = Role.MEMBER,
) -> Response:
    try:
        made = await recovery.invite(email, role=role, name=name, by=by)
    except _REFUSALS as error:
        return await _list(request, accounts, refusal=error, values={"email": email, "name": name})
    page = await _list(request, accounts, made=made)
    page.background = _invitation(request, made)
    return page


@router.get(f"{PATH}/{{user_id}}")
async def user(
    request: Request, accounts: Accounts, parts: Parts, _: Administrator, user_id: UserId, done: str = ""
) -> Response:
    return await _detail(request, accounts, parts, user_id, message=MESSAGES.get(done))


@router.post(f"{PATH}/{{user_id}}/role")
async def change_role(
    request: Request,
    accounts: Accounts,
    parts: Parts,
    life_cycle: LifeCycle,
    by: By,
    _: ProvedAdministrator,
    user_id: UserId,
    role: Annotated[Role, Form()],
) -> Response:
    try:
        await life_cycle.set_role(user_id, role, by=by)
    except ConflictError as error:
        return await _detail(request, accounts, parts, user_id, refusal=error)
    return _redirect(f"{PATH}/{user_id}?done=role")


@router.post(f"{PATH}/{{user_id}}/disable")
async def disable(
    request: Request,
    accounts: Accounts,
    parts: Parts,
    life_cycle: LifeCycle,
    by: By,
    _: ProvedAdministrator,
    user_id: UserId,
) -> Response:
    try:
        await life_cycle.disable_user(user_id, by=by)
    except ConflictError as error:
        return await _detail(request, accounts, parts, user_id, refusal=error)
    return _redirect(f"{PATH}/{user_id}?done=disabled")


@router.post(f"{PATH}/{{user_id}}/enable")
async def enable(life_cycle: LifeCycle, by: By, _: ProvedAdministrator, user_id: UserId) -> Response:
    await life_cycle.enable_user(user_id, by=by)
    return _redirect(f"{PATH}/{user_id}?done=enabled")


@router.post(f"{PATH}/{{user_id}}/email")
async def change_email(
    request: Request,
    accounts: Accounts,
    parts: Parts,
    recovery: Recovery,
    by: By,
    _: ProvedAdministrator,
    user_id: UserId,
    email: Text = "",
) -> Response:
    try:
        await recovery.set_email(user_id, email, by=by)
    except _REFUSALS as error:
        return await _detail(request, accounts, parts, user_id, refusal=error)
    return _redirect(f"{PATH}/{user_id}?done=email")


@router.post(f"{PATH}/{{user_id}}/link")
async def make_link(
    request: Request,
    accounts: Accounts,
    parts: Parts,
    recovery: Recovery,
    by: By,
    _: ProvedAdministrator,
    user_id: UserId,
) -> Response:
    """Shown once, for the administrator to hand over."""
    try:
        made = await recovery.create_link(user_id, by=by)
    except ConflictError as error:
        return await _detail(request, accounts, parts, user_id, refusal=error)
    return await _detail(request, accounts, parts, user_id, made=made)


@router.post(f"{PATH}/{{user_id}}/second-factors/remove")
async def remove_second_factors(
    request: Request, accounts: Accounts, parts: Parts, by: By, _: ProvedAdministrator, user_id: UserId
) -> Response:
    try:
        await second_factors(request).remove_all(user_id, actor=by)
    except ConflictError as error:
        return await _detail(request, accounts, parts, user_id, refusal=error)
    return _redirect(f"{PATH}/{user_id}?done=second-factor")


@router.post(f"{PATH}/{{user_id}}/delete")
async def delete_user(
    request: Request,
    accounts: Accounts,
    parts: Parts,
    ending: Ending,
    by: By,
    identity: ProvedAdministrator,
    user_id: UserId,
    email: Text = "",
) -> Response:
    """The address has to be typed: it cannot be undone."""
    user = await accounts.user(user_id)
    try:
        if email.strip().lower() != user.email:
            raise InvalidInputError("Type the e-mail address of the account that you want to delete.", field="email")
        await ending.delete(user_id, by=by)
    except _REFUSALS as error:
        return await _detail(request, accounts, parts, user_id, refusal=error)
    return _redirect("/sign-in" if user_id == identity.user_id else f"{PATH}?done=deleted")


async def _list(
    request: Request,
    accounts: AccountService,
    *,
    message: str | None = None,
    made: MadeLink | None = None,
    refusal: PressboxError | None = None,
    values: dict[str, str] | None = None,
) -> Response:
    return render(
        request,
        "users.html",
        refusal.status if refusal else HTTPStatus.OK,
        users=await accounts.users(),
        message=message,
        can_mail=mailer_of(request) is not None,
        values=values or {},
        **_told(request, made, refusal),
    )


async def _detail(
    request: Request,
    accounts: AccountService,
    parts: Parts,
    user_id: int,
    *,
    message: str | None = None,
    made: MadeLink | None = None,
    refusal: PressboxError | None = None,
) -> Response:
    user = await accounts.user(user_id)
    return render(
        request,
        "user.html",
        refusal.status if refusal else HTTPStatus.OK,
        user=user,
        factors=await second_factors(request).of(user),
        entries=await AuditLog(parts.database).read(AuditFilter(user_id=user_id), RECENT),
        message=message,
        **_told(request, made, refusal),
    )


def _told(request: Request, made: MadeLink | None, refusal: PressboxError | None) -> dict[str, object]:
    return {
        "link": own_url(request, f"{CHOOSE_PATH}?token={made.secret}") if made else None,
        "link_life": LIVES[made.purpose] if made else None,
        "error": refusal.message if refusal else None,
        "field": refusal.field if isinstance(refusal, InvalidInputError) else None,
    }


def _invitation(request: Request, made: MadeLink) -> BackgroundTask:
    link = own_url(request, f"{CHOOSE_PATH}?token={made.secret}")
    return mail_task(request, made.user, INVITATION, email=made.user.email, link=link)


def _redirect(target: str) -> RedirectResponse:
    return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)
