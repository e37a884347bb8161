"""Documentation that comes from the code says what the code says."""

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.generated_docs import DOCS, PAGES
from tests.architecture.source import ROOT

WRITTEN = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])


@pytest.mark.parametrize("name", PAGES)
def test_generated_page_is_true(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run `make docs` and commit what it writes"


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.name)
def test_links_inside_the_repository_lead_somewhere(file: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#|mailto:)([^)#]+)", file.read_text())
    assert [target for target in targets if not (file.parent / target).exists()] == []


@pytest.mark.parametrize("file", sorted(DOCS.rglob("*.md")), ids=lambda file: file.name)
def test_paths_that_a_page_names_exist(file: Path) -> None:
    """A test that is named without its folder is in the one that was named before it."""
    folder, missing = ROOT, []
    for name in re.findall(r"`((?:(?:tests|src|docs|deploy)/[\w./-]+)|test_\w+\.py)`", file.read_text()):
        path = ROOT / name if "/" in name else folder / name
        folder = path.parent
        if not path.exists():
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.name)
def test_python_blocks_compile(file: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", file.read_text(), re.DOTALL):
        ast.parse(block)


def test_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make up" in text
    assert "make test" in text
