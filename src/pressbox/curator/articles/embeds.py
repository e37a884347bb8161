"""Films, sounds and other pages inside a page become plain links: nothing is loaded from strangers by reading."""

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from pressbox.curator.articles.html_tree import removed

# The player's address is not where people want to go.
_PLAYERS = (
    (
        re.compile(r"//(?:www\.)?youtube(?:-nocookie)?\.com/(?:embed|v)/([\w-]{6,20})"),
        "https://www.youtube.com/watch?v={}",
    ),
    (re.compile(r"//player\.vimeo\.com/video/(\d{4,12})"), "https://vimeo.com/{}"),
    (re.compile(r"//(?:www\.)?dailymotion\.com/embed/video/(\w{4,12})"), "https://www.dailymotion.com/video/{}"),
)
_SOUND = re.compile(r"soundcloud|spotify|podcast|audio", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"googletagmanager|doubleclick|googlesyndication|/ads?[/.]|facebook\.com/plugins|/recaptcha")
_LONGEST_TITLE = 200


def link_embeds(root: Any, base_url: str) -> None:
    for element in list(root.iter("iframe", "embed", "object", "video", "audio", "amp-youtube")):
        # One inside another, such as the fallback of an object, went with it.
        if element.getparent() is None:
            continue
        address = _address(element, base_url)
        if address is None or _NOT_SHOWN.search(address):
            removed(element)
            continue
        _replace(element, address, urljoin(base_url, element.get("poster") or ""))


def _address(element: Any, base_url: str) -> str | None:
    video = element.get("data-videoid")
    if element.tag == "amp-youtube" and video:
        return f"https://www.youtube.com/watch?v={video}"
    sources = [element.get(name) for name in ("data-src", "src", "data")]
    sources += [source.get("src") for source in element.iter("source", "embed")]
    address = next((source.strip() for source in sources if source and source.strip()), None)
    if address is None:
        return None
    try:
        whole = urljoin(base_url, address)
        usable = urlsplit(whole).scheme in ("http", "https") and urlsplit(whole).netloc
    except ValueError:
        return None
    return _page_of(whole) if usable else None


def _page_of(address: str) -> str:
    for pattern, page in _PLAYERS:
        match = pattern.search(address)
        if match is not None:
            return page.format(match[1])
    return address


def _replace(element: Any, address: str, poster: str) -> None:
    title = " ".join((element.get("title") or element.get("aria-label") or "").split())[:_LONGEST_TITLE]
    host = (urlsplit(address).hostname or "").removeprefix("www.")
    kind = "Audio" if element.tag == "audio" or _SOUND.search(address) else "Video"
    tail, has_poster = element.tail, bool(element.get("poster"))
    element.clear()
    element.tag, element.tail = "p", tail
    link = element.makeelement("a", {"href": address})
    link.text = f"{kind}: {title or host}"
    if has_poster and urlsplit(poster).scheme in ("http", "https"):
        picture = element.makeelement("img", {"src": poster, "alt": ""})
        picture.tail, link.text = link.text, None
        link.append(picture)
    element.append(link)
