"""JSON: the account of whoever asks, its tokens and sessions, and the users for administrators."""

from datetime import datetime, timedelta
from typing import Annotated, Self

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import ConfigDict, Field, SecretStr

from pressbox.core.accounts.ending import AccountEnding
from pressbox.core.accounts.factors import SecondFactors
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import Actor, NewToken, Role, Scope, SessionView, TokenView, User
from pressbox.core.accounts.recovery import AccountRecovery
from pressbox.core.accounts.service import AccountService
from pressbox.core.clock import utc_now
from pressbox.core.errors import ForbiddenError, InvalidInputError
from pressbox.core.web.account_mail import own_url
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.connection import (
    account_ending,
    account_life_cycle,
    account_recovery,
    account_service,
    second_factors,
)
from pressbox.core.web.identity import (
    AdministratorIdentity,
    Identity,
    SignedInIdentity,
    Via,
    actor_of,
    client_of,
    session_secret,
    signed_in,
)
from pressbox.core.web.languages import LANGUAGES
from pressbox.core.web.pages.own_data import export_response
from pressbox.core.web.pages.recovery import CHOOSE_PATH
from pressbox.core.web.proof import ProvedAdministrator, note_proof, require_recent_proof, require_second_factor

router = APIRouter(prefix="/api", tags=["accounts"])

Accounts = Annotated[AccountService, Depends(account_service)]
LifeCycle = Annotated[AccountLifeCycle, Depends(account_life_cycle)]
Recovery = Annotated[AccountRecovery, Depends(account_recovery)]
Ending = Annotated[AccountEnding, Depends(account_ending)]
Factors = Annotated[SecondFactors, Depends(second_factors)]
By = Annotated[Actor, Depends(actor_of)]
RowId = Annotated[int, Path(ge=1, le=2**63 - 1)]


async def owner(identity: Annotated[Identity, Depends(signed_in)]) -> Identity:
    """Somebody who may manage an account. A token may not make another one that outlives it, unless it is admin."""
    if identity.via is Via.TOKEN and Scope.ADMIN not in identity.scopes:
        raise ForbiddenError("A token needs the scope admin to manage tokens, sessions and passwords.")
    return identity


Owner = Annotated[Identity, Depends(owner)]


async def proved_owner(identity: Owner) -> Identity:
    return await require_recent_proof(identity)


ProvedOwner = Annotated[Identity, Depends(proved_owner)]


class AccountResponse(ResponseModel):
    user_id: int
    email: str
    name: str
    role: Role
    scopes: list[Scope]
    via: Via
    language: str | None

    @classmethod
    def from_identity(cls, identity: Identity) -> Self:
        return cls.model_validate({**vars(identity), "scopes": sorted(identity.scopes)})


class AccountChange(RequestBody):
    model_config = ConfigDict(str_strip_whitespace=True)

    language: str | None = Field(description="A language code such as de; null follows the browser.")


class TokenResponse(ResponseModel):
    id: int
    name: str
    hint: str = Field(description="The last characters of the token.")
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None


class NewTokenResponse(TokenResponse):
    token: str = Field(description="The token itself. It is shown this once.")

    @classmethod
    def from_token(cls, created: NewToken) -> Self:
        return cls.model_validate({**vars(created.view), "token": created.secret})


class TokenRequest(RequestBody):
    model_config = ConfigDict(str_strip_whitespace=True)

    name: str = Field(min_length=1, max_length=100, description="What it is for.")
    scopes: set[Scope] = Field(min_length=1)
    expires_in_days: int | None = Field(None, ge=1, le=3650, description="Without it, the token lives until removed.")


class ProofRequest(RequestBody):
    password: SecretStr | None = Field(None, description="Of whoever has no second factor.")
    code: SecretStr | None = Field(None, description="Of the authenticator app, or a recovery code.")


class PasswordChange(RequestBody):
    current_password: SecretStr
    new_password: SecretStr
    keep: list[str] = Field(
        default_factory=list, description="References of credentials that stay, as GET /api/account/credentials has it."
    )


class CredentialResponse(ResponseModel):
    reference: str
    kind: str
    name: str
    created_at: datetime | None
    last_used_at: datetime | None


class SessionResponse(ResponseModel):
    id: str
    agent: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    current: bool


class UserResponse(ResponseModel):
    id: int
    email: str
    name: str
    role: Role
    language: str | None
    created_at: datetime
    disabled_at: datetime | None
    has_password: bool


class UserRequest(RequestBody):
    email: str
    password: SecretStr | None = Field(None, description="Without it, somebody is invited: POST …/link makes the link.")
    name: str = ""
    role: Role = Role.MEMBER


class LinkResponse(ResponseModel):
    link: str = Field(description="Where they choose a password. It works once and is shown this once.")


class UserChange(RequestBody):
    email: str | None = None
    role: Role | None = None
    disabled: bool | None = None
    password: SecretStr | None = None


@router.get("/account", summary="Who am I")
async def read_account(identity: SignedInIdentity) -> AccountResponse:
    return AccountResponse.from_identity(identity)


@router.patch("/account", status_code=204, summary="Change my language")
async def change_account(identity: SignedInIdentity, accounts: Accounts, change: AccountChange) -> None:
    if change.language is not None and change.language not in LANGUAGES:
        raise InvalidInputError(f"Known languages are {', '.join(LANGUAGES)}.", field="language")
    await accounts.set_language(identity.user_id, change.language)


@router.post("/account/password", status_code=204, summary="Change my password; sessions and credentials end")
async def change_password(
    request: Request, identity: Owner, life_cycle: LifeCycle, by: By, change: PasswordChange
) -> None:
    await require_second_factor(request, identity)
    await life_cycle.change_password(
        identity.user_id,
        change.current_password.get_secret_value(),
        change.new_password.get_secret_value(),
        by=by,
        keep=change.keep,
        keep_session=session_secret(request) if identity.via is Via.SESSION else None,
        proved=identity.proved_recently,
    )


@router.get("/account/credentials", summary="Everything lasting that opens my things")
async def list_credentials(identity: Owner, life_cycle: LifeCycle) -> list[CredentialResponse]:
    return [
        CredentialResponse(
            reference=held.reference,
            kind=held.kind.name,
            name=held.credential.name,
            created_at=held.credential.created_at,
            last_used_at=held.credential.last_used_at,
        )
        for held in await life_cycle.credentials(identity.user_id)
    ]


@router.post("/account/proof", status_code=204, summary="Show again that it is me")
async def prove(request: Request, identity: Owner, accounts: Accounts, factors: Factors, proof: ProofRequest) -> None:
    """For ten minutes this session or token may make lasting credentials and change the account.

    Whoever has a second factor sends a code, everybody else the password.
    """
    if proof.code is not None:
        await factors.check_code(identity.user_id, proof.code.get_secret_value(), client=client_of(request))
    else:
        password = proof.password.get_secret_value() if proof.password is not None else ""
        await accounts.prove_by_password(identity.user_id, password, client=client_of(request))
    await note_proof(request, identity)


@router.get("/account/tokens", response_model=list[TokenResponse], summary="My tokens")
async def list_tokens(identity: Owner, accounts: Accounts) -> tuple[TokenView, ...]:
    return await accounts.tokens(identity.user_id)


@router.post("/account/tokens", status_code=201, summary="Make a token")
async def add_token(identity: ProvedOwner, accounts: Accounts, by: By, wanted: TokenRequest) -> NewTokenResponse:
    expires_at = utc_now() + timedelta(days=wanted.expires_in_days) if wanted.expires_in_days else None
    created = await accounts.add_token(identity.user_id, wanted.name, wanted.scopes, expires_at=expires_at, by=by)
    return NewTokenResponse.from_token(created)


@router.delete("/account/tokens/{token_id}", status_code=204, summary="Remove a token")
async def revoke_token(identity: Owner, accounts: Accounts, by: By, token_id: RowId) -> None:
    await accounts.revoke_token(identity.user_id, token_id, by=by)


@router.get("/account/sessions", response_model=list[SessionResponse], summary="Where I am signed in")
async def list_sessions(request: Request, identity: Owner, accounts: Accounts) -> tuple[SessionView, ...]:
    return await accounts.sessions(identity.user_id, current=session_secret(request))


@router.delete("/account/sessions", status_code=204, summary="Sign out everywhere")
async def end_sessions(identity: Owner, accounts: Accounts, by: By) -> None:
    await accounts.sign_out_everywhere(identity.user_id, by=by)


@router.delete("/account/sessions/{session_id}", status_code=204, summary="Sign out in one place")
async def end_session(identity: Owner, accounts: Accounts, session_id: str) -> None:
    await accounts.end_session(identity.user_id, session_id)


@router.get("/users", response_model=list[UserResponse], summary="All users")
async def list_users(_: AdministratorIdentity, accounts: Accounts) -> tuple[User, ...]:
    return await accounts.users()


@router.post("/users", status_code=201, response_model=UserResponse, summary="Add a user")
async def add_user(_: ProvedAdministrator, accounts: Accounts, recovery: Recovery, by: By, wanted: UserRequest) -> User:
    if wanted.password is None:
        return (await recovery.invite(wanted.email, role=wanted.role, name=wanted.name, by=by)).user
    password = wanted.password.get_secret_value()
    return await accounts.add_user(wanted.email, password, role=wanted.role, name=wanted.name, by=by)


@router.patch("/users/{user_id}", response_model=UserResponse, summary="Change a user, disable or enable")
async def change_user(
    _: ProvedAdministrator,
    accounts: Accounts,
    life_cycle: LifeCycle,
    recovery: Recovery,
    by: By,
    user_id: RowId,
    change: UserChange,
) -> User:
    user = await accounts.user(user_id)
    if change.email is not None:
        user = await recovery.set_email(user_id, change.email, by=by)
    if change.password is not None:
        await life_cycle.set_password(user_id, change.password.get_secret_value(), by=by)
    if change.role is not None:
        user = await life_cycle.set_role(user_id, change.role, by=by)
    if change.disabled is not None:
        act = life_cycle.disable_user if change.disabled else life_cycle.enable_user
        user = await act(user_id, by=by)
    return user


@router.delete("/users/{user_id}/second-factors", status_code=204, summary="Remove a user's second factors")
async def remove_second_factors(
    request: Request,
    _: ProvedAdministrator,
    factors: Factors,
    user_id: RowId,
) -> None:
    """For somebody who lost authenticator app, passkeys and recovery codes; the password stays."""
    await factors.remove_all(user_id, actor=actor_of(request))


@router.post("/users/{user_id}/link", status_code=201, summary="Make a link to choose a password")
async def make_link(
    request: Request, _: ProvedAdministrator, recovery: Recovery, by: By, user_id: RowId
) -> LinkResponse:
    made = await recovery.create_link(user_id, by=by)
    return LinkResponse(link=own_url(request, f"{CHOOSE_PATH}?token={made.secret}"))


@router.get("/account/export", summary="Everything that is mine, as a zip of JSON files", response_class=Response)
async def export(identity: ProvedOwner, ending: Ending, by: By) -> Response:
    return export_response(await ending.export(identity.user_id, by=by))


@router.delete("/account", status_code=204, summary="Delete my account with everything that is mine alone")
async def delete_account(identity: ProvedOwner, ending: Ending, by: By) -> None:
    await ending.delete(identity.user_id, by=by)


@router.delete("/users/{user_id}", status_code=204, summary="Delete a user with everything that is theirs alone")
async def delete_user(_: ProvedAdministrator, ending: Ending, by: By, user_id: RowId) -> None:
    await ending.delete(user_id, by=by)
