"""Damaged and hostile input for every parser, the same in every run; `make soak` searches for longer."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.fuzz.targets import TARGETS, Target, load_seeds

# What fuzzing found once, and what it must never find again.
FOUND = [
    (
        "opml",
        b'<opml version="2.0"><body><outline type="rss" text="A" xmlUrl="https://a.example/f&nbsp;e&#x5;d"/></body></opml>',
    ),
    ("markup", b"<img src='a&#x1;b.png'><a name='&#2;' href='&#xD800;x'>x</a>"),
    ("model answer", b"[" * 100_000),
    ("clock", "²³:４５".encode()),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_parser_refuses_what_it_cannot_read_and_does_nothing_worse(
    target: Target, fuzz_seconds: int | None, tmp_path: Path
) -> None:
    runs = ("--runs", f"{target.runs}")
    bound = runs if fuzz_seconds is None else ("--seconds", f"{max(1, fuzz_seconds // len(TARGETS))}")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", target.name, *bound],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found = done.stderr.find("Uncaught Python exception")
    assert done.returncode == 0, done.stderr[max(found, 0) :][:6_000]
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    assert executed is not None
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"
    assert fuzz_seconds is not None or int(executed[1]) >= target.runs


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_no_seed_is_a_finding(target: Target) -> None:
    for content in load_seeds(target):
        read(target, content)


@pytest.mark.parametrize(("name", "content"), FOUND, ids=[name for name, _ in FOUND])
def test_what_was_found_stays_mended(name: str, content: bytes) -> None:
    read(next(target for target in TARGETS if target.name == name), content)


def read(target: Target, content: bytes) -> None:
    try:
        target.run(content)
    except target.refuses:
        return
