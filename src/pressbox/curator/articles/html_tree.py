"""A page as a tree of elements, and how to take one out of it. The only place here that knows how lxml parses."""

import re
from typing import Any

# What XML cannot carry; a page that has it is read without.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A declaration contradicts that the text is already decoded.
_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,200}\?>", re.IGNORECASE)

# A start tag as browsers read it. Possessive throughout: each character is looked at a bounded number of times.
_ATTRIBUTE = r"""=?+[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_START_TAG = re.compile(rf"<([a-zA-Z][^\s/>]*+)(?:[\s/]++|{_ATTRIBUTE}|=)*+>?+")
_ANY_ATTRIBUTE = re.compile(_ATTRIBUTE)
MOST_ATTRIBUTES = 200
_LONG_TAG = 2 * MOST_ATTRIBUTES
_LONGEST_NAME = 30


def parsed(html: str) -> Any | None:
    """The tree without comments, at most some 250 levels deep; None when there is nothing in it."""
    from lxml import etree  # type: ignore[import-untyped]
    from lxml import html as lxml_html

    text = _DECLARATION.sub("", bounded_tags(_CONTROL.sub(" ", html)))
    if not text.strip():
        return None
    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        # Always with a root of our own: a fragment may be text alone, or several elements.
        root = lxml_html.document_fromstring(f"<!DOCTYPE html><body>{text}</body>".encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    return root


def bounded_tags(html: str) -> str:
    """Tags with hundreds of attributes lose them: parsers compare each with all others, which takes minutes."""
    kept, done = [], 0
    for found in _START_TAG.finditer(html):
        if found.end() - found.start() > _LONG_TAG and _count(found.group()) > MOST_ATTRIBUTES:
            kept += [html[done : found.start()], f"<{found[1][:_LONGEST_NAME]}>"]
            done = found.end()
    return "".join([*kept, html[done:]])


def _count(tag: str) -> int:
    return sum(1 for _ in _ANY_ATTRIBUTE.finditer(tag))


def removed(element: Any) -> None:
    """Without its content; the text that follows it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def unwrapped(element: Any) -> None:
    """Its content stays."""
    if element.getparent() is not None:
        element.drop_tag()


def serialised(root: Any) -> str:
    from lxml import html as lxml_html

    body = root.find("body") if root.tag == "html" else root
    return str(lxml_html.tostring(root if body is None else body, encoding="unicode"))
