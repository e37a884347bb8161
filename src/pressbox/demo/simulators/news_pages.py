"""Builds pages as publishers do: an article between navigation, a cookie banner, advertisements and comments."""

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from pressbox.demo.news.library import Article

# Sentences around every article that belong to none: no extraction may keep them.
CHROME = (
    "We and our 212 partners use cookies to remember that you have seen this banner.",
    "Most read this week",
    "Sign up for our newsletter and never miss a Monday.",
    "Be the first to comment, says comment number four.",
    "All rights reserved by the simulated press.",
)
_WIDTH, _HEIGHT = 64, 36


@dataclass(frozen=True)
class Alternate:
    """A feed that a page links in its head."""

    url: str
    title: str
    content_type: str


def page(title: str, language: str, main: str, *, alternates: Sequence[Alternate] = (), head: str = "") -> bytes:
    links = "".join(
        f'<link rel="alternate" type="{escape(one.content_type)}" title="{escape(one.title)}" href="{escape(one.url)}">'
        for one in alternates
    )
    cookies, most_read, newsletter, comment, rights = CHROME
    return f"""<!DOCTYPE html>
<html lang="{language}"><head><meta charset="utf-8"><title>{escape(title)}</title>{links}{head}
<link rel="stylesheet" href="/style.css"><script>window.dataLayer = [];</script></head>
<body>
<div id="cookie-banner" role="dialog"><p>{cookies}</p><button>Accept all</button>
<button>Manage 212 choices</button></div>
<header><nav><ul><li><a href="/">Home</a></li><li><a href="/politics">Politics</a></li><li><a href="/sport">Sport</a>
</li><li><a href="/weather">Weather</a></li><li><a href="/subscribe">Subscribe</a></li></ul></nav></header>
{main}
<aside class="related"><h3>{most_read}</h3><ul><li><a href="/a">Ten benches to sit on</a></li>
<li><a href="/b">The mayor's umbrella</a></li><li><a href="/c">Crossword</a></li></ul></aside>
<div class="advertisement"><img src="/pixel.gif" width="1" height="1" alt=""></div>
<section class="newsletter"><form><p>{newsletter}</p><input type="email"><button>Yes</button></form></section>
<section id="comments" class="comments"><h3>Comments (4)</h3><div class="comment"><p>{comment}</p></div></section>
<footer><p>{rights}</p><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer>
<script src="/tracker.js"></script></body></html>
""".encode()


def article_page(article: Article, base_url: str, published: str, alternates: Sequence[Alternate]) -> bytes:
    address = f"{base_url}/{article.section}/{article.slug}"
    picture = f"{base_url}/pictures/{article.slug}.png"
    described = {"@context": "https://schema.org", "@type": "NewsArticle", "headline": article.title}
    head = (
        f'<link rel="canonical" href="{address}"><meta property="og:title" content="{escape(article.title)}">'
        f'<meta property="og:image" content="{picture}"><meta name="author" content="{escape(article.author)}">'
        f'<meta property="article:published_time" content="{published}">'
        f'<script type="application/ld+json">{json.dumps(described)}</script>'
    )
    main = (
        f'<main><article><h1>{escape(article.title)}</h1><p class="byline">{escape(article.author)}, '
        f'<time datetime="{published}">{published}</time></p><div class="share"><a href="/share/mail">Mail</a> '
        f'<a href="/share/print">Print</a></div><div class="article-body">{article.html}</div></article></main>'
    )
    return page(article.title, article.language, main, alternates=alternates, head=head)


def front_page(title: str, language: str, shown: Sequence[Article], alternates: Sequence[Alternate]) -> bytes:
    teasers = "".join(
        f'<li><h2><a href="/{one.section}/{one.slug}">{escape(one.title)}</a></h2><p>{escape(one.summary)}</p></li>'
        for one in shown
    )
    return page(title, language, f"<main><h1>{escape(title)}</h1><ul>{teasers}</ul></main>", alternates=alternates)


def login_page() -> bytes:
    main = (
        '<main><h1>Please sign in</h1><form method="post" action="/login"><input name="user" autocomplete="username">'
        '<input type="password" name="password" autocomplete="current-password"><button>Sign in</button></form></main>'
    )
    return page("Please sign in", "en", main)


def picture(name: str) -> bytes:
    """A small PNG with colours that depend on its name."""
    seed = zlib.crc32(name.encode())
    red, green, blue = seed & 255, seed >> 8 & 255, seed >> 16 & 255
    rows = b"".join(
        b"\0" + b"".join(bytes(((red + x * 2) % 256, (green + y * 4) % 256, blue)) for x in range(_WIDTH))
        for y in range(_HEIGHT)
    )
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
