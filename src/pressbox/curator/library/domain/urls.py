"""One spelling for every address, so that the same article is recognised in several feeds. Pure.

A canonical address is for comparing, never for fetching: the publisher's own spelling is what works.
"""

import re
from urllib.parse import SplitResult, quote, unquote_to_bytes, urljoin, urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 8192

# Parameters that tell where a reader came from and not what is read.
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
# These say something only together with such a value: `?source=rss` is a trace, `?source=reuters` may be a page.
_TRACE_NAMES = frozenset({"source", "ref", "from", "via", "partner", "medium", "output", "rss", "feed"})
_TRACE_VALUES = frozenset(
    {"rss", "feed", "atom", "rss_feed", "rss-feed", "rssfeed", "feeds", "syndication", "newsletter"}
)

_UNUSABLE = re.compile(r"[\x00-\x20\x7f]+")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SAFE_IN_PATH = "/:@!$&'()*+,;=~%"
_SAFE_IN_QUERY = _SAFE_IN_PATH + "?"


def canonical_url(url: str) -> str:
    """The one spelling of a web address, or an empty text when it is none."""
    parts = _split(url)
    if parts is None:
        return ""
    host = _host(parts)
    port = _port(parts)
    # Nobody serves two different articles under http and https.
    scheme = parts.scheme if port is not None else "https"
    authority = host if port is None else f"{host}:{port}"
    path = _without_dots(_escaped(parts.path, _SAFE_IN_PATH)) or "/"
    query = _meaningful(_escaped(parts.query, _SAFE_IN_QUERY))
    fragment = _route(_escaped(parts.fragment, _SAFE_IN_QUERY))
    return f"{scheme}://{authority}{path}{'?' + query if query else ''}{'#' + fragment if fragment else ''}"


def absolute_url(url: str, base_url: str) -> str:
    """The address as seen from `base_url`, or an empty text when it does not lead to the web."""
    cleaned = url.strip().replace("\n", "").replace("\r", "").replace("\t", "")
    if not cleaned:
        return ""
    try:
        joined = urljoin(base_url, cleaned)
    except ValueError:
        return ""
    return joined if is_web_url(joined) else ""


def is_web_url(url: str) -> bool:
    return _split(url) is not None


def host_of(url: str) -> str:
    """Whom to be polite to: the host, with its port when that is not the usual one; empty without a web address."""
    parts = _split(url)
    if parts is None:
        return ""
    port = _port(parts)
    return _host(parts) if port is None else f"{_host(parts)}:{port}"


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
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise ValueError("Not a host name.") from error


def _port(parts: SplitResult) -> int | None:
    return None if parts.port == DEFAULT_PORTS[parts.scheme] else parts.port


def _escaped(text: str, safe: str) -> str:
    """Escapes only where they are needed, in capitals."""
    plain = _ESCAPE.sub(_unescaped_if_unreserved, text)
    # A percent sign that escapes nothing is one to be escaped itself.
    whole = re.sub(r"%(?![0-9A-F]{2})", "%25", plain)
    return quote(whole, safe=safe, encoding="utf-8", errors="replace")


def _unescaped_if_unreserved(found: re.Match[str]) -> str:
    (byte,) = unquote_to_bytes(found.group())
    return chr(byte) if byte in _UNRESERVED else found.group().upper()


def _without_dots(path: str) -> str:
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


def _meaningful(query: str) -> str:
    return "&".join(part for part in query.split("&") if part and not _is_trace(part))


def _is_trace(part: str) -> bool:
    name, _, value = part.lower().partition("=")
    if name in _TRACKING_NAMES or name.startswith(_TRACKING_PREFIXES):
        return True
    return name in _TRACE_NAMES and value in _TRACE_VALUES


def _route(fragment: str) -> str:
    """Pages that are drawn by their script keep the article's address behind the sign."""
    return fragment if fragment.startswith(("!", "/")) else ""
