"""The parser pool with real processes and hostile pages."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from pressbox.core.errors import InvalidInputError, PermanentError, TransientError
from pressbox.curator.articles.extraction import PooledExtractor
from pressbox.curator.articles.ports import Page
from pressbox.curator.distil.extractive import ExtractiveDistiller
from pressbox.curator.library.domain.entries import ToDistil
from pressbox.curator.library.domain.feeds import ExtractionRule
from pressbox.curator.library.parser_pool import ParserPool

SENTENCE = "The new bridge over the river was opened on Monday by the mayor of the town. "
GOOD = Page("https://example.org/a", f"<html><body><article><p>{SENTENCE * 5}</p></article></body></html>", "text/html")


@pytest.fixture(scope="module")
async def parsers() -> AsyncIterator[ParserPool]:
    parsers = ParserPool(2)
    yield parsers
    await parsers.close()


def page(html: str) -> Page:
    return Page("https://example.org/evil", html, "text/html")


async def test_pages_and_texts_are_worked_on_side_by_side(parsers: ParserPool) -> None:
    extractor, distiller = PooledExtractor(parsers), ExtractiveDistiller(parsers)
    entry = ToDistil(entry_id=5, title="Bridge", text=SENTENCE * 3, language="en", content_hash="h")
    article, from_feed, (distilled,) = await asyncio.gather(
        extractor.extract(GOOD, ()),
        extractor.from_feed("<p>Own <script>x</script>text</p>", "https://example.org/"),
        distiller.distil([entry], "de", 4),
    )
    assert article.text.startswith(SENTENCE.strip())
    assert from_feed.html == "<p>Own text</p>"
    assert (distilled.entry_id, distilled.summary) == (5, SENTENCE.strip())
    assert (distiller.name, distilled.model, distilled.prompt_version) == ("extractive", "extractive", "1")


async def test_what_a_rule_or_a_page_lacks_is_told_and_the_process_goes_on(parsers: ParserPool) -> None:
    extractor = PooledExtractor(parsers)
    with pytest.raises(InvalidInputError, match="CSS selector"):
        await extractor.extract(GOOD, [ExtractionRule("css", "p[", keep=True)])
    with pytest.raises(PermanentError, match="nothing to read"):
        await extractor.extract(page("<html><body><script>only()</script></body></html>"), ())
    assert (await extractor.extract(GOOD, ())).text


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 1_000_000,
        "<table><tr><td>" * 330_000,
        "<b><i>" * 800_000,
        "<p>" + "<a href='x'>y</a>" * 5_000,
        "<!--" * 1_000_000,
        "&" * 500_000,
        "<svg><style><![CDATA[" * 50_000,
        "\ud800\x00<p>" * 10_000,
    ],
    ids=["nested", "tables", "formatting", "links", "comments", "entities", "foreign", "not text"],
)
async def test_a_hostile_page_gives_its_article_or_a_reason(parsers: ParserPool, html: str) -> None:
    extractor = PooledExtractor(parsers)
    hostile = page(f"<html><body><article><p>{SENTENCE * 4}</p>{html}")
    with suppress(PermanentError):
        assert SENTENCE.strip() in (await extractor.extract(hostile, ())).text
    assert (await extractor.extract(GOOD, ())).text


async def test_a_page_of_endless_text_is_not_kept(parsers: ParserPool) -> None:
    endless = page(f"<html><body><article>{f'<p>{SENTENCE}</p>' * 25_000}")
    with pytest.raises(PermanentError, match="longer than"):
        await PooledExtractor(parsers).extract(endless, [ExtractionRule("css", "article", keep=True)])


async def test_a_page_that_would_take_for_ever_ends_with_its_process_and_not_with_the_worker() -> None:
    own = ParserPool(1, seconds=2)
    try:
        extractor = PooledExtractor(own)
        # Every element is counted for every element, for every element.
        endless = ExtractionRule("xpath", "//*[count(//*[count(//*[. = 1]) > 0]) > 0]", keep=True)
        beats = 0
        asking = asyncio.create_task(extractor.extract(page("<p>x</p>" * 5_000), [endless]))
        while not asking.done():
            await asyncio.sleep(0.05)
            beats += 1
        with pytest.raises(TransientError, match="took too long"):
            await asking
        # The worker went on with other things meanwhile.
        assert beats > 10
    finally:
        await own.close()


async def test_a_process_that_dies_is_replaced() -> None:
    own = ParserPool(1)
    try:
        extractor = PooledExtractor(own)
        await extractor.extract(GOOD, ())
        (child,) = own.process_ids
        os.kill(child, signal.SIGSTOP)
        asking = asyncio.create_task(extractor.extract(GOOD, ()))
        while own.is_idle:
            await asyncio.sleep(0)
        os.kill(child, signal.SIGKILL)
        with pytest.raises(TransientError):
            await asking
        assert (await extractor.extract(GOOD, ())).text
    finally:
        await own.close()
