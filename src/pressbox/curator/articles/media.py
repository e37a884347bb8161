"""Makes pictures, films and sounds of a page calm: pictures get their real address, players become plain links.

Pictures that only count readers go, and nothing else is loaded from strangers by reading.
"""

import re
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

from pressbox.curator.articles.html_tree import remove, unwrap
from pressbox.curator.library.urls import is_plain_address

# Set here and not by nh3, whose order of attributes differs from run to run: the same page must give the same text.
LOADING_ATTRIBUTES = {"loading": "lazy", "decoding": "async", "referrerpolicy": "no-referrer"}
# In order of preference; beside one of these `src` is a placeholder.
_LAZY = (
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-orig-file",
    "data-large-file",
    "data-full-src",
    "data-hi-res-src",
    "data-url",
    "data-image",
)
_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
# Wide enough for a column of text on a fine screen, without being the photographer's original.
_WANTED_WIDTH = 1600
_SMALLEST_LEAD = 100
_IMAGE = re.compile(r'<img\b[^<>]*?\bsrc="(?P<address>https?://[^"]+)"[^<>]*>')
_SIZE = re.compile(r'\b(?:width|height)="(\d+)"')
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(?:width|height)\s*:\s*[01]px", re.IGNORECASE)
_TRACKERS = re.compile(
    r"//(?:pixel|stats|counter|track(?:er|ing)?|beacon|analytics|b\.scorecardresearch|sb\.scorecardresearch)\."
    r"|feeds\.feedburner\.com/~|feedsportal\.com|doubleclick\.net|google-analytics\.com|vgwort\.de|ivwbox\.de"
    r"|/(?:pixel|spacer|blank|transparent|clear)\.gif(?:\?|$)",
    re.IGNORECASE,
)
# A player's address is not where people want to go.
_PLAYERS = (
    (
        re.compile(r"//(?:www\.)?youtube(?:-nocookie)?\.com/(?:embed|v)/([\w-]{6,20})"),
        "https://www.youtube.com/watch?v={}",
    ),
    (re.compile(r"//player\.vimeo\.com/video/(\d{4,12})"), "https://vimeo.com/{}"),
    (re.compile(r"//(?:www\.)?dailymotion\.com/embed/video/(\w{4,12})"), "https://www.dailymotion.com/video/{}"),
)
_AUDIO = re.compile(r"soundcloud|spotify|podcast|audio", re.IGNORECASE)
_ADVERTISING = re.compile(r"googletagmanager|doubleclick|googlesyndication|/ads?[/.]|facebook\.com/plugins|/recaptcha")
_LONGEST_TITLE = 200


def fix_pictures(root: Any, base_url: str) -> None:
    _unhide_pictures(root, base_url)
    for image in list(root.iter("img", "amp-img")):
        image.tag = "img"
        address = _picture_address(image, base_url)
        if address is None or _is_tracker(image, address):
            remove(image)
        else:
            image.set("src", address)
            for name, value in LOADING_ATTRIBUTES.items():
                image.set(name, value)
    for picture in list(root.iter("picture")):
        # Unwrapped: the parser knows no empty source and puts what follows inside it.
        for source in list(picture.iter("source")):
            unwrap(source)


def find_first_picture(clean: str) -> str:
    """Return the address of the first picture of sanitised HTML that is not an ornament by its size."""
    for found in _IMAGE.finditer(clean):
        sizes = [int(size) for size in _SIZE.findall(found.group())]
        if not sizes or min(sizes) >= _SMALLEST_LEAD:
            return unescape(found["address"])
    return ""


def _unhide_pictures(root: Any, base_url: str) -> None:
    """Show what a page shows without scripts, instead of the placeholder before it."""
    for hidden in list(root.iter("noscript")):
        image = next(hidden.iter("img"), None)
        if image is None:
            continue
        before = hidden.getprevious()
        address = _picture_address(image, base_url)
        if before is not None and before.tag in ("img", "picture"):
            shown = before if before.tag == "img" else next(before.iter("img"), before)
            if address is not None and _picture_address(shown, base_url) not in (None, address):
                # The one before is a real picture; the hidden one is the same in another size.
                continue
            remove(before)
        unwrap(hidden)


def _picture_address(image: Any, base_url: str) -> str | None:
    candidates = [image.get(name) for name in _LAZY]
    candidates += [choose_source(image.get(name)) for name in _SETS]
    picture = next(image.iterancestors("picture"), None)
    if picture is not None:
        candidates += [
            choose_source(source.get("srcset") or source.get("data-srcset")) for source in picture.iter("source")
        ]
    # A good `src` is the publisher's choice; the others count only where it is a placeholder.
    own = _absolute(image.get("src"), base_url)
    lazy = any(image.get(name) for name in _LAZY)
    if own is not None and not lazy:
        return _absolute(choose_source(image.get("srcset")), base_url) or own
    return next((found for found in (_absolute(one, base_url) for one in candidates) if found is not None), own)


def choose_source(source_set: str | None) -> str | None:
    """Choose the narrowest source that is wide enough, otherwise the widest."""
    # A comma may be part of an address; one that ends it is followed by a space.
    sized = [_read_candidate(candidate) for candidate in re.split(r",\s+|(?<=\d[wx]),", (source_set or "")[:20_000])]
    known = [(width, address) for width, address in sized if address and not address.startswith("data:")]
    if not known:
        return None
    enough = [one for one in known if one[0] >= _WANTED_WIDTH]
    return min(enough)[1] if enough else max(known)[1]


def _read_candidate(candidate: str) -> tuple[float, str]:
    address, _, size = candidate.strip().partition(" ")
    match = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,3})?)([wx])\s*", size)
    if match is None:
        return 0.0, address
    # "2x" of a column's width.
    return float(match[1]) * (1.0 if match[2] == "w" else 800.0), address


def _absolute(address: str | None, base_url: str) -> str | None:
    if not address or not address.strip():
        return None
    if is_plain_address(address):
        return address
    try:
        whole = urljoin(base_url, address.strip())
        parts = urlsplit(whole)
    except ValueError:
        return None
    return whole if parts.scheme in ("http", "https") and parts.netloc else None


def _is_tracker(image: Any, address: str) -> bool:
    tiny = any((image.get(side) or "").strip().removesuffix("px") in ("0", "1") for side in ("width", "height"))
    return tiny or bool(_HIDDEN.search(image.get("style") or "")) or bool(_TRACKERS.search(address))


def link_embeds(root: Any, base_url: str) -> None:
    for element in list(root.iter("iframe", "embed", "object", "video", "audio", "amp-youtube")):
        # One inside another, such as the fallback of an object, is gone with it.
        if element.getparent() is None:
            continue
        address = _embed_address(element, base_url)
        if address is None or _ADVERTISING.search(address):
            remove(element)
            continue
        _replace_by_link(element, address, urljoin(base_url, element.get("poster") or ""))


def _embed_address(element: Any, base_url: str) -> str | None:
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
    return _watch_page(whole) if usable else None


def _watch_page(address: str) -> str:
    for pattern, page in _PLAYERS:
        match = pattern.search(address)
        if match is not None:
            return page.format(match[1])
    return address


def _replace_by_link(element: Any, address: str, poster: str) -> None:
    title = " ".join((element.get("title") or element.get("aria-label") or "").split())[:_LONGEST_TITLE]
    host = (urlsplit(address).hostname or "").removeprefix("www.")
    kind = "Audio" if element.tag == "audio" or _AUDIO.search(address) else "Video"
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
