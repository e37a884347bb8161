"""Sign-in by an OpenID provider or by a header of a trusted proxy: trips of browsers, and what comes of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from urllib.parse import urlencode

from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts import admission, audit, ceremonies, passkey_store, people
from pressbox.core.accounts.admission import Admitted, ExternalPerson
from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.ceremonies import Kind
from pressbox.core.accounts.limits import Limit, RateLimits, address_subject
from pressbox.core.accounts.models import Actor, Authenticated, Client, User, scopes_of
from pressbox.core.accounts.oidc import OidcError, Request, authorization_url, check_response, is_fresh, new_request
from pressbox.core.accounts.oidc import person_of as person_of_claims
from pressbox.core.accounts.oidc_client import OidcClient
from pressbox.core.accounts.passwords import UNUSABLE
from pressbox.core.clock import utc_now
from pressbox.core.config import TrustedHeaderSettings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, ForbiddenError, NotFoundError
from pressbox.core.logs import get_logger

log = get_logger(__name__)

TRIPS_BY_ADDRESS = Limit("oidc-address", 60, timedelta(minutes=10))


class Purpose(StrEnum):
    """Why a browser goes to the provider."""

    SIGN_IN = "sign-in"
    CONNECT = "connect"
    PROVE = "prove"


@dataclass(frozen=True)
class Returned:
    """Who came back from the provider, why they went, and where they wanted to go."""

    user: User
    purpose: Purpose
    target: str


class ExternalSignIn:
    """`oidc` is None when no provider is set."""

    def __init__(self, database: Database, oidc: OidcClient | None) -> None:
        self._database = database
        self._oidc = oidc
        self._limits = RateLimits(database)

    @property
    def provider_button(self) -> str | None:
        """What the button says; None when there is no provider."""
        return self._oidc.settings.button if self._oidc else None

    async def leave(
        self, client: Client, purpose: Purpose, target: str, *, user_id: int | None = None
    ) -> tuple[str, str]:
        """The secret for the browser's cookie, and the provider's address to go to."""
        oidc = self._require_provider()
        await self._limits.count(TRIPS_BY_ADDRESS, address_subject(client.address))
        provider, request = await oidc.provider(), new_request()
        async with self._database.unit_of_work() as work:
            secret = await ceremonies.begin(
                work.session, Kind.OIDC, user_id=user_id, purpose=purpose, target=target, **vars(request)
            )
        again = purpose is Purpose.PROVE
        return secret, authorization_url(provider, oidc.settings, request, oidc.redirect_uri, again=again)

    async def come_back(
        self, secret: str, parameters: Mapping[str, str], *, client: Client, signed_in: int | None
    ) -> Returned:
        """What came of the trip that this browser began. `signed_in` is who uses the browser now."""
        oidc = self._require_provider()
        await self._limits.count(TRIPS_BY_ADDRESS, address_subject(client.address))
        async with self._database.unit_of_work() as work:
            begun = await ceremonies.finish(work.session, Kind.OIDC, secret)
        if begun is None:
            raise OidcError("This answer does not belong to a sign-in that began in this browser. Begin again.")
        purpose, target = Purpose(begun.detail["purpose"]), str(begun.detail["target"])
        if purpose is not Purpose.SIGN_IN and begun.user_id != signed_in:
            raise OidcError("Somebody else is signed in here by now. Begin again.")
        request = Request(**{name: begun.detail[name] for name in ("state", "nonce", "verifier")})
        try:
            code = check_response(await oidc.provider(), request, parameters)
            claims = await oidc.redeem(request, code)
            if purpose is Purpose.PROVE and not is_fresh(claims, utc_now()):
                raise OidcError("The provider did not ask you again who you are, so this proves nothing.")
            person = person_of_claims(claims, oidc.settings)
            return Returned(await self._settle(purpose, person, begun.user_id, client), purpose, target)
        except ForbiddenError as error:
            await self._note_refusal(error, client, begun.user_id)
            raise

    async def _settle(self, purpose: Purpose, person: ExternalPerson, user_id: int | None, client: Client) -> User:
        oidc = self._require_provider()
        async with self._database.unit_of_work() as work:
            if purpose is Purpose.SIGN_IN or user_id is None:
                admitted = await admission.admit(work.session, person, oidc.settings)
                await _record(work.session, admitted, client)
                return people.to_user(admitted.user)
            if purpose is Purpose.CONNECT:
                admission.require_group(person, oidc.settings)
                await admission.link(work.session, person, user_id)
                actor = Actor(user_id, client)
                await audit.record(work.session, Action.PROVIDER_CONNECTED, actor, user_id)
            else:
                owner = await admission.find(work.session, person)
                if owner is None or owner.id != user_id:
                    raise OidcError("This sign-in belongs to another account, so it does not prove that it is you.")
            return people.to_user(await people.get(work.session, user_id))

    async def disconnect(self, user_id: int, *, actor: Actor) -> None:
        """Undo the connection, unless it is the only way in."""
        issuer = self._require_provider().settings.issuer or ""
        async with self._database.unit_of_work() as work:
            row = await people.get(work.session, user_id)
            if row.password_hash == UNUSABLE and not await passkey_store.views(work.session, user_id):
                raise ConflictError("This is your only way to sign in. Add a passkey or set a password first.")
            if not await admission.unlink(work.session, user_id, issuer):
                raise NotFoundError("This account is not connected.")
            await audit.record(work.session, Action.PROVIDER_DISCONNECTED, actor, user_id)

    async def is_connected(self, user_id: int) -> bool:
        if self._oidc is None:
            return False
        async with self._database.unit_of_work() as work:
            return self._oidc.settings.issuer in await admission.providers_of(work.session, user_id)

    async def sign_out_address(self, back: str) -> str | None:
        """Where somebody signs out of the provider as well; None when it offers no such place."""
        if self._oidc is None:
            return None
        place = (await self._oidc.provider()).end_session_endpoint
        if place is None:
            return None
        query = urlencode({"client_id": self._oidc.settings.client_id or "", "post_logout_redirect_uri": back})
        return f"{place}{'&' if '?' in place else '?'}{query}"

    async def authenticate_header(
        self, person: ExternalPerson, settings: TrustedHeaderSettings, *, client: Client
    ) -> Authenticated:
        """Whom a trusted proxy names. There is no session: the proxy says it again with every request."""
        async with self._database.unit_of_work() as work:
            admitted = await admission.admit(work.session, person, settings)
            await _record(work.session, admitted, client)
            user = people.to_user(admitted.user)
        # The proxy has just said who it is; whether it asked for a password again is its own affair.
        return Authenticated(user=user, scopes=scopes_of(user.role), proved_at=utc_now())

    async def _note_refusal(self, error: ForbiddenError, client: Client, user_id: int | None) -> None:
        reason = error.details.get("reason")
        log.info("oidc_refused", msg=error.message, reason=reason, address=client.address)
        async with self._database.unit_of_work() as work:
            await audit.record(work.session, Action.SIGN_IN_REFUSED, audit.nobody(client), user_id, by="provider")

    def _require_provider(self) -> OidcClient:
        if self._oidc is None:
            raise NotFoundError("No sign-in provider is set up here.")
        return self._oidc


async def _record(session: AsyncSession, admitted: Admitted, client: Client) -> None:
    user_id = admitted.user.id
    actor = Actor(user_id, client)
    if admitted.created:
        await audit.record(session, Action.USER_ADDED, actor, user_id, by="provider")
    if admitted.linked:
        await audit.record(session, Action.PROVIDER_CONNECTED, actor, user_id, by="e-mail address")
    if admitted.new_role is not None:
        await audit.record(session, Action.ROLE_CHANGED, actor, user_id, role=admitted.new_role, by="provider")
