"""A README as GitHub renders it becomes HTML that is safe on our pages. Runs in the parser pool."""

from pressbox.curator.articles.html_tree import parse_html, serialise
from pressbox.curator.articles.sanitizer import absolute_link, sanitise

LONGEST_HTML = 200_000


def readme_of(html: str, page_url: str, file_url: str) -> str:
    """Relative links lead to the repository's pages, relative pictures to its files. Empty when it is too long."""
    root = parse_html(html)
    if root is None:
        return ""
    for element in root.iter("img"):
        # GitHub shows pictures through a proxy of its own and keeps their address beside.
        source = element.get("data-canonical-src") or element.get("src")
        address = absolute_link(source, file_url) if source else None
        if address is not None:
            element.set("src", address)
    clean = sanitise(serialise(root), page_url)
    return clean if len(clean) <= LONGEST_HTML else ""
