"""Every regular expression of the package, and texts that make a bad one slow.

As a program it tries them all, each in a child whose processor time is limited, and prints those that ran out of it.
"""

import ast
import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from tests.architecture.source import modules, read

LENGTH = 10_000
# In seconds of processor time. A linear pattern mostly takes less than a thousandth; whatever takes more gets a text
# that is ten times as long. A linear one takes ten times as long for that, a quadratic one a hundred times.
SUSPICIOUS = 0.00125
LONGER = 10
MOST_GROWTH = 30
# Beside others a processor is now faster, now slower: what is linear grows little at least once.
LOOKS = 5
SECONDS = 1.0
# Of a text that is cut, nothing longer is tried.
LONGEST_OF_BOUNDED = 0.02
# As often as the text allows, from wherever the one before ended.
_EVERYWHERE = "finditer"
_METHODS = {
    **{name: name for name in ("match", "fullmatch", "search")},
    **dict.fromkeys(("finditer", "findall", "sub", "subn", "split"), _EVERYWHERE),
}
# What `eval` of a pattern cannot know stands in a function: it is put together anew for each call.
_UNKNOWN = (NameError, AttributeError, TypeError, KeyError)
# They read what we wrote ourselves, and the simulated world of demo and benches has no strangers.
_OWN = ("migrations/", "__main__.py", "bench/", "demo/", "core/web/assets.py", "core/web/pages/temporal.py")
# How long the text may be at most, where it is cut before.
BOUNDED = {
    "curator/articles/domain.py:_SIGNS": 2_500,
    "curator/context/candidates.py:_BEGINNING": 12,
    "curator/feeds/dates.py:_YEAR_FIRST": 100,
    "curator/feeds/dates.py:_NUMBERS": 100,
    "curator/feeds/dates.py:_WORDS": 100,
    "curator/feeds/dates.py:_MONTH_FIRST": 100,
    "curator/feeds/xml_feed.py:_NAME_IN_BRACKETS": 300,
    "curator/feeds/xml_feed.py:_NAME_BEFORE_ADDRESS": 300,
}


@dataclass(frozen=True)
class Use:
    """A pattern, where it stands, and how it is asked."""

    place: str
    pattern: re.Pattern[Any]
    method: str

    def run(self, text: str) -> None:
        asked = text.encode("utf-8", "replace") if isinstance(self.pattern.pattern, bytes) else text
        found = getattr(self.pattern, self.method)(asked)
        if self.method == _EVERYWHERE:
            for _ in found:
                pass


def find_uses() -> list[Use]:
    files = {name: file for name, file in modules() if not name.startswith(_OWN)}
    trees = {name: ast.parse(read(file)) for name, file in files.items() if _may_use_patterns(read(file))}
    asked = {name: _find_methods(tree) for name, tree in trees.items()}
    uses: dict[tuple[str, str, int, str], Use] = {}
    for name, tree in trees.items():
        module = import_module("pressbox." + name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
        own = {target for target, _ in _assigned(tree)}
        for variable, pattern in _patterns_of(module, own):
            everywhere = asked.values() if not variable.startswith("_") else [asked[name]]
            methods = set().union(*(found.get(variable, ()) for found in everywhere)) or {_EVERYWHERE}
            for method in methods:
                use = Use(f"{name}:{variable}", pattern, method)
                uses[use.place, str(pattern.pattern), pattern.flags, method] = use
        for use in _inline(name, tree, module):
            uses[use.place, str(use.pattern.pattern), use.pattern.flags, use.method] = use
    return list(uses.values())


def _may_use_patterns(text: str) -> bool:
    return "re." in text


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _patterns_of(module: ModuleType, names: set[str]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name in sorted(names):
        for pattern in _inside(getattr(module, name, None)):
            yield name, pattern


def _inside(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _inside(one)
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _inside(one)


def _find_methods(tree: ast.Module) -> dict[str, set[str]]:
    """How each name is asked. One that is handed on may be asked in any way."""
    found: dict[str, set[str]] = {}
    known: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            base = node.value
            name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            if node.attr in _METHODS:
                found.setdefault(name, set()).add(_METHODS[node.attr])
            known.add(id(base))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in known:
            found.setdefault(node.id, set()).add(_EVERYWHERE)
    return found


def _inline(name: str, tree: ast.Module, module: ModuleType) -> Iterator[Use]:
    """Patterns that stand where they are used."""
    flags_at = {"sub": 4, "subn": 4, "split": 3}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value) != "re" or node.func.attr not in {*_METHODS, "compile"} or not node.args:
            continue
        method = _METHODS.get(node.func.attr, _EVERYWHERE)
        flags = next((keyword.value for keyword in node.keywords if keyword.arg == "flags"), None)
        place = flags_at.get(node.func.attr, 1 if node.func.attr == "compile" else 2)
        flags = flags or (node.args[place] if len(node.args) > place else ast.Constant(0))
        if node.func.attr == "compile" and any(node is value or _holds(value, node) for _, value in _assigned(tree)):
            continue
        try:
            pattern = re.compile(_evaluate(node.args[0], module), _evaluate(flags, module))
        except _UNKNOWN:
            continue
        yield Use(f"{name}:{ast.unparse(node.args[0])}", pattern, method)


def _holds(value: ast.expr, node: ast.AST) -> bool:
    return any(one is node for one in ast.walk(value))


def _evaluate(node: ast.expr, module: ModuleType) -> Any:
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "pattern", "eval")
    return eval(code, dict(vars(module)))


# Texts that make a pattern try again and again.

_CATEGORIES = {
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_WORD: "aA1",
    sre.CATEGORY_NOT_SPACE: "a1<",
    sre.CATEGORY_NOT_DIGIT: "a <",
    sre.CATEGORY_NOT_WORD: " -<",
}
_USUAL = (" ", "\n", "1", "a", "A", "<", "a ", "1 ", "1.", "- ", "[", '"', "a.", "\u3042")
# One that few patterns want, and one that a text without an end has.
_TAILS = ("\x00", "")
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_OFTEN = 50
_MOST_PLACES = 300


@dataclass(frozen=True)
class Attack:
    before: str
    unit: str
    tail: str

    def text(self, length: int) -> str:
        return self.before + self.unit * (length // len(self.unit)) + self.tail


def find_attacks(pattern: re.Pattern[Any]) -> Iterator[Attack]:
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = _parser.parse(source, pattern.flags & ~re.UNICODE)
    units, begins = [*_USUAL], []
    for before, part in islice(_walk(list(tree), ""), _MOST_PLACES):
        units.append(part or before)
        if before and part:
            begins.append((before, part))
    for unit in dict.fromkeys(filter(None, units)):
        yield from (Attack("", unit, tail) for tail in _TAILS)
    for before, unit in dict.fromkeys(begins):
        yield from (Attack(before, unit, tail) for tail in _TAILS)


def _walk(nodes: list[Any], before: str) -> Iterator[tuple[str, str | None]]:
    """What may stand before each part and, for a part that may be repeated, what it repeats."""
    for operation, argument in nodes:
        inner = _inner(operation, argument)
        if operation in _REPEATS and argument[1] >= _OFTEN:
            yield before, None
            for unit in _samples(inner[0]):
                yield before, unit
        for one in inner:
            yield from _walk(one, before)
        before += _sample([(operation, argument)])
        if operation is not sre.LITERAL:
            yield before, None


def _inner(operation: Any, argument: Any) -> list[list[Any]]:
    """What a part consists of; of a choice, each way."""
    if operation in _REPEATS:
        return [list(argument[2])]
    if operation is sre.SUBPATTERN:
        return [list(argument[3])]
    if operation is sre.ATOMIC_GROUP:
        return [list(argument)]
    return [list(branch) for branch in argument[1]] if operation is sre.BRANCH else []


def _samples(nodes: list[Any]) -> list[str]:
    """A few short texts that these match."""
    operation, argument = nodes[0] if len(nodes) == 1 else (None, [])
    if operation is sre.IN:
        return list(_members(argument))
    if operation is sre.ANY:
        return ["a", " ", "1"]
    if operation in (sre.BRANCH, sre.SUBPATTERN):
        return [text for one in _inner(operation, argument) for text in _samples(one)]
    return [_sample(nodes)]


def _sample(nodes: list[Any]) -> str:
    return "".join(_one_sample(operation, argument) for operation, argument in nodes)


def _one_sample(operation: Any, argument: Any) -> str:
    if operation is sre.LITERAL:
        return chr(argument)
    if operation is sre.NOT_LITERAL:
        return "a" if argument != ord("a") else "b"
    if operation is sre.ANY:
        return "a"
    if operation is sre.IN:
        return _members(argument)[:1]
    times = max(min(argument[0], 20), min(argument[1], 1)) if operation in _REPEATS else 1
    inner = _inner(operation, argument)
    return _sample(inner[0]) * times if inner else ""


def _members(argument: list[Any]) -> str:
    """A few characters of a set; of one that is negated, a few that are not in it."""
    named = ""
    for operation, value in argument:
        if operation is sre.LITERAL:
            named += chr(value)
        elif operation is sre.RANGE:
            named += chr(value[0]) + chr(value[1])
        elif operation is sre.CATEGORY:
            named += _CATEGORIES.get(value, "a")
    if argument[0][0] is not sre.NEGATE:
        return named if len(named) <= 6 else named[:3] + named[-3:]
    kept = [one for one in "a1 <-\n" if not _is_named(one, argument)]
    return "".join(kept) or "\u3042"


def _is_named(character: str, argument: list[Any]) -> bool:
    for operation, value in argument:
        if operation is sre.LITERAL and chr(value) == character:
            return True
        if operation is sre.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if operation is sre.CATEGORY and character in _CATEGORIES.get(value, ""):
            return True
    return False


def find_slow(use: Use) -> str:
    """The text that keeps it busy, in short; empty when none does."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _try_all(use, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        lines = told.read().decode().splitlines()
    _, status = os.waitpid(child, 0)
    if status == 0:
        return ""
    return lines[-1] if lines else f"it ended with {status}"


def _try_all(use: Use, writer: int) -> None:
    """End with an error when one takes too long, or be ended for it: a pattern at work hears no signal."""
    takes_long = _fills_its_time if use.place in BOUNDED else _grows
    for attack in find_attacks(use.pattern):
        os.write(writer, f"{attack}\n".encode())
        if all(takes_long(use, attack) for _ in range(LOOKS)):
            os._exit(1)
    os._exit(0)


def _grows(use: Use, attack: Attack) -> bool:
    spent = _spend(use, attack.text(LENGTH))
    return spent > SUSPICIOUS and _spend(use, attack.text(LONGER * LENGTH)) > MOST_GROWTH * spent


def _fills_its_time(use: Use, attack: Attack) -> bool:
    return _spend(use, attack.text(BOUNDED[use.place])) > LONGEST_OF_BOUNDED


def _spend(use: Use, text: str) -> float:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    begun = time.process_time()
    use.run(text)
    return time.process_time() - begun


BAD = (
    Use("bad", re.compile(r"\d[\d.,\u202f ]*(?:comments|points)\b"), "finditer"),
    Use("bad", re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*"), "fullmatch"),
    Use("bad", re.compile(r"\bhttps?://[^\s?]*\?"), "search"),
    Use("bad", re.compile(rb"<p>.*?</p>", re.DOTALL), "finditer"),
    Use("bad", re.compile(r"([a-z]+)+$"), "match"),
    Use("bad", re.compile(r"^#\s+(.*?)\s*#*$"), "match"),
)
GOOD = (
    Use("good", re.compile(r"\d[\d.,\u202f ]{0,20}+(?:comments|points)\b"), "finditer"),
    Use("good", re.compile(r"\s*+bytes\s*+=\s*+(\d*+)\s*+-\s*+(\d*+)\s*+"), "fullmatch"),
    Use("good", re.compile(r"(?<!\s)\s*+\["), "search"),
    Use("good", re.compile(r"[\W_]+"), "finditer"),
)

if __name__ == "__main__":
    for one in (*BAD, *GOOD) if "--samples" in sys.argv else find_uses():
        slow = find_slow(one)
        if slow:
            sys.stdout.write(f"{one.place}\t{one.method}\t{slow}\n")
            sys.stdout.flush()
