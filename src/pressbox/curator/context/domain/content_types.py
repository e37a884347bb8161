"""What kind of text an article is and which field it belongs to, where its address or its title says so. Pure.

The same words are what a model may answer, so pages know all of them.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import urlsplit

from pressbox.curator.library.domain.urls import host_of


class ContentType(StrEnum):
    ARTICLE = "article"
    GUIDE = "guide"
    REVIEW = "review"
    INTERVIEW = "interview"
    OPINION = "opinion"
    RELEASE_NOTES = "release notes"
    PAPER = "paper"
    REFERENCE = "reference"
    NOTE = "short note"
    OTHER = "other"


class Domain(StrEnum):
    TECHNOLOGY = "technology"
    SCIENCE = "science"
    HEALTH = "health"
    POLITICS = "politics"
    BUSINESS = "business"
    SPORT = "sport"
    CULTURE = "culture"
    ENVIRONMENT = "environment"
    SOCIETY = "society"
    TRAVEL = "travel"
    OTHER = "other"


_SECTIONS: Mapping[Domain, str] = {
    Domain.TECHNOLOGY: "technology tech technik digital netzwelt computer software developer programming informatique",
    Domain.SCIENCE: "science wissen wissenschaft sciences ciencia ciencias space physics",
    Domain.HEALTH: "health gesundheit sante salud saude medizin medicine coronavirus",
    Domain.POLITICS: "politics politik politique politica elections wahlen us-politics inland ausland",
    Domain.BUSINESS: "business wirtschaft economy economie economia finance finanzen money markets mercado",
    Domain.SPORT: "sport sports fussball football esporte deportes",
    Domain.CULTURE: "culture kultur arts music film books feuilleton cultura musique livres",
    Domain.ENVIRONMENT: "environment umwelt climate klima environnement medio-ambiente",
    Domain.SOCIETY: "society gesellschaft panorama societe sociedad education",
    Domain.TRAVEL: "travel reise reisen voyage viajes",
}
_BY_SECTION = {word: domain for domain, words in _SECTIONS.items() for word in words.split()}
_BY_TITLE: tuple[tuple[ContentType, re.Pattern[str]], ...] = (
    (ContentType.INTERVIEW, re.compile(r"interview\b|im gespräch\b|entretien\b|entrevista\b|q&a\b", re.IGNORECASE)),
    (
        ContentType.OPINION,
        re.compile(r"(?:opinion|kommentar|editorial|meinung|column|tribune)\b ?[:|–-]", re.IGNORECASE),
    ),
    (ContentType.REVIEW, re.compile(r"review\b|im test\b|testbericht\b|rezension\b|critique ?:", re.IGNORECASE)),
    (
        ContentType.GUIDE,
        re.compile(r"how to\b|tutorial\b|guide\b|anleitung\b|so geht\b|comment faire\b|cómo\b", re.IGNORECASE),
    ),
    (
        ContentType.RELEASE_NOTES,
        re.compile(r"release notes\b|changelog\b|\breleased?\b.{0,40}\d\.\d|\d\.\d.{0,40}\breleased\b", re.IGNORECASE),
    ),
)
_BY_PATH: Mapping[str, ContentType] = {
    "opinion": ContentType.OPINION,
    "opinions": ContentType.OPINION,
    "meinung": ContentType.OPINION,
    "commentisfree": ContentType.OPINION,
    "review": ContentType.REVIEW,
    "reviews": ContentType.REVIEW,
    "interview": ContentType.INTERVIEW,
    "tutorial": ContentType.GUIDE,
    "tutorials": ContentType.GUIDE,
    "how-to": ContentType.GUIDE,
    "releases": ContentType.RELEASE_NOTES,
    "changelog": ContentType.RELEASE_NOTES,
    "rfc": ContentType.REFERENCE,
    "wiki": ContentType.REFERENCE,
    "docs": ContentType.REFERENCE,
    "abs": ContentType.PAPER,
}
_LONGEST_NOTE = 600
_LONGEST_TITLE = 300


def detect_domain(url: str) -> Domain | None:
    """By the section of the site in its address."""
    return next((_BY_SECTION[part] for part in _parts(url) if part in _BY_SECTION), None)


def detect_content_type(title: str, url: str, text: str) -> ContentType:
    host = host_of(url)
    if host.endswith(("arxiv.org", "doi.org")):
        return ContentType.PAPER
    for part in _parts(url):
        if part in _BY_PATH and (part != "abs" or "arxiv" in host):
            return _BY_PATH[part]
    for kind, pattern in _BY_TITLE:
        if pattern.search(title[:_LONGEST_TITLE]):
            return kind
    return ContentType.NOTE if len(text) < _LONGEST_NOTE else ContentType.ARTICLE


def _parts(url: str) -> list[str]:
    """Of an address, what stands between its slashes, and the first label of its host: sport.example.org."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return []
    return [*host_of(url).split(".")[:1], *(part for part in path.lower().split("/") if part)]
