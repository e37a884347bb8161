"""Contexts, links and cards in the database, the rights of people on them, and GitHub over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import update

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings
from pressbox.core.errors import (
    ConfigurationError,
    InvalidInputError,
    NotFoundError,
    RateLimitedError,
    TransientError,
)
from pressbox.core.http.client import GuardedClient
from pressbox.curator.cards.domain import EnrichmentKind, NewEnrichment
from pressbox.curator.cards.github import GitHub
from pressbox.curator.cards.service import CardService
from pressbox.curator.cards.store import SqlEnrichments
from pressbox.curator.context.domain import ContextLink
from pressbox.curator.context.finder import OfflineContextExtractor, PooledLinks
from pressbox.curator.context.store import SqlContexts
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.github import GitHubService
from tests.fakes.context_starts import StartedContexts
from tests.fakes.reader import NOW, Library

BODY = '<p>Lanternfish 2.1 is an embedded database. <a href="https://a.example/1">One</a> link.</p>'


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def parsers() -> AsyncIterator[ParserPool]:
    parsers = ParserPool(1)
    yield parsers
    await parsers.close()


async def written(library: Library, *user_ids: int) -> int:
    entry_id = await library.entry(await library.feed(*user_ids), "A database", body=BODY)
    await library.entry(await library.feed(*user_ids), "Another")
    async with library.database.unit_of_work() as work:
        await work.session.execute(update(EntryRow).where(EntryRow.id == entry_id).values(content_hash="hash"))
        await work.session.execute(
            update(EntryBodyRow)
            .where(EntryBodyRow.entry_id == entry_id)
            .values(full_content=BODY, filtered_content="Lanternfish 2.1 is an embedded database. One link.")
        )
    return entry_id


async def test_a_context_is_kept_with_its_links_and_not_for_a_text_that_changed(
    library: Library, parsers: ParserPool
) -> None:
    entry_id, contexts = await written(library), SqlContexts(library.database)
    source = await contexts.source(entry_id)
    assert source is not None
    context = await OfflineContextExtractor(parsers).extract(source)
    assert await contexts.save(context, NOW)
    assert await contexts.save(context, NOW)
    assert await contexts.of([entry_id, entry_id + 10**6]) == {entry_id: context}
    assert [link.url for link in context.links] == ["https://a.example/1"]
    assert not await contexts.save(replace(context, content_hash="another"), NOW)
    assert not await contexts.save(replace(context, entry_id=10**9), NOW)
    assert await PooledLinks(parsers).find(BODY, "") == context.links


async def test_a_text_that_only_the_feed_has_is_the_source_too(library: Library) -> None:
    entry_id = await library.entry(await library.feed(), body="<p>Only the feed has this.</p>")
    source = await SqlContexts(library.database).source(entry_id)
    assert source is not None
    assert "Only the feed has this." in source.text
    assert source.content_hash
    assert await SqlContexts(library.database).source(10**9) is None


async def test_links_that_stay_keep_their_place_and_those_that_went_are_gone(library: Library) -> None:
    entry_id, contexts = await written(library), SqlContexts(library.database)
    cards = SqlEnrichments(library.database)
    first, second, third = (ContextLink(f"https://a.example/{number}", str(number)) for number in (1, 2, 3))
    await contexts.save_links(entry_id, [first, second])
    await contexts.save_links(entry_id, [third, second])
    assert await cards.find_links(entry_id, [first.url, second.url, third.url]) == [third.url, second.url]


async def test_people_see_cards_of_their_own_feeds_only_and_a_deleted_one_at_no_time(library: Library) -> None:
    mine, stranger = await library.person(), await library.person()
    entry_id = await written(library, mine)
    cards, started = SqlEnrichments(library.database), StartedContexts()
    service = CardService(cards, started)
    await SqlContexts(library.database).save_links(entry_id, [ContextLink("https://a.example/1")])
    new = NewEnrichment(
        entry_id, EnrichmentKind.GITHUB, "o/n", "o/n", "https://github.com/o/n", "<p>x</p>", {"stars": 1}
    )
    card_id = await cards.save(new, NOW)
    assert card_id is not None
    assert await cards.save(replace(new, facts={"stars": 2}), NOW) == card_id
    panel = await service.panel(mine, entry_id)
    assert [(card.id, card.has_body, card.facts["stars"]) for card in panel.repositories] == [(card_id, True, 2)]
    assert (await service.page(mine, card_id)).html == "<p>x</p>"
    for attempt in (
        service.panel(stranger, entry_id),
        service.page(stranger, card_id),
        service.delete(stranger, card_id),
        service.collect_mine(stranger, entry_id),
        service.fetch_links(stranger, entry_id, ["https://a.example/1"]),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    assert started.calls == []
    assert await service.delete(mine, card_id) == (entry_id, "started")
    assert (await service.panel(mine, entry_id)).repositories == []
    with pytest.raises(NotFoundError):
        await service.page(mine, card_id)
    # Collected once more, it is there again.
    await cards.save(new, NOW)
    assert len((await service.panel(mine, entry_id)).repositories) == 1
    assert await cards.delete(card_id)
    assert not await cards.delete(card_id)


async def test_only_links_of_the_article_can_be_ordered_and_only_some_at_a_time(library: Library) -> None:
    mine = await library.person()
    entry_id, started = await written(library, mine), StartedContexts()
    service = CardService(SqlEnrichments(library.database), started)
    links = [ContextLink(f"https://a.example/{number}") for number in range(30)]
    await SqlContexts(library.database).save_links(entry_id, links)
    for wanted in ([], ["http://127.0.0.1/admin"], [links[0].url, "file:///etc/passwd"], [link.url for link in links]):
        with pytest.raises(InvalidInputError):
            await service.fetch_links(mine, entry_id, wanted)
    assert started.calls == []
    await service.fetch_links(mine, entry_id, [links[0].url])
    assert started.calls == [("fetch", entry_id, (links[0].url,))]


@pytest.fixture
async def github() -> AsyncIterator[GitHubService]:
    async with GitHubService(key="good") as service:
        yield service


@pytest.fixture
async def http(github: GitHubService) -> AsyncIterator[GuardedClient]:
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{github.port}",))) as client:
        yield client


async def test_github_is_searched_and_its_readme_comes_sanitised(
    github: GitHubService, http: GuardedClient, parsers: ParserPool
) -> None:
    client = GitHub(http, f"{github.url}/", SecretStr("good"), parsers)
    found = await client.search("Lanternfish OR in:readme", 6)
    assert found == []
    found = await client.search("Lanternfish", 6)
    assert [one.full_name for one in found] == ["lanternfish-db/lanternfish", "someone/lanternfish"]
    assert (found[0].stars, found[0].language, found[0].licence) == (4812, "Rust", "Apache-2.0")
    readme = await client.readme(found[0])
    assert "time series" in readme
    assert "<script" not in readme
    assert 'src="https://github.com/lanternfish-db/lanternfish/raw/HEAD/docs/logo.svg"' in readme
    assert await client.readme(found[1]) == ""
    assert await client.get("nobody/nothing") is None
    assert await client.get("../../etc") is None
    assert list(await client.search("***", 6)) == []


async def test_limits_refusals_and_trouble_of_github_say_when_to_come_back(
    github: GitHubService, http: GuardedClient, parsers: ParserPool
) -> None:
    client = GitHub(http, github.url, None, parsers)
    github.use_up(seconds=1_800)
    with pytest.raises(RateLimitedError) as used_up:
        await client.search("Lanternfish", 6)
    assert used_up.value.retry_after is not None
    assert timedelta(minutes=29) < used_up.value.retry_after < timedelta(minutes=31)
    github.ask_for_pause(60)
    with pytest.raises(RateLimitedError) as paused:
        await client.get("lanternfish-db/lanternfish")
    assert paused.value.retry_after == timedelta(seconds=60)
    github.tell("search/repositories", Kind.FAILING, times=1)
    with pytest.raises(TransientError):
        await client.search("Lanternfish", 6)
    with pytest.raises(ConfigurationError, match="PRESSBOX_CURATOR_GITHUB_KEY"):
        await GitHub(http, github.url, SecretStr("wrong"), parsers).search("Lanternfish", 6)
