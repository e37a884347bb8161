"""The Google Reader API under every address that apps ask for: bare, and below what they add to the server's name."""

from fastapi import APIRouter

from pressbox.curator.web.reader_api import signing_in, streams, subscriptions

# `/api/greader.php` is what apps add that were written for FreshRSS.
BASES = ("", "/greader", "/api/greader.php")
COOKIELESS = ("/accounts/ClientLogin", "/reader/api/0/", "/reader/atom/", *(f"{base}/" for base in BASES if base))


def build_router() -> APIRouter:
    router = APIRouter(include_in_schema=False)
    for base in BASES:
        for part in (signing_in, streams, subscriptions):
            router.include_router(part.router, prefix=base)
    return router
