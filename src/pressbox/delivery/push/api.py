"""Let this browser get messages, or no longer, and try it. Only browsers can: a program has no service worker."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import RedirectResponse
from pydantic import Field

from pressbox.core.app import Resources
from pressbox.core.errors import ForbiddenError, NotFoundError
from pressbox.core.quotas.store import QuotaUses
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.core.web.browsers import browser_in_words
from pressbox.core.web.identity import Identity, Via, session_secret
from pressbox.core.web.languages import choose_language, translations
from pressbox.core.web.pages.access import Parts, Reader, provide
from pressbox.delivery.push.keys import PushKeys
from pressbox.delivery.push.message import PushMessage
from pressbox.delivery.push.sender import PACKAGE, PushGoneError, PushSender
from pressbox.delivery.push.store import TESTS, PushStore
from pressbox.delivery.push.subscription import LONGEST_ENDPOINT, PushSubscription, check_target

TEST_TITLE = "Pressbox reaches this device"
TEST_BODY = "From now on you will read here what matters."
UNKNOWN = "This browser gets no messages of yours. Turn them on first."
GONE = "The push service no longer knows this browser. Turn messages off and on again."

router = APIRouter(prefix="/api/push", tags=["push"])
pages = APIRouter(include_in_schema=False)


def make_keys(parts: Resources) -> PushKeys:
    return PushKeys(parts.database, parts.settings)


def make_sender(parts: Resources) -> PushSender:
    return PushSender(parts.http, make_keys(parts), parts.settings)


def _store(parts: Parts) -> PushStore:
    return PushStore(parts.database, parts.settings)


Store = Annotated[PushStore, Depends(_store)]
Keys = Annotated[PushKeys, Depends(provide(make_keys))]
Sender = Annotated[PushSender, Depends(provide(make_sender))]
Endpoint = Annotated[str, Field(min_length=1, max_length=LONGEST_ENDPOINT)]
KeyText = Annotated[str, Field(min_length=1, max_length=200)]


class SubscriptionKeys(RequestBody):
    p256dh: KeyText
    auth: KeyText


class NewSubscription(RequestBody):
    """What the browser's `PushSubscription` gives."""

    endpoint: Endpoint
    keys: SubscriptionKeys


class ThisBrowser(RequestBody):
    endpoint: Endpoint


class PushKey(ResponseModel):
    public_key: str = Field(description="For `applicationServerKey`, base64url.")


class StoredSubscription(ResponseModel):
    id: int


def browser_owner(identity: Reader) -> Identity:
    if identity.via is Via.TOKEN:
        raise ForbiddenError("Messages are turned on in the browser that is to get them, on its account page.")
    return identity


Owner = Annotated[Identity, Depends(browser_owner)]


@router.get("/key", summary="The key with which a browser subscribes")
async def read_key(keys: Keys, _: Reader) -> PushKey:
    return PushKey(public_key=(await keys.load()).public_key)


@router.post("/subscriptions", summary="Let this browser get messages", status_code=201)
async def subscribe(request: Request, store: Store, identity: Owner, given: NewSubscription) -> StoredSubscription:
    target = check_target(given.endpoint, given.keys.p256dh, given.keys.auth)
    number = await store.subscribe(
        identity.user_id,
        target,
        name=browser_in_words(request.headers.get("user-agent", "")) or "?",
        language=choose_language(identity.language, request.headers.get("accept-language", "")),
        session_secret=session_secret(request) if identity.via is Via.SESSION else None,
    )
    return StoredSubscription(id=number)


@router.post("/subscriptions/look", summary="Whether this browser gets your messages")
async def look(store: Store, identity: Owner, browser: ThisBrowser) -> StoredSubscription:
    return StoredSubscription(id=(await _demand(store, identity, browser)).id)


@router.post("/subscriptions/end", summary="Send this browser nothing more", status_code=204)
async def unsubscribe(store: Store, identity: Owner, browser: ThisBrowser) -> None:
    found = await store.find(identity.user_id, browser.endpoint)
    if found is not None:
        await store.end(found.id, identity.user_id)


@router.post("/test", summary="Send this browser a test message", status_code=204)
async def send_test(parts: Parts, store: Store, sender: Sender, identity: Owner, browser: ThisBrowser) -> None:
    found = await _demand(store, identity, browser)
    await QuotaUses(parts.database).demand(TESTS, identity.user_id)
    say = translations(found.language, (PACKAGE,)).gettext
    try:
        await sender.send(found, PushMessage(say(TEST_TITLE), say(TEST_BODY), "/account#device", "pressbox.test"))
    except PushGoneError as error:
        await store.end(found.id, identity.user_id)
        raise PushGoneError(GONE) from error


@pages.post("/account/devices/{device_id}/end")
async def end_device(
    store: Store, identity: Owner, device_id: Annotated[int, Path(ge=1, le=2**63 - 1)]
) -> RedirectResponse:
    await store.end(device_id, identity.user_id)
    return RedirectResponse("/account#device", status_code=303)


async def _demand(store: PushStore, identity: Identity, browser: ThisBrowser) -> PushSubscription:
    found = await store.find(identity.user_id, browser.endpoint)
    if found is None:
        raise NotFoundError(UNKNOWN)
    return found
