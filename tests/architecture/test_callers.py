"""Everything in the product has a caller there: tests of its own go on calling what nothing else calls any more."""

import re
from collections.abc import Iterable, Iterator

from vulture import Vulture

from tests.architecture.source import ROOT, SOURCE, read

# Frameworks call these by their decorator.
DECORATORS = [
    *(f"@*.{method}" for method in ("get", "post", "put", "patch", "delete", "api_route", "websocket")),
    *(f"@*.{mark}" for mark in ("defn", "run", "signal", "query", "update", "init", "callback")),
    "@*.command*",
    "@*validator*",
    "@property",
]
# Frameworks call these by their name.
HOOKS = [
    *("downgrade", "do_*", "log_message", "intercept_*", "workflow_interceptor_class", "capture_signals"),
    *("list_commands", "get_command", "format_commands", "preprocess", "get_col_spec", "bind_processor"),
    # Ragas's models, httpcore's network.
    *("generate", "agenerate", "embed_text", "aembed_text", "aembed_texts", "connect_unix_socket"),
    # A table is there for its migration and for statements, whoever reads it through its class.
    "*Row",
]
# Why something stays that only tests call.
KEPT = {
    "build_app": "the application without a server, for its generated description",
    "every_fault": "plans the faults of a test beside those of the demo",
    "from_text": "the text form of a fingerprint is specified",
    "same_as": "compares fingerprints, whose arrays know no plain equality",
    "stop_tracing": "ends what lives as long as a process",
    "to_text": "the text form of a fingerprint is specified",
}
KINDS = ("function", "method", "class")
# Simulators and stories also serve the tests.
DEMO = SOURCE / "demo"
# What stands in strings: annotations of what is defined below, and factories by their path.
_QUOTED = re.compile(r""": "([\w |]+)"|pressbox[\w.]*:(\w+)""")


def test_everything_has_a_caller_in_the_product() -> None:
    product = Vulture(ignore_names=HOOKS, ignore_decorators=DECORATORS)
    product.scavenge([SOURCE])
    named = set(_words(file.read_text() for file in SOURCE.rglob("*.html")))
    for file in SOURCE.rglob("*.py"):
        named.update(*(_words(found) for found in _QUOTED.findall(read(file))))
    named_by_tests = named.union(_words(file.read_text() for file in (ROOT / "tests").rglob("*.py")))
    unused = {
        item.name: f"{item.filename.relative_to(ROOT)}:{item.first_lineno}"
        for item in product.get_unused_code()
        if item.typ in KINDS and item.name not in (named_by_tests if item.filename.is_relative_to(DEMO) else named)
    }
    assert {name: place for name, place in unused.items() if name not in KEPT} == {}
    assert KEPT.keys() <= unused.keys(), "has a caller by now"


def _words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from re.findall(r"\w+", text)
