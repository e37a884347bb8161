"""The articles of the simulated newspapers, written for the demo, and any number of variations of them."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

_PARAGRAPH = re.compile(r"<p>.*?</p>", re.DOTALL)
_TAG = re.compile(r"<[^<>]+>")
_CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
# A number such as 2.418 or 1.4 ends no sentence.
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|。|$)", re.DOTALL)


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


@cache
def known_translations(language: str) -> Mapping[str, str]:
    """What the simulated translators know: titles, summaries, pieces and sentences of our own articles."""
    folder, ending = resources.files("pressbox.demo") / "news" / "translations", f".{language}.article"
    known: dict[str, str] = {}
    for file in sorted((one for one in folder.iterdir() if one.name.endswith(ending)), key=lambda one: one.name):
        fields, html = _parts(file.read_text(encoding="utf-8"))
        original = article(file.name.removesuffix(ending))
        known |= {original.title: fields["title"], original.summary: fields["summary"]}
        for ours, theirs in zip(_pieces(original.html), _pieces(html), strict=True):
            known[ours] = theirs
            sentences, translated = _sentences(ours), _sentences(theirs)
            if len(sentences) == len(translated):
                known |= dict(zip(sentences, translated, strict=True))
    return known


def _pieces(html: str) -> list[str]:
    """The texts between tags, in their order; of code there is nothing to translate."""
    return [piece.strip() for piece in _TAG.split(_CODE.sub("", html)) if piece.strip()]


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip()]


def _parts(text: str) -> tuple[dict[str, str], str]:
    head, _, html = text.partition("\n\n")
    return dict(line.split(": ", 1) for line in head.splitlines()), html.strip()


def _read(slug: str, text: str) -> Article:
    fields, html = _parts(text)
    return Article(slug=slug, html=html, **fields)
