"""Cleans a raw feed for storage: safe HTML, plain titles, dates however they are written, one guid per entry."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from pressbox.core.addresses import hide_addresses
from pressbox.curator.articles.sanitizer import sanitise
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

# Programs write 1970 for "never" and 2099 for "always on top"; neither is a date of publication.
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=2)

_CLOCK = (
    r"(?:\s*(?P<before>AM|PM|[ap]\.\s?m\.|上午|下午|午前|午後|오전|오후)?\s*"
    r"(?P<hour>\d{1,2})\s?[:.時时시h]\s?(?P<minute>\d{2})[分분]?(?:\s?[:.]?\s?(?P<second>\d{2})[秒초]?(?:[.,]\d+)?)?"
    r"\s*(?P<after>AM|PM|[ap]\.\s?m\.)?)?\s*(?P<zone>.*)"
)
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-?(?P<month>\d{2})(?:-?(?P<day>\d{2}))?)?"
    r"(?:[T ]+(?P<hour>\d{2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,]\d+)?)?)?"
    r"\s*(?P<after>AM|PM)?\s*(?P<zone>.*)",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})\s?[-/.年년]\s?(?P<month>\d{1,2})\s?[-/.月월]\s?(?P<day>\d{1,2})[日일.]?"
    rf"(?:\s?\(?[日月火水木金土一二三四五六월화수목금토]\)|,)?[T,]?{_CLOCK}",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    rf"(?:[^\d,]{{2,20}},?\s+)?(?P<first>\d{{1,2}})(?P<mark>[-/.])\s?(?P<other>\d{{1,2}})(?P=mark)\s?(?P<year>\d{{4}}|\d{{2}}),?{_CLOCK}",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"(?:[^\d]{2,30}?[,.]?\s+|[^\d\s]{1,3},\s*)?(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º)?[\s-]*(?:(?:de|of|da)[\s-]+|d')?"
    r"(?P<month>[^\W\d][^\d\s,./-]*|\d{1,2}\s?[月월])\.?,?[\s-]+(?:de\s+|del\s+)?(?P<year>\d{4}|\d{2,3}),?"
    rf"(?:T|\s+(?:um|at|à|a las|às|kl\.?|о|в)\s+)?{_CLOCK}",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?:[^\W\d]+\.?,?\s+)?(?P<month>[^\W\d][^\d\s,.]*)\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?"
    r"(?:\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?P<zone>[^\d]*))?\s+(?P<year>\d{4})"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_TIME_AT_THE_END = re.compile(
    r",?\s*(?:at\s+|-\s+)?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?\s*(?P<after>AM|PM|[ap]\.\s?m\.)?\s*(?P<zone>.*)",
    re.IGNORECASE,
)
# As RSS wants it. The other patterns read it too, after several attempts.
_USUAL = re.compile(
    r"(?:[A-Z][a-z]{2}, )?(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2}) (?P<year>\d{4})"
    r" (?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2}) (?P<zone>[+-]\d{4}|[A-Z]{1,4})",
    re.ASCII,
)
_SECONDS = re.compile(r"\d{10}(?:\d{3})?")
_HALF_OF_DAY = {"a": 0, "p": 12, "上": 0, "下": 12, "午前": 0, "午後": 12, "오전": 0, "오후": 12}
# In Thailand the year 2024 is 2567.
_BUDDHIST_YEARS = range(2500, 2700)
_OFFSET = re.compile(r"(?:GMT|UTC|UT)?\s*(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?")
_ZONES = {
    **dict.fromkeys(("", "Z", "GMT", "UT", "UTC", "WET"), 0.0),
    **{"EST": -5.0, "EDT": -4.0, "CST": -6.0, "CDT": -5.0, "MST": -7.0, "MDT": -6.0, "PST": -8.0, "PDT": -7.0},
    **{"AKST": -9.0, "AKDT": -8.0, "HST": -10.0, "AST": -4.0, "ADT": -3.0, "NST": -3.5, "BRT": -3.0, "ART": -3.0},
    **{"CET": 1.0, "CEST": 2.0, "MEZ": 1.0, "MESZ": 2.0, "MET": 1.0, "MEST": 2.0, "BST": 1.0, "IST": 5.5, "WEST": 1.0},
    **{"EET": 2.0, "EEST": 3.0, "MSK": 3.0, "JST": 9.0, "KST": 9.0, "SGT": 8.0, "HKT": 8.0, "AEST": 10.0},
    **{"AEDT": 11.0, "ACST": 9.5, "AWST": 8.0, "NZST": 12.0, "NZDT": 13.0, "SAST": 2.0},
}
_FIGURE = re.compile(r"\d")
# By their first letters, for abbreviations that no dictionary has.
_BEGINNINGS = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6},
    **{"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12},
    **{"mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12},
    **{"fév": 2, "fev": 2, "avr": 4, "aoû": 8, "aou": 8, "déc": 12},
    **{"ene": 1, "abr": 4, "ago": 8, "set": 9, "out": 10, "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "ott": 10},
    **{"maj": 5, "mei": 5, "mrt": 3, "des": 12},
}
# Where a name means two months (listopad is November in Poland and October in Croatia), the first language counts.
_LANGUAGES = (
    *("en", "de", "fr", "es", "pt", "it", "nl", "pl", "cs", "ru", "uk", "tr", "sv", "da", "nb", "fi", "hu", "ro", "el"),
    *("bg", "sr", "sk", "sl", "hr", "lt", "lv", "et", "ca", "eu", "gl", "id", "ms", "vi", "ar", "he", "fa", "hi", "bn"),
    *("th", "ja", "zh", "ko", "is", "be", "mk", "az", "ka", "hy", "ta", "te", "mr", "ur", "sw"),
)


@lru_cache
def _month_names() -> dict[str, int]:
    # Imported here: few feeds name months in another language than English.
    from babel import Locale

    names: dict[str, int] = {}
    for language in _LANGUAGES:
        months = Locale(language).months
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[context][width].items():
                    names.setdefault(name.lower().strip("."), number)
    return names


def parse_date(text: str) -> datetime | None:
    """Return an aware time in UTC, or None. A time without a zone is taken as UTC."""
    # No date is longer, and the patterns stay fast.
    cleaned = " ".join(text[:100].split())
    if _SECONDS.fullmatch(cleaned) and cleaned.isascii():
        return datetime.fromtimestamp(int(cleaned[:10]), UTC)
    for pattern in (_USUAL, _ISO, _YEAR_FIRST, _NUMBERS, _WORDS, _MONTH_FIRST):
        found = pattern.fullmatch(cleaned)
        date = _build_date(found.groupdict()) if found is not None else None
        if date is not None:
            return date
    return None


def is_believable(date: datetime, now: datetime) -> bool:
    return EARLIEST <= date <= now + AHEAD


def _build_date(parts: dict[str, str | None]) -> datetime | None:
    late = _TIME_AT_THE_END.fullmatch(parts.get("rest") or "")
    if late is not None:
        parts = parts | late.groupdict() | {"rest": ""}
    if "first" in parts:
        parts = parts | _order_numbers(parts)
    month = _month(parts["month"] or "1")
    zone = _zone((parts.get("zone") or parts.get("rest") or "").strip())
    hour = _hour(int(parts["hour"] or 0), parts.get("before") or parts.get("after") or "")
    if month is None or zone is None or (hour == 24 and int(parts["minute"] or 0)):
        return None
    try:
        # 24:00 is the beginning of the next day.
        day = datetime(_year(parts["year"] or ""), month, int(parts["day"] or 1), tzinfo=timezone(zone))
        minutes, seconds = int(parts["minute"] or 0), min(int(parts["second"] or 0), 59)
        if hour > 24 or minutes > 59:
            return None
        return (day + timedelta(hours=hour, minutes=minutes, seconds=seconds)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _order_numbers(parts: dict[str, str | None]) -> dict[str, str | None]:
    """1.5.2024 begins with the day everywhere; of 1/5/2024 only America is sure, unless the first is no month."""
    american = parts["mark"] != "." and int(parts["first"] or 0) <= 12
    month, day = (parts["first"], parts["other"]) if american else (parts["other"], parts["first"])
    return {"month": month, "day": day}


def _hour(hour: int, half: str) -> int:
    found = next((add for start, add in _HALF_OF_DAY.items() if half.lower().startswith(start)), None)
    return hour if found is None or hour > 12 else hour % 12 + found


def _year(text: str) -> int:
    year = int(text)
    if year in _BUDDHIST_YEARS:
        return year - 543
    if len(text) > 2:
        return year
    return year + (1900 if year >= 70 else 2000)


def _month(text: str) -> int | None:
    number = text.rstrip("月월 ")
    if number.isdigit():
        return int(number)
    name = text.lower().strip(".")
    return _BEGINNINGS.get(name) or _month_names().get(name) or _BEGINNINGS.get(name[:3])


def _zone(text: str) -> timedelta | None:
    offset = _OFFSET.match(text)
    if offset is not None:
        size = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        if size >= timedelta(hours=24) or _FIGURE.search(text, offset.end()):
            return None
        return -size if offset["sign"] == "-" else size
    # A name in brackets repeats the offset. An unknown name is no reason to lose the date, but more figures are.
    name = text.split(" ")[0].strip("()[].,").upper()
    return timedelta(hours=_ZONES.get(name, 0.0)) if len(text) <= 40 and not _FIGURE.search(text) else None


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
