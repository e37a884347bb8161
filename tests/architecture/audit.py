"""The audit of what we depend on: its origin and its licence. `make check` runs it; it needs no network.

Known vulnerabilities change without us and need the network: `make audit` asks for those.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import distributions
from typing import Any, cast

from tests.architecture.source import ROOT

REGISTRY = "https://pypi.org/simple"
FILES = "https://files.pythonhosted.org/"
OURSELVES = "pressbox"

# Licences that let anybody run, change and pass on Pressbox. Those that ask for changes to be published (MPL, LGPL)
# ask it for their own files only, and we use the packages unchanged.
PERMITTED = {
    "0bsd",
    "apache-2.0",
    "bsd-2-clause",
    "bsd-3-clause",
    "cc0-1.0",
    "cnri-python",
    "isc",
    "lgpl-2.1-or-later",
    "lgpl-3.0-only",
    "mit",
    "mit-0",
    "mit-cmu",
    "mpl-2.0",
    "psf-2.0",
    "unlicense",
    "zlib",
}
# What older packages write instead of the short name.
WORDS = {
    "3-clause bsd license": "bsd-3-clause",
    "apache": "apache-2.0",
    "apache license": "apache-2.0",
    "apache license 2.0": "apache-2.0",
    "apache software license": "apache-2.0",
    "bsd license": "bsd-3-clause",
    "isc license (iscl)": "isc",
    "mit license": "mit",
    "mozilla public license 2.0 (mpl 2.0)": "mpl-2.0",
    "python software foundation license": "psf-2.0",
    "the unlicense (unlicense)": "unlicense",
    "zero-clause bsd (0bsd)": "0bsd",
}
# Their metadata say nothing that a program can read; a person read the licence file in the package.
READ_BY_HAND = {
    "atheris": "apache-2.0",
    "axe-playwright-python": "mit",
    "py-rust-stemmers": "mit",
}
_NO_LICENCE = {"osi approved", "dfsg approved"}


@dataclass(frozen=True)
class Finding:
    package: str
    fault: str

    def __str__(self) -> str:
        return f"{self.package}: {self.fault}"


def audit_lock(lock: Mapping[str, Any]) -> Iterator[Finding]:
    """Every package comes from the public registry, and every file of it has a hash."""
    for package in cast("list[dict[str, Any]]", lock["package"]):
        name, source = package["name"], package["source"]
        if name == OURSELVES:
            continue
        if source != {"registry": REGISTRY}:
            yield Finding(name, f"comes from {source}, not from the public registry")
            continue
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]
        if not files:
            yield Finding(name, "has no file in the lock")
        for file in files:
            if not str(file.get("hash", "")).startswith("sha256:"):
                yield Finding(name, f"has no hash for {file['url']}")
            if not str(file["url"]).startswith(FILES):
                yield Finding(name, f"is downloaded from {file['url']}")


def audit_licences(packages: Iterable[Message]) -> Iterator[Finding]:
    """Every installed package has a licence that is permitted here."""
    for metadata in packages:
        name = re.sub(r"[-_.]+", "-", metadata["Name"]).lower()
        if name == OURSELVES:
            continue
        licence = READ_BY_HAND.get(name) or declared_licence(metadata)
        if not licence:
            yield Finding(name, "declares no licence; read it, then name it in READ_BY_HAND")
        elif not is_permitted(licence):
            yield Finding(name, f"has the licence “{licence}”, which is not among those permitted")


def declared_licence(metadata: Message) -> str:
    """The licence expression, else the classifiers, else the first line of the old field."""
    expression = metadata.get("License-Expression")
    if expression:
        return str(expression)
    classifiers = [
        str(line).rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier", ())
        if str(line).startswith("License ::")
    ]
    named = [name for name in classifiers if name.lower() not in _NO_LICENCE]
    # A package with several classifiers may be used under any of them.
    return " OR ".join(named) or str(metadata.get("License") or "").partition("\n")[0].strip()


def is_permitted(licence: str) -> bool:
    """Whether one side of every OR, and all sides of every AND, are permitted."""
    plain = licence.lower().strip()
    if WORDS.get(plain, plain) in PERMITTED:
        return True
    for word, combine in ((" or ", any), (" and ", all)):
        parts = split_outside_brackets(plain, word)
        if len(parts) > 1:
            return combine(is_permitted(part) for part in parts)
    return plain.startswith("(") and plain.endswith(")") and is_permitted(plain[1:-1])


def split_outside_brackets(text: str, word: str) -> list[str]:
    parts, depth = [""], 0
    index = 0
    while index < len(text):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0 and text.startswith(word, index):
            parts.append("")
            index += len(word)
            continue
        parts[-1] += text[index]
        index += 1
    return parts


def main() -> int:
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    installed = [cast(Message, distribution.metadata) for distribution in distributions()]
    findings = [*audit_lock(lock), *audit_licences(installed)]
    for finding in findings:
        sys.stderr.write(f"{finding}\n")
    sys.stdout.write(
        f"{len(lock['package'])} locked and {len(installed)} installed packages, {len(findings)} findings.\n"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
