"""Gives every address one spelling, so that the same article is recognised in several feeds. Pure.

A canonical address is for comparing, never for fetching: only the publisher's own spelling is sure to work.
"""

import re
from urllib.parse import SplitResult, quote, unquote_to_bytes, urljoin, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 8192
# Of the address of a feed, in bytes: an index of the database takes no more.
LONGEST_FEED_ADDRESS = 2000
LONGEST_ARTICLE_ADDRESS = 2000
_LONGEST_HOST = 253

# Parameters that say where a reader came from, not what is read.
_TRACKING_PREFIXES = (
    "utm_",
    "mtm_",
    "pk_",
    "piwik_",
    "matomo_",
    "hsa_",
    "at_",
    "ns_",
    "fb_",
    "oly_",
    "vero_",
    "wt_",
    "wt.",
)
_TRACKING_NAMES = frozenset(
    {
        "fbclid",
        "gclid",
        "gclsrc",
        "dclid",
        "gbraid",
        "wbraid",
        "msclkid",
        "yclid",
        "ysclid",
        "twclid",
        "ttclid",
        "igshid",
        "igsh",
        "li_fat_id",
        "srsltid",
        "mc_cid",
        "mc_eid",
        "mkt_tok",
        "_hsenc",
        "_hsmi",
        "__hstc",
        "__hssc",
        "__hsfp",
        "_ga",
        "_gl",
        "_openstat",
        "s_cid",
        "s_kwcid",
        "ef_id",
        "cmpid",
        "cmp",
        "icid",
        "ito",
        "ncid",
        "ftag",
        "xtor",
        "sr_share",
        "smid",
        "smtyp",
        "ref_src",
        "ref_url",
        "referrer",
        "trk",
        "trkcampaign",
        "spm",
        "scm",
        "cvid",
        "ocid",
        "__twitter_impression",
        "ck_subscriber_id",
        "campaign_id",
        "sc_channel",
        "sc_campaign",
        "guccounter",
        "guce_referrer",
        "guce_referrer_sig",
    }
)
# These are tracking only together with such a value: `?source=rss` is, `?source=reuters` may be a page.
_SOURCE_NAMES = frozenset({"source", "ref", "from", "via", "partner", "medium", "output", "rss", "feed"})
_SOURCE_VALUES = frozenset(
    {"rss", "feed", "atom", "rss_feed", "rss-feed", "rssfeed", "feeds", "syndication", "newsletter"}
)

# Fragments that lead to some place of the same article, on any site.
_NO_SECTION = re.compile(
    r"(?:top|main|content|article|rss|feed|atom|comments|respond|reply|disqus_thread|more-\d+)?", re.IGNORECASE
)
# Of letters, figures and harmless marks alone, without empty parts, parameters behind ";", user names and ports.
_PLAIN = re.compile(
    r"https?://(?:[a-z0-9-]{1,50}\.){1,4}[a-z0-9-]{1,30}"
    r"(?:/[A-Za-z0-9/._~%+=&,!$*()-]*+)?+(?:\?[A-Za-z0-9/._~%+=&,!$*()-]++)?+(?:#[A-Za-z0-9/._~%+=&,!$*()-]++)?+",
    re.ASCII,
)
_FEED_BEFORE_WEB = re.compile(r"^feed:(?://)?(?=https?:)", re.IGNORECASE)
_FEED_SCHEME = re.compile(r"^feed:(?://)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?P<scheme>https?)://(?P<user>[^/?#]*@)?(?P<host>[^/?#@]*)", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_UNUSABLE = re.compile(r"[\x00-\x20\x7f]+")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SAFE_IN_PATH = "/:@!$&'()*+,;=~%"
_SAFE_IN_QUERY = _SAFE_IN_PATH + "?"


def canonical_url(url: str, *, keep_fragment: bool = False) -> str:
    """Return the one spelling of a web address, or an empty text when it is none.

    A fragment is kept where it is the address of an article of its own: always in pages that are drawn by scripts, and
    with `keep_fragment` also for a section of a page, such as one of many release notes.
    """
    parts = _split(url)
    if parts is None:
        return ""
    host = _host(parts)
    port = _port(parts)
    # No site serves different articles under http and https.
    scheme = parts.scheme if port is not None else "https"
    authority = host if port is None else f"{host}:{port}"
    path = _remove_dots(_escape(parts.path, _SAFE_IN_PATH)) or "/"
    query = _remove_tracking(_escape(parts.query, _SAFE_IN_QUERY))
    fragment = _clean_fragment(_escape(parts.fragment, _SAFE_IN_QUERY), keep_fragment)
    return f"{scheme}://{authority}{path}{'?' + query if query else ''}{'#' + fragment if fragment else ''}"


def article_address(url: str) -> str:
    """The address that identifies an article across feeds; empty where it names none, as a home page."""
    address = canonical_url(url, keep_fragment=True)
    parts = urlsplit(address)
    names_something = parts.path.strip("/") or parts.query or parts.fragment
    return address if names_something and len(address) <= LONGEST_ARTICLE_ADDRESS else ""


def is_plain_address(url: str) -> bool:
    """Whether this is an ordinary address of the web, which resolves to itself against any other one.

    Most are. Whoever resolves one need not take it apart and put it together again.
    """
    return _PLAIN.fullmatch(url) is not None


def absolute_url(url: str, base_url: str) -> str:
    """Resolve an address against `base_url`; return an empty text when it does not lead to the web."""
    if is_plain_address(url):
        return url if len(url) <= MAX_LENGTH else ""
    cleaned = _CONTROL.sub("", url).strip()
    if not cleaned:
        return ""
    try:
        joined = urljoin(_CONTROL.sub("", base_url), cleaned)
    except ValueError:
        return ""
    return joined if is_web_url(joined) else ""


def is_web_url(url: str) -> bool:
    return _split(url) is not None


def feed_address(text: str) -> str:
    """Give the address of a feed one spelling, as far as it surely opens the same: people and files write many.

    Browsers once used the scheme feed: for the same thing.
    """
    url = _FEED_SCHEME.sub("https://", _FEED_BEFORE_WEB.sub("", text.strip()))
    found = _AUTHORITY.match(url)
    if found is None:
        return url
    scheme, user, host = found["scheme"].lower(), found["user"] or "", found["host"].lower()
    port = f":{DEFAULT_PORTS.get(scheme)}"
    return f"{scheme}://{user}{host.removesuffix(port)}{url[found.end() :].partition('#')[0]}"


def is_too_long(url: str) -> bool:
    """Whether a feed cannot be kept under this address."""
    return len(url.encode(errors="replace")) > LONGEST_FEED_ADDRESS


def host_of(url: str) -> str:
    """Return the host, with its port unless it is the default one; empty without a web address."""
    parts = _split(url)
    if parts is None:
        return ""
    port = _port(parts)
    return _host(parts) if port is None else f"{_host(parts)}:{port}"


def site_name(url: str) -> str:
    """Return what something without a title is called: its host. The rest of an address may be what opens it."""
    parts = _split(url)
    return _host(parts).removeprefix("www.") if parts is not None else ""


def _split(url: str) -> SplitResult | None:
    text = url.strip()
    if len(text) > MAX_LENGTH:
        return None
    try:
        parts = urlsplit(_UNUSABLE.sub(lambda found: "%20" * ("\n" not in found.group()), text))
        usable = parts.scheme in DEFAULT_PORTS and bool(_host(parts)) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if usable else None


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    if ":" in host:
        return f"[{host}]"
    try:
        name = host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise ValueError("Not a host name.") from error
    if len(name) > _LONGEST_HOST:
        raise ValueError("Not a host name.")
    return name


def _port(parts: SplitResult) -> int | None:
    return None if parts.port == DEFAULT_PORTS[parts.scheme] else parts.port


def _escape(text: str, safe: str) -> str:
    """Escape only where it is needed, in capitals."""
    plain = _ESCAPE.sub(_unescape_unreserved, text)
    # A percent sign that escapes nothing is escaped itself.
    whole = re.sub(r"%(?![0-9A-F]{2})", "%25", plain)
    return quote(whole, safe=safe, encoding="utf-8", errors="replace")


def _unescape_unreserved(found: re.Match[str]) -> str:
    (byte,) = unquote_to_bytes(found.group())
    return chr(byte) if byte in _UNRESERVED else found.group().upper()


def _remove_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def _remove_tracking(query: str) -> str:
    return "&".join(part for part in query.split("&") if part and not _is_tracking(part))


def _is_tracking(part: str) -> bool:
    name, _, value = part.lower().partition("=")
    if name in _TRACKING_NAMES or name.startswith(_TRACKING_PREFIXES):
        return True
    return name in _SOURCE_NAMES and value in _SOURCE_VALUES


def _clean_fragment(fragment: str, keep: bool) -> str:
    """Leave out what says where a reader came from, or which words to highlight."""
    if fragment.startswith(("!", "/")):
        return fragment
    place = fragment.partition(":~:")[0]
    if not keep or _NO_SECTION.fullmatch(place) or all(_is_tracking(part) for part in place.split("&")):
        return ""
    return place
