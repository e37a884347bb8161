"""The client against a provider on loopback that can lie."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pydantic import SecretStr

from pressbox.core.accounts import oidc_client
from pressbox.core.accounts.oidc import (
    OidcError,
    Request,
    authorization_url,
    check_response,
    new_request,
    person_of,
)
from pressbox.core.accounts.oidc_client import OidcClient
from pressbox.core.accounts.sign_in_ways import find_oidc_problem
from pressbox.core.config import HttpSettings, OidcSettings
from pressbox.core.errors import TransientError
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.oidc_provider import CLIENT_ID, CLIENT_SECRET, Lie, OidcProvider
from tests.waiting import PATIENCE_SECONDS

PUBLIC_URL = "https://press.example.org"


@pytest.fixture
async def provider() -> AsyncIterator[OidcProvider]:
    async with OidcProvider() as provider:
        yield provider


def settings_for(provider: OidcProvider, **changes: object) -> OidcSettings:
    values = {"issuer": provider.issuer, "client_id": CLIENT_ID, "client_secret": SecretStr(CLIENT_SECRET)}
    return OidcSettings.model_validate({**values, **changes})


@pytest.fixture
async def client(provider: OidcProvider) -> AsyncIterator[OidcClient]:
    async with OidcClient(settings_for(provider), HttpSettings(), PUBLIC_URL) as client:
        yield client


async def travel(client: OidcClient) -> tuple[Request, dict[str, str]]:
    """To the provider and back, as a browser does it."""
    request = new_request()
    address = authorization_url(await client.provider(), client.settings, request, client.redirect_uri)
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as browser:
        answer = await browser.get(address)
    location = answer.headers["location"]
    assert location.startswith(f"{PUBLIC_URL}/sign-in/oidc/callback?")
    return request, {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


async def sign_in(client: OidcClient) -> dict[str, object]:
    request, parameters = await travel(client)
    code = check_response(await client.provider(), request, parameters)
    return await client.redeem(request, code)


def test_an_answer_that_is_nested_without_end_is_no_answer() -> None:
    with pytest.raises(OidcError, match="cannot be read"):
        oidc_client.read_object(b"[" * 100_000)


async def test_a_provider_on_a_private_address_is_asked_although_the_guard_refuses_such(
    client: OidcClient, provider: OidcProvider
) -> None:
    provider.state.person = {
        "sub": "anna",
        "email": "anna@example.org",
        "email_verified": True,
        "realm_access": {"roles": ["press"]},
    }
    claims = await sign_in(client)
    person = person_of(claims, settings_for(provider, groups_claim="realm_access.roles"))
    assert (person.subject, person.email, person.email_verified) == ("anna", "anna@example.org", True)
    assert person.groups == {"press"}


async def test_what_the_provider_tells_only_when_asked_is_asked_for(client: OidcClient, provider: OidcProvider) -> None:
    provider.state.person = {"sub": "anna", "email": "anna@example.org", "groups": ["press"]}
    provider.state.only_userinfo = True
    person = person_of(await sign_in(client), client.settings)
    assert (person.email, person.groups) == ("anna@example.org", frozenset({"press"}))
    provider.state.lie = Lie.OTHER_PERSON
    with pytest.raises(OidcError, match="somebody else"):
        await sign_in(client)


@pytest.mark.parametrize(
    "lie",
    [
        Lie.NONCE,
        Lie.AUDIENCE,
        Lie.SEVERAL_AUDIENCES,
        Lie.ISSUER,
        Lie.EXPIRED,
        Lie.FUTURE,
        Lie.UNSIGNED,
        Lie.SHARED_SECRET,
        Lie.FOREIGN_KEY,
        Lie.FOREIGN_KEY_SAME_ID,
        Lie.NO_TOKEN,
        Lie.NO_SUBJECT,
        Lie.RESPONSE_ISSUER,
        Lie.DENIED,
        Lie.OWN_NAME,
    ],
)
async def test_a_provider_that_lies_is_not_believed(client: OidcClient, provider: OidcProvider, lie: Lie) -> None:
    provider.state.lie = lie
    with pytest.raises(OidcError):
        await sign_in(client)
    provider.state.lie = None
    assert (await sign_in(client))["sub"] == "anna"


async def test_a_code_works_once(client: OidcClient) -> None:
    request, parameters = await travel(client)
    assert (await client.redeem(request, parameters["code"]))["sub"] == "anna"
    with pytest.raises(OidcError, match="did not accept"):
        await client.redeem(request, parameters["code"])


async def test_an_answer_for_another_browser_is_refused(client: OidcClient) -> None:
    mine, _ = await travel(client)
    _, theirs = await travel(client)
    with pytest.raises(OidcError, match="this browser"):
        check_response(await client.provider(), mine, theirs)
    # Even with the state exchanged, the code belongs to the other trip's verifier.
    with pytest.raises(OidcError, match="did not accept"):
        await client.redeem(mine, theirs["code"])


@pytest.mark.parametrize(("seconds", "accepted"), [(-40, True), (40, True), (-420, False), (180, False)])
async def test_the_clocks_may_differ_a_little(
    client: OidcClient, provider: OidcProvider, seconds: float, accepted: bool
) -> None:
    provider.state.clock_offset = seconds
    if accepted:
        assert (await sign_in(client))["sub"] == "anna"
    else:
        with pytest.raises(OidcError):
            await sign_in(client)


async def test_rotated_keys_are_fetched_again_but_not_at_every_lie(
    client: OidcClient, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sign_in(client)
    monkeypatch.setattr(oidc_client, "KEYS_AGAIN_SECONDS", 0.0)
    provider.rotate_key()
    assert (await sign_in(client))["sub"] == "anna"
    assert provider.state.key_requests == 2
    monkeypatch.setattr(oidc_client, "KEYS_AGAIN_SECONDS", 3600.0)
    provider.state.lie = Lie.FOREIGN_KEY
    for _ in range(5):
        with pytest.raises(OidcError, match="does not publish"):
            await sign_in(client)
    assert provider.state.key_requests == 2


async def test_a_wrong_secret_and_an_absent_provider_are_said_apart(provider: OidcProvider) -> None:
    wrong = settings_for(provider, client_secret="wrong")
    async with OidcClient(wrong, HttpSettings(), PUBLIC_URL) as client:
        with pytest.raises(OidcError, match="did not accept"):
            await sign_in(client)
        provider.tell("token", Kind.FAILING)
        with pytest.raises(TransientError, match="does not answer"):
            await sign_in(client)


def test_a_half_set_provider_is_explained() -> None:
    def problem(public_url: str | None = PUBLIC_URL, **values: object) -> str:
        return find_oidc_problem(OidcSettings.model_validate(values), public_url) or ""

    good = {"issuer": "https://id.example.org", "client_id": "pressbox"}
    assert problem() == ""
    assert problem(**good) == ""
    assert "CLIENT_ID is not" in problem(issuer="https://id.example.org")
    assert "ISSUER is not" in problem(client_id="pressbox")
    assert "PUBLIC_URL" in problem(None, **good)
    assert "https://" in problem(**{**good, "issuer": "http://id.example.org"})
    assert "not an address" in problem(**{**good, "issuer": "id.example.org"})
    assert "openid" in problem(**good, scopes="email")
