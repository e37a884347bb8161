"""Cleans a raw feed for storage: safe HTML, plain titles, dates, one guid per entry."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from pressbox.core.addresses import hide_addresses
from pressbox.curator.articles.sanitizer import sanitise
from pressbox.curator.feeds.dates import is_believable, parse_date
from pressbox.curator.feeds.domain import (
    EntryIdentity,
    FeedEntry,
    ParsedFeed,
    RawEntry,
    RawFeed,
    RawFile,
    RawText,
    identify_entries,
)
from pressbox.curator.library.domain import Enclosure
from pressbox.curator.library.urls import absolute_url, site_name
from pressbox.curator.text.plain_text import to_plain_text

Identified = tuple[EntryIdentity, RawEntry]

TITLE_LENGTH = 500
NAME_LENGTH = 300
MOST_FILES = 20
MOST_TEXT = 20_000_000
LONGEST_PLAIN_TEXT = 500_000

_ANY_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# RSS does not say whether a title is markup. Only formatting tags are taken for it; other words in brackets stay.
_FORMATTING_TAG = re.compile(
    r"</?(?:a|abbr|b|big|br|cite|code|del|em|font|i|img|ins|mark|p|q|s|small|span|strike|strong|sub|sup|tt|u|wbr)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_UNREADABLE = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>|<!--[^<>]*>", re.IGNORECASE | re.DOTALL)
# Control characters that nobody means: their numbers are those of quotation marks and dashes in Windows-1252.
_MEANT = {chr(number): bytes([number]).decode("cp1252", errors="ignore") for number in range(0x80, 0xA0)}
_PICTURE = re.compile(r"<img\b[^<>]*?\bsrc=\"(https?://[^\"]+)\"[^<>]*>", re.IGNORECASE)
_TINY = re.compile(r"\b(?:width|height)=\"[012]\"", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*")


def clean_feed(raw: RawFeed, url: str, now: datetime, limit: int | None) -> ParsedFeed:
    """Keep at most `limit` entries: the newest when all have a date, the first ones otherwise."""
    counts: Counter[str] = Counter()
    unique = _drop_duplicates(raw.entries, counts)
    chosen = _keep_newest(unique, limit)
    if len(chosen) < len(unique):
        counts[f"Older entries left out, because at most {limit} are taken from one crawl"] = len(unique) - len(chosen)
    entries = tuple(
        _limit_texts((_clean_entry(identity, entry, url, now, counts) for identity, entry in chosen), counts)
    )
    return ParsedFeed(
        title=hide_addresses(clean_title(raw.title)),
        site_url=raw.site_url,
        description=clean_title(raw.description),
        language=_clean_language(raw.language),
        icon_url=raw.icon_url,
        hub_interval=raw.interval,
        entries=entries,
        problems=(*raw.problems, *(f"{what}: {count}." for what, count in counts.items())),
    )


def _limit_texts(entries: Iterable[FeedEntry], counts: Counter[str]) -> Iterator[FeedEntry]:
    """Keep the texts of as many entries as one answer of a parser process carries."""
    total = 0
    for entry in entries:
        total += len(entry.content) + len(entry.summary)
        if total > MOST_TEXT:
            counts["Texts left out, because the feed has too much of them"] += 1
        yield entry if total <= MOST_TEXT else replace(entry, content="", summary="")


def clean_title(text: RawText, limit: int = TITLE_LENGTH) -> str:
    value = text.value
    if text.xhtml:
        value = to_plain_text(value)
    elif text.html:
        value = _UNREADABLE.sub("", value)
        value = _FORMATTING_TAG.sub(" " if "<br" in value.lower() else "", value)
        # Feeds escape titles once, twice or not at all; a title that really shows `&amp;` is rarer than that mistake.
        value = html.unescape(html.unescape(value))
    line = " ".join(_remove_controls(value).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _drop_duplicates(entries: Sequence[RawEntry], counts: Counter[str]) -> list[Identified]:
    """Keep the first entry of each guid: feeds put the newest version on top."""
    found: dict[str, Identified] = {}
    for identity, entry in zip(identify_entries(entries), entries, strict=True):
        if identity.guid in found:
            counts["Entries left out, because they have the guid of another one"] += 1
        else:
            found[identity.guid] = (identity, entry)
    return list(found.values())


def _keep_newest(entries: list[Identified], limit: int | None) -> list[Identified]:
    if limit is None or len(entries) <= limit:
        return entries
    dates = [parse_date(entry.published or entry.updated) for _, entry in entries]
    dated = [date for date in dates if date is not None]
    if len(dated) < len(dates):
        return entries[:limit]
    oldest = sorted(dated, reverse=True)[limit - 1]
    kept = [pair for pair, date in zip(entries, dated, strict=True) if date >= oldest]
    return kept[:limit]


def _clean_entry(
    identity: EntryIdentity, entry: RawEntry, feed_url: str, now: datetime, counts: Counter[str]
) -> FeedEntry:
    base = entry.url or feed_url
    content = clean_html(entry.content, base)
    summary = clean_html(entry.summary, base)
    updated = _clean_date(entry.updated, now, counts)
    published = _clean_date(entry.published, now, counts) or updated
    if not entry.url and not entry.files:
        counts["Entries without a link"] += 1
    return FeedEntry(
        guid=identity.guid,
        url=entry.url,
        title=clean_title(entry.title) or _first_words(content or summary) or site_name(entry.url),
        author=clean_title(RawText(entry.author), NAME_LENGTH),
        published_at=published,
        updated_at=updated,
        content=content,
        summary=summary,
        language=_clean_language(entry.language),
        thumbnail_url=entry.thumbnail_url or _first_picture(content or summary),
        enclosures=_enclosures(entry.files),
        narrower_guids=identity.narrower,
        wider_guids=identity.wider,
    )


def clean_html(text: RawText, base: str) -> str:
    if not text.value.strip():
        return ""
    if text.html:
        return sanitise(_remove_controls(text.value), absolute_url(text.base, base) or base).strip()
    paragraphs = re.split(r"\n\s*\n", _remove_controls(text.value[:LONGEST_PLAIN_TEXT]).strip())
    return "\n".join(f"<p>{html.escape(part.strip()).replace(chr(10), '<br>')}</p>" for part in paragraphs)


def _remove_controls(text: str) -> str:
    return _CONTROL.sub(lambda found: _MEANT.get(found.group(), ""), text)


def _clean_date(text: str, now: datetime, counts: Counter[str]) -> datetime | None:
    if not text:
        return None
    date = parse_date(text)
    if date is None:
        counts["Dates that could not be read; such entries count as undated"] += 1
    elif not is_believable(date, now):
        counts["Dates before 1990 or far in the future; such entries count as undated"] += 1
        return None
    return date


def _clean_language(text: str) -> str:
    """Return a BCP 47 tag in small letters, or nothing if it is not a language."""
    language = text.strip().lower().replace("_", "-")
    return language if len(language) <= 35 and _LANGUAGE.fullmatch(language) else ""


def _first_words(content: str) -> str:
    """The beginning of a note, which stands in for a missing title."""
    text = " ".join(html.unescape(_ANY_TAG.sub(" ", content)).split())
    return text if len(text) <= 80 else text[:80].rsplit(" ", 1)[0] + "…"


def _first_picture(content: str) -> str:
    pictures = (found for found in _PICTURE.finditer(content) if not _TINY.search(found.group()))
    return next((html.unescape(found.group(1)) for found in pictures), "")


def _enclosures(files: Sequence[RawFile]) -> tuple[Enclosure, ...]:
    unique = {file.url: file for file in reversed(files) if file.url}
    kept = [unique[url] for url in dict.fromkeys(file.url for file in files if file.url)]
    return tuple(Enclosure(file.url, file.type[:100], _clean_size(file.length)) for file in kept[:MOST_FILES])


def _clean_size(text: str) -> int | None:
    size = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0
    return size or None
