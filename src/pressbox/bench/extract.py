"""`pressbox bench extract`: how much of the right text is found on pages, and how fast, beside a peer.

On real pages if they are in `../shared/data`, on those of the demo's newspapers otherwise.
"""

import asyncio
import importlib
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean

import psutil

from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.bench.summaries import PEER as SUMMARY_PEER
from pressbox.bench.summaries import SummaryScores, describe_page, score_summaries, time_summaries
from pressbox.core.errors import ConfigurationError, PermanentError
from pressbox.curator.articles.domain import FetchedArticle, Page
from pressbox.curator.articles.extraction import PooledExtractor, extract_article
from pressbox.curator.articles.html_tree import html_to_text
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.demo.news.library import articles
from pressbox.demo.simulators.news_pages import article_page

REAL_PAGES = Path("../shared/data/articles")
PEER = "readability-lxml"
MODES = ("default", "fast", "precision", "recall")
# What the extractor alone reached on another set of pages.
F1_AIM = 0.96
ROUNDS = 3
PROCESSES = 2
_URL = "https://example.org/article"
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


@dataclass(frozen=True)
class Sample:
    """A page and the text that should be extracted from it."""

    name: str
    html: str
    expected: str


@dataclass(frozen=True)
class ExtractionTimes:
    f1: float
    pages_per_second: float
    failed: int = 0


def run_extract(say: Say, data: Path | None = None, rounds: int = ROUNDS) -> Report:
    machine = describe_machine()
    if data is None and REAL_PAGES.is_dir():
        data = REAL_PAGES
    samples, kind = (load_samples(data), "pages") if data else (demo_samples(), "pages of the demo")
    say(f"{len(samples)} {kind}, our extractor")
    ours = measure(samples, extract_ours, rounds)
    say("trafilatura alone, in each of its modes")
    alone = {name: measure(samples, partial(extract_alone, name), rounds) for name in MODES}
    fast = alone["fast"].pages_per_second
    peer = _find_peer()
    say(PEER if peer else f"{PEER} is not installed")
    other = measure(samples, peer, rounds) if peer else None
    best = max(alone, key=lambda mode: alone[mode].f1)
    peers = {**alone, PEER: other} if other else alone
    say("Summaries")
    per_second, empty = time_summaries([sample.expected for sample in samples])
    described = [found for sample in samples if (found := describe_page(sample.html, sample.expected))]
    summaries = _figure_of_summaries(score_summaries(described)) if described else ()
    say("In the worker's processes")
    together, memory = asyncio.run(_measure_parser_pool(samples, rounds))
    figures = (
        Figure(
            name="F1 of words",
            value=ours.f1,
            unit="",
            better=Better.HIGHER,
            peer=alone[best].f1,
            peer_name=f"trafilatura, {best}",
            aim=F1_AIM,
            note=f"{len(samples)} {kind}, {ours.failed} without an article; {_list_f1(peers)}",
        ),
        Figure(
            name="pages per second and core",
            value=ours.pages_per_second,
            unit="pages",
            better=Better.HIGHER,
            peer=other.pages_per_second if other else None,
            peer_name=PEER,
            note=f"CPU time, sanitised, with metadata and language; trafilatura alone, fast {fast:.0f}",
        ),
        Figure(
            name=f"pages per second, {PROCESSES} processes",
            value=together,
            unit="pages",
            better=Better.HIGHER,
            note="time on the clock, beside whatever else the machine does",
        ),
        Figure(name="memory of one process", value=memory, unit="MB"),
        Figure(
            name="summaries per second and core",
            value=per_second,
            unit="summaries",
            better=Better.HIGHER,
            note=f"extractive, CPU time; {empty} of {len(samples)} texts have no whole sentence",
        ),
        *summaries,
    )
    return Report(name="extract", measured_at=datetime.now(UTC), machine=machine, figures=figures)


def load_samples(data: Path) -> list[Sample]:
    """Load every folder with a `source.html` and an `expected.html`."""
    folders = sorted(found.parent for found in data.glob("*/source.html") if (found.parent / "expected.html").is_file())
    if not folders:
        raise ConfigurationError(
            f"{data} has no pages to measure. Give --data a folder whose folders hold source.html and expected.html."
        )
    return [
        Sample(
            folder.name,
            (folder / "source.html").read_text(encoding="utf-8", errors="replace"),
            html_to_text((folder / "expected.html").read_text(encoding="utf-8", errors="replace")),
        )
        for folder in folders
    ]


def demo_samples() -> list[Sample]:
    """The articles of the demo's newspapers, each with the page around it."""
    return [
        Sample(
            article.slug,
            article_page(article, "https://example.org", "2026-01-01T08:00:00+00:00", ()).decode(),
            html_to_text(article.html),
        )
        for article in articles()
    ]


def measure(samples: Sequence[Sample], extract: Callable[[str], str], rounds: int) -> ExtractionTimes:
    """The first round loads libraries and returns the texts; the others are timed."""
    texts = [extract(sample.html) for sample in samples]
    began = time.process_time()
    for _ in range(rounds):
        for sample in samples:
            extract(sample.html)
    seconds = time.process_time() - began
    scores = [f1(text, sample.expected) for text, sample in zip(texts, samples, strict=True)]
    return ExtractionTimes(fmean(scores), rounds * len(samples) / seconds, sum(not text for text in texts))


def f1(found: str, expected: str) -> float:
    """The F1 score of the words, with repetitions; without spaces each character is a word."""
    one, other = Counter(_WORD.findall(found.lower())), Counter(_WORD.findall(expected.lower()))
    common = sum((one & other).values())
    return 2 * common / (sum(one.values()) + sum(other.values())) if common else 0.0


def _extract_article(html: str) -> FetchedArticle | None:
    try:
        return extract_article(html, _URL, (), datetime.now(UTC))
    except PermanentError:
        return None


def extract_ours(html: str) -> str:
    article = _extract_article(html)
    return article.text if article else ""


def extract_alone(mode: str, html: str) -> str:
    from trafilatura import extract

    text = extract(
        html,
        url=_URL,
        include_comments=False,
        fast=mode == "fast",
        favor_precision=mode == "precision",
        favor_recall=mode == "recall",
    )
    return text or ""


def _list_f1(alone: Mapping[str, ExtractionTimes]) -> str:
    return ", ".join(f"{name} {times.f1:.3f}" for name, times in alone.items())


def _find_peer() -> Callable[[str], str] | None:
    try:
        readability = importlib.import_module("readability")
    except ImportError:
        return None
    return lambda html: html_to_text(readability.Document(html).summary())


def _figure_of_summaries(scores: SummaryScores) -> tuple[Figure, ...]:
    return (
        Figure(
            name="ROUGE-1 of summaries",
            value=scores.ours,
            unit="",
            better=Better.HIGHER,
            peer=scores.peer,
            peer_name=SUMMARY_PEER,
            note=f"against the publishers' descriptions, {scores.texts} pages; "
            f"the first sentences, which many descriptions repeat, {scores.first_sentences:.3f}",
        ),
    )


async def _measure_parser_pool(samples: Sequence[Sample], rounds: int) -> tuple[float, float]:
    parsers = ParserPool(PROCESSES)
    pages = PooledExtractor(parsers)

    async def extracted(sample: Sample) -> bool:
        try:
            await pages.extract(Page(_URL, sample.html, "text/html"), ())
        except PermanentError:
            return False
        return True

    try:
        # Both processes start.
        await asyncio.gather(*(extracted(sample) for sample in samples[:PROCESSES]))
        began = time.perf_counter()
        for _ in range(rounds):
            await asyncio.gather(*(extracted(sample) for sample in samples))
        seconds = time.perf_counter() - began
        memory = max(psutil.Process(process).memory_info().rss for process in parsers.process_ids) / 1e6
    finally:
        await parsers.close()
    return rounds * len(samples) / seconds, memory
