"""Applies the extraction rules of a feed: what is the article, and what is never part of it."""

from collections.abc import Iterable, Sequence
from typing import Any

from pressbox.core.errors import InvalidInputError
from pressbox.curator.articles.html_tree import remove
from pressbox.curator.library.domain.feeds import ExtractionRule

MOST_MATCHES = 10_000


def remove_unwanted(root: Any, rules: Sequence[ExtractionRule]) -> None:
    for rule in rules:
        if not rule.keep:
            for element in _find(root, rule):
                remove(element)


def select_wanted(root: Any, rules: Sequence[ExtractionRule]) -> list[Any]:
    """Return what the rules keep, in the order of the page, nothing twice; empty when no rule finds anything."""
    chosen = {element for rule in rules if rule.keep for element in _find(root, rule)}
    return [
        element for element in root.iter() if element in chosen and not chosen.intersection(element.iterancestors())
    ]


def check_rules(rules: Iterable[ExtractionRule]) -> None:
    """Raise for the first rule that cannot be read, before anything is fetched for it."""
    for rule in rules:
        _compile(rule)


def _find(root: Any, rule: ExtractionRule) -> list[Any]:
    from lxml import etree  # type: ignore[import-untyped]

    try:
        found = _compile(rule)(root)
    except etree.XPathError as error:
        raise _unreadable_rule(rule) from error
    # An expression may also return a text, an attribute or a number.
    elements = [one for one in found if isinstance(one, etree._Element)] if isinstance(found, list) else []
    if len(elements) > MOST_MATCHES:
        raise InvalidInputError(
            f"“{rule.expression[:100]}” finds {len(elements):,} parts of the page; at most {MOST_MATCHES:,} are used.",
            field="rules",
        )
    return elements


def _compile(rule: ExtractionRule) -> Any:
    from cssselect import SelectorError
    from lxml import etree
    from lxml.cssselect import CSSSelector  # type: ignore[import-untyped]

    try:
        if rule.kind == "css":
            return CSSSelector(rule.expression, translator="html")
        if rule.kind == "xpath":
            return etree.XPath(rule.expression)
    except (SelectorError, etree.XPathError, ValueError) as error:
        raise _unreadable_rule(rule) from error
    raise InvalidInputError(f"A rule is css or xpath, not “{rule.kind[:20]}”.", field="rules")


def _unreadable_rule(rule: ExtractionRule) -> InvalidInputError:
    kind = "a CSS selector" if rule.kind == "css" else "an XPath"
    return InvalidInputError(f"“{rule.expression[:100]}” cannot be read as {kind}. Change the rule.", field="rules")
