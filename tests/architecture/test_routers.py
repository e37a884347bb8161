"""Routers of applications are joined, not included in one another: FastAPI analyses an included route once more."""

import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from pressbox.core.app import AppManifest
from pressbox.core.web.joining import join_routers
from pressbox.entry.manifests import APPLICATIONS

# Routes of soonish get their service from a router around them; those for reader apps are there below several paths.
INCLUDED = {"soonish": 14, "curator": 3}
WITH_PAGES = [manifest for manifest in APPLICATIONS if manifest.router is not None]


@pytest.mark.parametrize("manifest", WITH_PAGES, ids=lambda manifest: manifest.name)
def test_routes_are_analysed_once_when_the_application_is_built(manifest: AppManifest) -> None:
    assert manifest.router is not None
    routes = manifest.router().routes
    included = [route for route in routes if not isinstance(route, APIRoute)]
    assert len(included) <= INCLUDED.get(manifest.name, 0)
    assert routes


def test_joined_routes_keep_their_order_paths_tags_and_dependencies() -> None:
    asked: list[str] = []
    first = APIRouter(prefix="/api", tags=["one"], dependencies=[Depends(lambda: asked.append("first"))])
    second = APIRouter()

    @first.get("/fixed")
    def fixed() -> str:
        return "fixed"

    @second.get("/api/{word}")
    def any_word(word: str) -> str:
        return word

    app = FastAPI()
    app.include_router(join_routers(first, second), dependencies=[Depends(lambda: asked.append("shell"))])
    client = TestClient(app)
    assert client.get("/api/fixed").json() == "fixed"
    assert asked == ["shell", "first"]
    assert client.get("/api/other").json() == "other"
    assert asked == ["shell", "first", "shell"]
    assert app.openapi()["paths"]["/api/fixed"]["get"]["tags"] == ["one"]
