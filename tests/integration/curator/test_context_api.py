"""Context, cards and links over HTTP: JSON, and pages without scripts."""

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.cards.domain import EnrichmentKind, NewEnrichment
from pressbox.curator.cards.service import CardService
from pressbox.curator.cards.store import SqlEnrichments
from pressbox.curator.cards.wiring import card_service
from pressbox.curator.context.domain import ContextLink, ContextMethod, Entity, EntityKind, EntryContext
from pressbox.curator.context.store import SqlContexts
from pressbox.curator.manifest import APP
from tests.fakes.context_starts import StartedContexts
from tests.fakes.reader import NOW, Library
from tests.site import browsing, serving

API = "/api/curator"
LINK = "https://a.example/1"


@pytest.fixture
def started() -> StartedContexts:
    return StartedContexts()


@pytest.fixture
async def app(resources: Resources, settings: Settings, started: StartedContexts) -> AsyncIterator[FastAPI]:
    cards = CardService(SqlEnrichments(resources.database), started)
    async with serving(resources, settings, [APP], {card_service: lambda: cards}) as app:
        yield app


async def test_what_an_entry_is_about_is_read_ordered_and_deleted_over_http(
    app: FastAPI, resources: Resources, started: StartedContexts
) -> None:
    library, cards = Library(resources), SqlEnrichments(resources.database)
    async with browsing(app, "anna") as anna, browsing(app, "stranger") as stranger:
        user_id = anna.user_id
        entry_id = await library.entry(await library.feed(user_id), "A database", body="<p>Lanternfish glows.</p>")
        place = f"{API}/entries/{entry_id}"
        assert (await anna.get(f"{place}/context")).json()["context"] is None
        contexts = SqlContexts(resources.database)
        source = await contexts.source(entry_id)
        assert source is not None
        named = (Entity("Lanternfish", EntityKind.SOFTWARE),)
        context = EntryContext(
            entry_id, source.content_hash, ContextMethod.OFFLINE, entities=named, links=(ContextLink(LINK, "One"),)
        )
        assert await contexts.save(context, NOW)
        card_id = await cards.save(NewEnrichment(entry_id, EnrichmentKind.LINK, LINK, "One", LINK, "<p>x</p>"), NOW)
        answer = (await anna.get(f"{place}/context")).json()
        assert answer["context"]["method"] == "offline"
        assert [entity["name"] for entity in answer["context"]["entities"]] == ["Lanternfish"]
        assert [(link["url"], link["card"]["id"]) for link in answer["links"]] == [(LINK, card_id)]
        assert (await anna.get(f"{API}/enrichments/{card_id}")).json()["html"] == "<p>x</p>"
        page = await anna.get(f"/reader/entries/{entry_id}?tab=enrichments")
        assert "Lanternfish" in page.text
        assert "Candidates found by rules" in page.text

        assert (await anna.post(f"{place}/context", json={"again": True})).status_code == 202
        assert (await anna.post(f"{place}/links", json={"urls": [LINK]})).status_code == 202
        assert (await anna.post(f"{place}/links", json={"urls": ["http://127.0.0.1/"]})).status_code == 422
        assert (await anna.post(f"/reader/entries/{entry_id}/context")).status_code == 303
        assert (await anna.post(f"/reader/entries/{entry_id}/links", data={"url": [LINK]})).status_code == 303
        nothing = await anna.post(f"/reader/entries/{entry_id}/links", headers={"Accept": "text/html"})
        assert (nothing.status_code, "Choose at least one link." in nothing.text) == (422, True)
        for refused in (
            await stranger.get(f"{place}/context"),
            await stranger.post(f"{place}/context", json={}),
            await stranger.post(f"{place}/links", json={"urls": [LINK]}),
            await stranger.get(f"{API}/enrichments/{card_id}"),
            await stranger.delete(f"{API}/enrichments/{card_id}"),
            await stranger.get(f"/reader/cards/{card_id}"),
        ):
            assert refused.status_code == 404
        assert (await anna.post(f"/reader/cards/{card_id}/delete")).status_code == 303
        assert (await anna.get(f"/reader/cards/{card_id}")).status_code == 404
        assert started.calls == [
            ("collect", (entry_id,), True),
            ("fetch", entry_id, (LINK,)),
            ("collect", (entry_id,), False),
            ("fetch", entry_id, (LINK,)),
            ("delete", card_id),
        ]
