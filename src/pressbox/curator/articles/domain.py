"""What a page is and what is made of it, who reads and extracts, and which pages only stand before an article. Pure.

Articles speak of cookies, captchas and subscriptions too. So only a short text that consists mostly of such words is a
wall, or a page whose title or address can be nothing else.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from pressbox.curator.library.domain import ExtractionRule
from pressbox.curator.text.words import split_pairs, split_words


@dataclass(frozen=True)
class Page:
    url: str
    html: str
    content_type: str


@dataclass(frozen=True)
class FetchedArticle:
    """What was made of a page: sanitised HTML, and its text for models and search."""

    html: str
    text: str
    title: str = ""
    author: str = ""
    language: str = ""
    thumbnail_url: str = ""
    published_at: datetime | None = None
    final_url: str = ""
    # True when the rules or the extractor found nothing and the whole page is kept instead.
    whole_page: bool = False


class PageReader(Protocol):
    """Reads one page within the limits. The kind of error says whether to try again."""

    async def read(self, url: str, limit: int) -> Page: ...


class Extractor(Protocol):
    """Finds the article on a page, off the event loop."""

    async def extract(self, page: Page, rules: Sequence[ExtractionRule], owner: str = "") -> FetchedArticle:
        """The owner is the person who waits for it, and has a turn of his own; without one it is work for all."""
        ...

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle: ...


WALL = "The site shows a notice instead of the article: it wants scripts, a consent, a sign-in or proof of a person."
# A page of terms and buttons may be this long; what is longer is an article.
LONGEST_WALL = 2_500
# What is left of an article beside a notice: a paragraph.
_LEAST_REST = 240
_TITLES = re.compile(
    r"""\s*+(?: just\ a\ moment | attention\ required!? | access\ (?:to\ this\ page\ has\ been\ )?denied
    | you\ are\ being\ redirected
    | are\ you\ (?:a\ robot|human) | (?:please\ )?verify(?:ing)?\ (?:that\ )?you\ are\ (?:a\ )?human
    | before\ you\ continue | bevor\ (?:sie|du)\ (?:fortfahren|weitermachst) | one\ more\ step
    | security\ check(?:point)? | robot\ check
    | pardon\ our\ interruption | ddos-guard | checking\ your\ browser | human\ verification | blocked
    )\s*+[.…!?]*+\s*+""",
    re.IGNORECASE | re.VERBOSE,
)
# Articles begin so too: these count with a sign in the text.
_LIKELY_TITLES = re.compile(
    r"""\s*(?: just\ a\ moment | attention\ required | access\ (?:to\ this\ page\ has\ been\ )?denied
    | are\ you\ (?:a\ robot|human) | (?:please\ )?verify(?:ing)?\ (?:that\ )?you\ are\ (?:a\ )?human
    | before\ you\ continue | bevor\ (?:sie|du) | one\ more\ step | security\ check | robot\ check
    | pardon\ our\ interruption | ddos-guard | checking\ your\ browser | human\ verification | blocked
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = re.compile(
    r"""(?:
      (?:enable|activate|turn\ on|requires?|needs?|without|disabled)\ (?:java\ ?script|cookies)
    | (?:java\ ?script|cookies)\ (?:and\ cookies\ )?(?:is|are|(?:must|to|seems?\ to)\ be)
      \ (?:\w+\ )?(?:disabled|enabled|required|needed|off)
    | (?:java\ ?script|cookies)\b.{0,40}\b(?:aktivieren|einschalten|erforderlich|deaktiviert|benötigt)
    | (?:aktiviere|aktivieren|activez|activer|active|habilite|activa)\b.{0,30}\b(?:java\ ?script|cookies)
    | java\ ?script\ (?:を有効|が無効|已禁用)
    | checking\ your\ browser | this\ process\ is\ automatic | please\ allow\ up\ to\ \d+\ seconds
    | complete\ the\ (?:captcha|security\ check) | completing\ the\ captcha
    | (?:verify|prove|confirm|proves)\ (?:that\ )?you\ are\ (?:a\ |not\ a\ )?(?:human|robot|person)
    | not\ a\ robot | unusual\ (?:traffic|activity) | automated\ (?:requests|queries)
    | malware\ on\ your\ network | anti-virus\ scan
    | misconfigured\ or\ infected\ devices | (?:has\ )?banned\ your\ ip
    | (?:you(?:'|’)?ve|you\ have)\ been\ blocked | blocked\ by\ network\ security
    | access\ (?:is\ |has\ been\ )?denied | (?:ray|reference)\ (?:id|\#) | security\ service\ to\ protect
    | performance\ (?:&|and)\ security\ by
    | before\ you\ continue | (?:we|and\ our|its|our)\ (?:and\ our\ )?(?:\d+\ )?partners\b
    | (?:accept|reject|agree\ to|manage|refuse)\ (?:all\b|cookies|the\ use) | use\ (?:of\ )?cookies
    | (?:we|uns?er?e?)\ .{0,30}(?:nutzen|verwenden|setzen)\b.{0,40}cookies | cookies\ und\ | einwilligung
    | datenschutz | zustimmen | werbung\ und\ tracking
    | personal(?:i[sz]ed)?\ (?:data|ads|advertising) | privacy\ (?:policy|settings|choices)
    | your\ (?:consent|choices)
    | (?:subscribe|sign\ in|log\ ?in|register)\ to\ (?:continue|read|view|unlock|keep)
    | (?:already\ (?:a\ )?(?:subscriber|member|have\ an\ account))
    | this\ (?:article|content|story)\ is\ (?:for|only|reserved)
    | while\ we\ verify\ access | exit\ and\ log\ into\ your | in\ reader\ mode\ please | want\ all\ of\ the\ times
    | disable\ (?:any|your)\ ad[\ -]?blocker
    | (?:réservée?s?\ (?:à\ nos|aux)\ abonnés) | déjà\ abonnée?\ ? | (?:abonnez|connectez|inscrivez)-vous\b
    | il\ (?:vous\ )?reste\ .{0,20}\ à\ lire | votre\ (?:accord|consentement) | nos\ .{0,15}partenaires
    | (?:exclusivo|reservado|solo)\ para\ (?:nuestros\ )?suscriptores | ya\ eres\ suscriptor
    | (?:suscríbe(?:te|se)|regístra(?:te|se)|inicia\ sesión|identifíca(?:te|se))\b
    | (?:nuestros|y\ sus)\ .{0,15}socios | (?:utilizamos|usamos)\ cookies | consentimiento
    | (?:有料|会員|購読者|登録者)(?:会員)?(?:限定|専用)(?:の?記事|です|コンテンツ)? | 残り\s?[0-9０-９,，]+\s?文字
    | 続き(?:を|は)(?:読|お読み|ご覧).{0,20} | (?:ログイン|会員登録|購読)(?:して|すると|が必要|してください)
    | クッキー(?:を使用|の使用)
    | native\ apps\ for | download\ (?:a\ )?(?:modern\ |supported\ )?browser
    | browser\ is\ (?:not|no\ longer)\ supported
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r"[^\n.!?…。！？]+[\n.!?…。！？]*")
_CONSENT_HOST = re.compile(r"(?:consent|guce|consent-\w+|myprivacy)\.")
# Such sites have articles of their own: these count with a sign in the text too.
_LIKELY_HOST = re.compile(r"(?:privacy|login|signin|auth|accounts?)\.")
# Fewer of the feed's words than this on the page: it is about something else.
LEAST_SHARED = 0.25
FEWEST_WORDS = 5
_SHORTEST_WORD = 4


def is_wall(text: str, title: str, url: str = "") -> bool:
    """Whether this is a notice before an article, by its text, its title and the address it was found at."""
    if len(text) > LONGEST_WALL:
        return False
    host = urlsplit(url).hostname or ""
    if _TITLES.fullmatch(title) or _CONSENT_HOST.match(host):
        return True
    sentences = _SENTENCE.findall(text)
    told = [sentence for sentence in sentences if _SIGNS.search(sentence)]
    if told and (_LIKELY_TITLES.match(title) or _LIKELY_HOST.match(host)):
        return True
    rest = len(text) - sum(map(len, told))
    return bool(told) and (rest < min(_LEAST_REST, sum(map(len, told)) * 2) or len(told) * 2 > len(sentences))


def is_about(page: str, feed: str) -> bool:
    """Whether a page says what the feed says of its article; of a few words that cannot be told."""
    wanted = _words(feed)
    if len(wanted) < FEWEST_WORDS:
        return True
    return len(wanted & _words(page)) >= LEAST_SHARED * len(wanted)


def _words(text: str) -> AbstractSet[str]:
    return {
        part
        for word in split_words(text)
        for part in (split_pairs(word.text) if word.unspaced else (word.text,))
        if word.unspaced or len(part) >= _SHORTEST_WORD
    }
