"""Translations in the database: which entries want one, what is kept, who sees it, and the REST API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, cast

import pytest
import typer
from pydantic import SecretStr
from sqlalchemy import update
from typer.testing import CliRunner

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError
from pressbox.curator.library.domain import FetchState
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.manifest import APP
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.settings import CuratorSettings
from pressbox.curator.translate import wiring
from pressbox.curator.translate.activities import Translations
from pressbox.curator.translate.blocks import find_blocks
from pressbox.curator.translate.commands import trigger
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.domain import BlockTranslation, TranslationStatus, UntranslatedReason
from pressbox.curator.translate.service import TranslationService, TranslatorChoice
from pressbox.curator.translate.store import SqlTranslations
from pressbox.curator.translate.wiring import configured_providers
from tests.fakes.reader import NOW, Library
from tests.site import browsing, serving

BODY = '<p>See <a href="https://example.org/a">the page</a>.</p><p>Second line.</p><pre><code>x = 1</code></pre>'


class Runs:
    def __init__(self) -> None:
        self.started: list[tuple[Any, ...]] = []

    async def start_translation(self, entry_ids: Any, provider: Provider, language: str, *, again: bool = False) -> str:
        self.started.append((tuple(entry_ids), provider, language, again))
        return "translate-1"


class Shelf:
    def __init__(self, resources: Resources) -> None:
        self.library = Library(resources)
        self.store = SqlTranslations(resources.database)
        self.runs = Runs()
        self.service = TranslationService(
            SqlReadingLists(resources.database),
            self.store,
            self.runs,
            TranslatorChoice((Provider.DEEPL, Provider.LLM), ""),
        )

    async def entry(self, feed_id: int, number: int = 0, **values: Any) -> int:
        body = values.pop("body", BODY)
        entry_id = await self.library.entry(feed_id, f"Title {number}", at=NOW - timedelta(hours=number), body=body)
        await self.change(entry_id, **({"language": "en", "content_hash": f"hash {number}"} | values))
        return entry_id

    async def change(self, entry_id: int, **values: Any) -> None:
        async with self.library.database.unit_of_work() as work:
            await work.session.execute(update(EntryRow).where(EntryRow.id == entry_id).values(**values))

    async def edit(self, entry_id: int, body: str) -> None:
        await self.change(entry_id, content_hash="edited")
        async with self.library.database.unit_of_work() as work:
            edited = update(EntryBodyRow).where(EntryBodyRow.entry_id == entry_id).values(full_content=body)
            await work.session.execute(edited)

    async def translate(self, entry_id: int, language: str = "de", *, finish: bool = True) -> None:
        source = await self.store.find_source(entry_id)
        assert source is not None
        blocks = find_blocks(source.title, source.summary, source.html)
        done = [BlockTranslation(block.key, html=f"{language}: {block.html}") for block in blocks]
        done[-1] = BlockTranslation(blocks[-1].key, reason=UntranslatedReason.UNCHANGED)
        await self.store.add(source, language, "deepl", "", done[:2], NOW)
        await self.store.add(source, language, "deepl", "", done[2:], NOW)
        if finish:
            assert await self.store.finish([entry_id], language, NOW) == [entry_id]

    async def found(self, *, language: str = "de", limit: int = 100) -> list[int]:
        page = await self.store.select((), language, None, limit)
        return [entry.entry_id for entry in page.entries]


@pytest.fixture
def shelf(resources: Resources) -> Shelf:
    return Shelf(resources)


async def test_entries_without_a_translation_are_found_by_state_newest_first_page_by_page(shelf: Shelf) -> None:
    anna = await shelf.library.person()
    feed, nobodys = await shelf.library.feed(anna), await shelf.library.feed()
    entries = [await shelf.entry(feed, number) for number in range(5)]
    await shelf.entry(feed, 6, language="de-AT")
    await shelf.entry(feed, 7, language="")
    await shelf.entry(feed, 8, content_hash="")
    await shelf.entry(feed, 9, fetch_state=FetchState.WAITING)
    await shelf.entry(nobodys, 10)
    assert await shelf.found() == entries
    first = await shelf.store.select((), "de", None, 3)
    assert ([one.entry_id for one in first.entries], first.more) == (entries[:3], True)
    rest = await shelf.store.select((), "de", first.after, 3)
    assert ([one.entry_id for one in rest.entries], rest.more) == (entries[3:], False)
    await shelf.translate(entries[0])
    await shelf.translate(entries[1], finish=False)
    await shelf.translate(entries[2], "fr")
    assert await shelf.found() == entries[1:]
    await shelf.change(entries[0], content_hash="another text")
    assert await shelf.found() == entries
    named = await shelf.store.select([entries[4], entries[0]], "de", None, 10)
    assert [one.entry_id for one in named.entries] == [entries[0], entries[4]]


async def test_a_translation_is_kept_piece_by_piece_and_shown_beside_the_article(shelf: Shelf) -> None:
    anna = await shelf.library.person()
    entry_id = await shelf.entry(await shelf.library.feed(anna))
    assert (await shelf.service.view_entry(anna, entry_id, "de")).state is TranslationStatus.NONE
    await shelf.translate(entry_id)
    view = await shelf.service.view_entry(anna, entry_id, "de")
    assert (view.state, view.kept, view.missing, view.provider) == (TranslationStatus.COMPLETE, 1, 0, "deepl")
    assert (view.translated_title, view.translated_summary) == ("de: Title 0", "de: A summary.")
    rows = view.pairs({"unchanged": "came back unchanged"})
    assert [row.translation for row in rows] == [
        '<p>de: See <a href="https://example.org/a">the page</a>.</p>',
        '<p><span class="untranslated" data-why="came back unchanged">Second line.</span></p>',
        "<pre><code>x = 1</code></pre>",
    ]
    await shelf.edit(entry_id, BODY.replace("Second", "Another"))
    edited = await shelf.service.view_entry(anna, entry_id, "de")
    assert (edited.state, edited.kept, edited.missing) == (TranslationStatus.STALE, 0, 1)
    # What was translated and is still there stays translated.
    assert edited.pairs({})[0] == rows[0]


async def test_another_provider_begins_anew_and_an_entry_that_goes_takes_its_translations_along(shelf: Shelf) -> None:
    entry_id = await shelf.entry(await shelf.library.feed(await shelf.library.person()))
    await shelf.translate(entry_id)
    source = await shelf.store.find_source(entry_id)
    assert source is not None
    await shelf.store.add(source, "de", "microsoft", "", [], NOW)
    stored = await shelf.store.find(entry_id, "de")
    assert stored is not None
    assert (stored.provider, list(stored.blocks), stored.complete) == ("microsoft", [], False)
    async with shelf.library.database.unit_of_work() as work:
        await work.session.delete(await work.session.get_one(EntryRow, entry_id))
    assert await shelf.store.find(entry_id, "de") is None
    await shelf.store.add(source, "de", "microsoft", "", [], NOW)
    assert await shelf.store.finish([entry_id], "de", NOW) == []


async def test_only_own_entries_known_languages_and_configured_providers(shelf: Shelf) -> None:
    anna, bert = await shelf.library.person(), await shelf.library.person()
    entry_id = await shelf.entry(await shelf.library.feed(anna))
    assert await shelf.service.translate(anna, entry_id, "de", again=True) == "translate-1"
    assert shelf.runs.started == [((entry_id,), Provider.DEEPL, "de", True)]
    with pytest.raises(NotFoundError):
        await shelf.service.translate(bert, entry_id, "de")
    with pytest.raises(NotFoundError):
        await shelf.service.view_entry(bert, entry_id, "de")
    with pytest.raises(InvalidInputError, match="deepl, llm"):
        await shelf.service.translate(anna, entry_id, "de", provider="microsoft")
    with pytest.raises(InvalidInputError, match="A language is one of"):
        shelf.service.choose_language("klingon")
    assert shelf.service.choose_language("", "de") == "de"
    assert shelf.service.choose_language() == "en"
    none = TranslationService(SqlReadingLists(shelf.library.database), shelf.store, shelf.runs, TranslatorChoice(()))
    with pytest.raises(ConflictError, match="DEEPL_API_KEY"):
        await none.translate_some([])


def test_the_provider_of_the_settings_comes_first_when_it_has_its_key(settings: Settings) -> None:
    curator = settings.group(CuratorSettings)
    assert configured_providers(curator) == ()
    keys = curator.model_copy(update={"deepl_key": SecretStr("k"), "model_url": "http://x/v1", "model_name": "m"})
    assert configured_providers(keys) == (Provider.DEEPL, Provider.LLM)
    microsoft = keys.model_copy(update={"microsoft_key": SecretStr("k")})
    assert configured_providers(microsoft)[0] is Provider.MICROSOFT


async def test_the_api_gives_translations_and_says_which_setting_is_missing(shelf: Shelf, settings: Settings) -> None:
    library = shelf.library
    async with (
        serving(library.resources, settings, [APP], library.overrides()) as app,
        browsing(app, "admin", Role.ADMIN),
        browsing(app, "anna") as client,
    ):
        entry_id = await shelf.entry(await library.feed(client.user_id))
        await shelf.translate(entry_id)
        address = f"/api/curator/entries/{entry_id}/translation"
        answer = (await client.get(f"{address}?language=de")).json()
        assert (answer["state"], answer["title"], answer["provider"]) == ("complete", "de: Title 0", "deepl")
        assert answer["html"].startswith("<p>de: See <a href=")
        assert (answer["blocks"][-1]["why"], answer["blocks"][-1]["translation"]) == ("unchanged", "")
        assert (await client.get(f"{address}?language=xx")).status_code == 422
        refused = await client.post(address, json={})
        assert (refused.status_code, "DEEPL_API_KEY" in refused.text) == (409, True)
        async with browsing(app, "bert") as other:
            assert (await other.get(address)).status_code == 404


def test_the_command_translates_the_named_entries_or_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    choice = TranslatorChoice((Provider.DEEPL, Provider.LLM), "de")
    # A command acts in nobody's name and reads nothing.
    service = TranslationService(cast(SqlReadingLists, None), cast(Translations, None), runs, choice)

    @asynccontextmanager
    async def opened() -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(wiring, "translation_service", lambda _: service)
    commands = typer.Typer()
    commands.add_typer(trigger, name="trigger")
    for words in ([], ["17", "18", "--provider", "llm", "--language", "fr"]):
        done = CliRunner().invoke(commands, ["trigger", "translate", *words, "--json"], obj=opened)
        assert (done.exit_code, done.stdout) == (0, '{"workflow_id": "translate-1"}\n')
    assert runs.started == [((), Provider.DEEPL, "de", False), ((17, 18), Provider.LLM, "fr", False)]
    refused = CliRunner().invoke(commands, ["trigger", "translate", "--provider", "microsoft"], obj=opened)
    assert isinstance(refused.exception, InvalidInputError)
