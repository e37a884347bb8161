"""The parser pool with real processes and hostile pages."""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import replace

import pytest

from pressbox.core.errors import InvalidInputError, PermanentError, TransientError
from pressbox.curator.articles import extraction
from pressbox.curator.articles.domain import Page
from pressbox.curator.articles.extraction import PooledExtractor
from pressbox.curator.distil.extractive import ExtractiveDistiller
from pressbox.curator.feeds.parser import FeedParser, NotAFeedError
from pressbox.curator.library.domain import ExtractionRule, ToDistil
from pressbox.curator.library.parser_pool import LIMITS, ParserPool
from tests.fakes.child_functions import parse_by_memory, parse_for_ever

SENTENCE = "The new bridge over the river was opened on Monday by the mayor of the town. "
GOOD = Page("https://example.org/a", f"<html><body><article><p>{SENTENCE * 5}</p></article></body></html>", "text/html")


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


# Every element is counted for every element, for every element.
ENDLESS = ExtractionRule("xpath", "//*[count(//*[count(//*[. = 1]) > 0]) > 0]", keep=True)
HEAVY = page("<div><p>x</p></div>" * 5_000)


@pytest.fixture
def short_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "RULES_SECONDS", 0)


async def test_rules_that_would_take_for_ever_end_with_their_process_and_not_with_the_worker(
    short_budget: None,
) -> None:
    own = ParserPool(1)
    try:
        extractor = PooledExtractor(own)
        beats = 0
        asking = asyncio.create_task(extractor.extract(HEAVY, [ENDLESS]))
        while not asking.done():
            await asyncio.sleep(0.05)
            beats += 1
        with pytest.raises(PermanentError, match="rules take too long"):
            await asking
        # The worker went on with other things meanwhile.
        assert beats > 10
        assert own.process_ids == ()
        # The next article of the feed does not try them again.
        with pytest.raises(PermanentError, match="rules take too long"):
            await extractor.extract(GOOD, [ENDLESS])
        assert own.process_ids == ()
        assert (await extractor.extract(GOOD, ())).text
    finally:
        await own.close()


async def test_heavy_rules_of_one_person_do_not_delay_the_preview_of_another(short_budget: None) -> None:
    own = ParserPool(1)
    extractor = PooledExtractor(own)
    ended: list[str] = []

    async def preview(owner: str, shown: Page, rule: ExtractionRule) -> None:
        with suppress(PermanentError):
            await extractor.extract(shown, [rule], owner)
        ended.append(owner)

    greedy = [asyncio.create_task(preview("greedy", HEAVY, ENDLESS)) for _ in range(4)]
    while not own.process_ids:
        await asyncio.sleep(0)
    await preview("honest", GOOD, ExtractionRule("css", "article", keep=True))
    # One of them may have had the only place already.
    assert ended.count("greedy") <= 1
    for task in greedy:
        task.cancel()
    await asyncio.gather(*greedy, return_exceptions=True)
    await own.close()


async def test_a_rule_that_finds_everything_is_told_so(parsers: ParserPool) -> None:
    crowded = page("<p>x</p>" * 20_000)
    with pytest.raises(InvalidInputError, match=r"finds 20,00. parts of the page"):
        await PooledExtractor(parsers).extract(crowded, [ExtractionRule("xpath", "//p", keep=False)], "somebody")


def evil_feed(size: int) -> bytes:
    """Formatting that is never closed: browsers open all of it again for every block that follows."""
    opened = "".join(f"<b id=x{number}>" for number in range(200))
    body = f"<p>{opened}{'<div>x</div>' * ((size - 2_500) // 12)}"
    item = f"<item><guid>1</guid><description><![CDATA[{body}]]></description></item>"
    return f"<rss><channel><title>E</title>{item}</channel></rss>".encode()


@pytest.mark.parametrize("size", [26_000, 291_000])
async def test_a_small_feed_does_not_become_a_large_one(parsers: ParserPool, size: int) -> None:
    parsed = await FeedParser(parsers).parse(evil_feed(size), "", "https://example.org/feed")
    assert len(parsed.entries[0].content) < 2 * size


async def test_a_feed_that_takes_too_much_memory_or_time_fails_alone() -> None:
    own = ParserPool(1, limits=replace(LIMITS, processor_seconds=1))
    parser = FeedParser(own)
    try:
        for poison in (parse_by_memory, parse_for_ever):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("pressbox.curator.feeds.parser.parse_feed", poison)
                with pytest.raises(NotAFeedError, match="too much"):
                    await parser.parse(b"", "", "https://example.org/feed")
        assert (await parser.parse(evil_feed(3_000), "", "https://example.org/feed")).title == "E"
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
