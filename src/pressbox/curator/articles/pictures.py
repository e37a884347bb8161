"""Pictures that a page loads by script are given their real address, and those that only count readers go."""

import re
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

from pressbox.curator.articles.html_tree import removed, unwrapped

# Set here and not by nh3, whose order of attributes changes from run to run: the same page is the same text.
HOW_TO_LOAD = {"loading": "lazy", "decoding": "async", "referrerpolicy": "no-referrer"}
# In order of trust; `src` comes after them, because with one of these it is a placeholder.
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
# Wide enough for a reader's column on a fine screen, and not the photographer's original.
_WANTED_WIDTH = 1600
_SMALLEST_LEAD = 100
_IMAGE = re.compile(r'<img\b[^<>]*?\bsrc="(?P<address>https?://[^"]+)"[^<>]*>')
_SIZE = re.compile(r'\b(?:width|height)="(\d+)"')
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(?:width|height)\s*:\s*[01]px", re.IGNORECASE)
_COUNTERS = re.compile(
    r"//(?:pixel|stats|counter|track(?:er|ing)?|beacon|analytics|b\.scorecardresearch|sb\.scorecardresearch)\."
    r"|feeds\.feedburner\.com/~|feedsportal\.com|doubleclick\.net|google-analytics\.com|vgwort\.de|ivwbox\.de"
    r"|/(?:pixel|spacer|blank|transparent|clear)\.gif(?:\?|$)",
    re.IGNORECASE,
)


def settle_pictures(root: Any, base_url: str) -> None:
    _unhide(root, base_url)
    for image in list(root.iter("img", "amp-img")):
        image.tag = "img"
        address = _address(image, base_url)
        if address is None or _counts_readers(image, address):
            removed(image)
        else:
            image.set("src", address)
            for name, value in HOW_TO_LOAD.items():
                image.set(name, value)
    for picture in list(root.iter("picture")):
        # Unwrapped: the parser knows no empty source and puts what follows inside it.
        for source in list(picture.iter("source")):
            unwrapped(source)


def first_picture(clean: str) -> str:
    """Of sanitised HTML: the first one that is not an ornament by its size; empty when there is none."""
    for found in _IMAGE.finditer(clean):
        sizes = [int(size) for size in _SIZE.findall(found.group())]
        if not sizes or min(sizes) >= _SMALLEST_LEAD:
            return unescape(found["address"])
    return ""


def _unhide(root: Any, base_url: str) -> None:
    """What a page shows without scripts, instead of the placeholder before it."""
    for hidden in list(root.iter("noscript")):
        image = next(hidden.iter("img"), None)
        if image is None:
            continue
        before = hidden.getprevious()
        address = _address(image, base_url)
        if before is not None and before.tag in ("img", "picture"):
            shown = before if before.tag == "img" else next(before.iter("img"), before)
            if address is not None and _address(shown, base_url) not in (None, address):
                # The one before is a real picture of its own size; the hidden one is the same in another.
                continue
            removed(before)
        unwrapped(hidden)


def _address(image: Any, base_url: str) -> str | None:
    candidates = [image.get(name) for name in _LAZY]
    candidates += [best_of(image.get(name)) for name in _SETS]
    picture = next(image.iterancestors("picture"), None)
    if picture is not None:
        candidates += [best_of(source.get("srcset") or source.get("data-srcset")) for source in picture.iter("source")]
    # A good `src` is the publisher's own choice; the wider ones come only when it is a placeholder.
    own = _whole(image.get("src"), base_url)
    lazy = any(image.get(name) for name in _LAZY)
    if own is not None and not lazy:
        return _whole(best_of(image.get("srcset")), base_url) or own
    return next((whole for whole in (_whole(one, base_url) for one in candidates) if whole is not None), own)


def best_of(source_set: str | None) -> str | None:
    """The narrowest one that is wide enough, otherwise the widest."""
    # A comma may be part of an address; one that ends it is followed by a space.
    sized = [_sized(candidate) for candidate in re.split(r",\s+|(?<=\d[wx]),", (source_set or "")[:20_000])]
    known = [(width, address) for width, address in sized if address and not address.startswith("data:")]
    if not known:
        return None
    enough = [one for one in known if one[0] >= _WANTED_WIDTH]
    return min(enough)[1] if enough else max(known)[1]


def _sized(candidate: str) -> tuple[float, str]:
    address, _, size = candidate.strip().partition(" ")
    match = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,3})?)([wx])\s*", size)
    if match is None:
        return 0.0, address
    # "2x" of a column's width.
    return float(match[1]) * (1.0 if match[2] == "w" else 800.0), address


def _whole(address: str | None, base_url: str) -> str | None:
    if not address or not address.strip():
        return None
    try:
        whole = urljoin(base_url, address.strip())
        parts = urlsplit(whole)
    except ValueError:
        return None
    return whole if parts.scheme in ("http", "https") and parts.netloc else None


def _counts_readers(image: Any, address: str) -> bool:
    tiny = any((image.get(side) or "").strip().removesuffix("px") in ("0", "1") for side in ("width", "height"))
    return tiny or bool(_HIDDEN.search(image.get("style") or "")) or bool(_COUNTERS.search(address))
