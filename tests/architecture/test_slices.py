"""A slice of the curator shows others what it means to show: messages, decisions, ports and activities."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.architecture.source import SOURCE

CURATOR = SOURCE / "curator"
# Whatever its slice is: messages, decisions, ports, work to be started, use cases, and what joins them.
OFFERED_ROLES = {"contracts", "domain", "ports", "activities", "workflow", "workflows", "starter", "service", "wiring"}
# Ground that all slices stand on.
GROUND = {"library", "text", "models", "articles", "feeds"}
# What a slice offers beside its roles, on purpose. A new line here is a decision, and wants a reason.
OFFERED_MODULES = {
    # The frame of the reader's pages, its left pane, and what others add to an article.
    *("reading.access", "reading.panes", "reading.pages", "reading.extensions", "reading.sidebar"),
    # Entries as one person sees them.
    "reading.store",
    # One rate limit per host, whoever asks.
    "ingest.fetcher",
    # Statements about vectors that lists are sorted by.
    "search.similarity",
    # Telling of articles is part of the transaction in which they become findable.
    "following.telling",
    # Tables of contexts and links, which cards and research read in their own statements.
    "context.store",
}


@cache
def imports_between_slices() -> list[tuple[str, str]]:
    return list(_imports())


def _imports() -> Iterator[tuple[str, str]]:
    """Pairs of modules, without the package's name: who imports, and what."""
    for file in sorted(CURATOR.rglob("*.py")):
        own = file.relative_to(CURATOR).with_suffix("").parts
        # Joining parts is all that wiring does.
        if len(own) < 2 or own[-1] == "wiring":
            continue
        for found in ast.walk(ast.parse(file.read_text())):
            if isinstance(found, ast.ImportFrom) and (found.module or "").startswith("pressbox.curator."):
                other = str(found.module).split(".")[2:]
                if (CURATOR / other[0]).is_dir() and other[0] != own[0]:
                    yield ".".join(own), ".".join(other)


def test_slices_use_only_what_others_offer() -> None:
    assert [pair for pair in imports_between_slices() if not _is_offered(pair[1])] == []


def test_nothing_is_offered_that_nobody_uses() -> None:
    used = {other for _, other in imports_between_slices()}
    assert sorted(module for module in OFFERED_MODULES if module not in used) == []


def _is_offered(module: str) -> bool:
    area, role, *_ = module.split(".")
    return area in GROUND or role in OFFERED_ROLES or f"{area}.{role}" in OFFERED_MODULES
