"""The articles of the simulated newspapers, written for the demo, and any number of variations of them."""

import hashlib
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

_PARAGRAPH = re.compile(r"<p>.*?</p>", re.DOTALL)


@dataclass(frozen=True)
class Article:
    """`html` is the article itself, without the page around it."""

    slug: str
    title: str
    author: str
    language: str
    section: str
    summary: str
    html: str


@cache
def articles() -> tuple[Article, ...]:
    """All articles, in a fixed order."""
    folder = resources.files("pressbox.demo") / "news" / "articles"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".article")), key=lambda file: file.name)
    return tuple(_read(file.name.removesuffix(".article"), file.read_text(encoding="utf-8")) for file in files)


def article(slug: str) -> Article:
    return next(one for one in articles() if one.slug == slug)


def variation(number: int, section: str) -> Article:
    """Make a new article: the paragraphs of another in a different order, with one sentence that is unique."""
    known = [one for one in articles() if one.section == section]
    base = known[number % len(known)]
    paragraphs = _PARAGRAPH.findall(base.html)
    turned = paragraphs[number % len(paragraphs) :] + paragraphs[: number % len(paragraphs)]
    mark = hashlib.sha256(f"{section} {number}".encode()).hexdigest()[:12]
    own = f"<p>This report has the number {number} and the mark {mark} in the archive of the editors.</p>"
    return replace(
        base,
        slug=f"{base.slug}-{number}",
        title=f"{base.title} ({number})",
        html="\n".join((turned[0], own, *turned[1:])),
    )


def _read(slug: str, text: str) -> Article:
    head, _, html = text.partition("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return Article(slug=slug, html=html.strip(), **fields)
