"""Links of an article that lead to repositories on GitHub."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from pressbox.curator.context.domain.context import ContextLink, entity_key
from pressbox.curator.library.domain.urls import host_of

_TO_FOLD = re.compile(r"[\s._-]+|(?:js|py|rs|go)$")
FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}")
_HOSTS = ("github.com", "www.github.com")
_NO_OWNERS = ("topics", "features", "orgs", "sponsors", "about", "settings", "marketplace", "apps", "search", "login")


def repositories_in(links: Sequence[ContextLink]) -> dict[str, str]:
    """`owner/name` of repositories on GitHub that an article links to, by the name folded."""
    found: dict[str, str] = {}
    for link in links:
        pieces = [piece for piece in urlsplit(link.url).path.split("/") if piece]
        if host_of(link.url) not in _HOSTS or len(pieces) < 2 or pieces[0] in _NO_OWNERS:
            continue
        full_name = f"{pieces[0]}/{pieces[1].removesuffix('.git')}"
        if FULL_NAME.fullmatch(full_name):
            found.setdefault(fold_name(full_name.partition("/")[2]), full_name)
    return found


def fold_name(name: str) -> str:
    return _TO_FOLD.sub("", entity_key(name))
