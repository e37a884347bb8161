"""The Google Reader API under every address that apps ask for: bare, and below what they add to the server's name."""

from fastapi import APIRouter

from pressbox.curator.apps.reader_api import sign_in as signing_in
from pressbox.curator.apps.reader_api import streams, subscriptions
from pressbox.curator.apps.reader_api.bases import BASES


def build_router() -> APIRouter:
    router = APIRouter(include_in_schema=False)
    for base in BASES:
        for part in (signing_in, streams, subscriptions):
            router.include_router(part.router, prefix=base)
    return router
