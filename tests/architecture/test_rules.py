"""Rules that linters cannot know. Each fails with the place to mend."""

import re
from collections.abc import Callable

import pytest

from tests.architecture.source import APPLICATIONS, ROOT, SOURCE, modules, names, read

FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "shared", "tools"}
LONGEST_WORKFLOW_FILE = 200
LONGEST_TEMPLATE_LINE = 160


def offenders(wrong: Callable[[str, str], bool]) -> list[str]:
    return [name for name, file in modules() if wrong(name, read(file))]


def is_workflow(name: str) -> bool:
    return "/workflows/" in name or name.endswith("/workflow.py")


def users(dotted: str, *allowed: str) -> list[str]:
    word = dotted.rpartition(".")[2]
    return [name for name, file in modules() if dotted in names(file, word) and not name.startswith(allowed)]


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    parts = {part.removesuffix(".py") for name, _ in modules() for part in name.split("/")}
    assert not parts & FORBIDDEN_NAMES


def test_every_package_file_is_empty() -> None:
    assert offenders(lambda name, text: name.endswith("__init__.py") and text.strip() != "") == []


def test_every_module_says_what_it_is_for() -> None:
    assert offenders(lambda name, text: not name.endswith("__init__.py") and not text.startswith('"""')) == []


def test_only_the_settings_read_the_environment() -> None:
    assert users("os.environ", "core/environment.py") == []
    assert users("os.getenv", "core/environment.py") == []


def test_only_the_core_database_commits() -> None:
    committing = [name for name, file in modules() if any("." in call for call in names(file, "commit"))]
    # The search index is no database: its commits are its own.
    allowed = ("core/db/", "migrations/", "curator/search/index/writer.py")
    assert [name for name in committing if not name.startswith(allowed)] == []


def test_only_one_module_connects_to_temporal() -> None:
    assert users("Client.connect", "core/temporal/client.py") == []


@pytest.mark.parametrize("application", APPLICATIONS)
def test_adapters_are_imported_only_where_processes_and_requests_come_in(application: str) -> None:
    entrances = ("adapters/", "wiring", "worker.py", "service/", "web/", "cli.py", "readiness.py")
    # What sends is used by the applications too, at the same places.
    users = APPLICATIONS if application == "delivery" else (application,)
    allowed = tuple(f"{user}/{entrance}" for user in users for entrance in entrances)
    pattern = re.compile(rf"^\s*(from|import) pressbox\.{application}\.adapters", re.MULTILINE)
    importing = [name for name, file in modules() if pattern.search(read(file)) and not name.startswith(allowed)]
    assert importing == []


def test_workflows_never_catch_everything() -> None:
    """A catch-all eats cancellation: the run would end as completed."""
    pattern = re.compile(r"except\s*(\(?\s*(Base)?Exception|:)")
    assert offenders(lambda name, text: is_workflow(name) and bool(pattern.search(text))) == []


def test_workflow_files_fit_in_the_head() -> None:
    assert offenders(lambda name, text: is_workflow(name) and text.count("\n") > LONGEST_WORKFLOW_FILE) == []


def test_workflows_never_sleep_for_nothing() -> None:
    assert offenders(lambda name, text: is_workflow(name) and "sleep(0)" in text) == []


def test_every_broad_except_has_its_reason_in_the_line_above() -> None:
    found = []
    for name, file in modules():
        lines = read(file).splitlines()
        for number, line in enumerate(lines):
            if re.search(r"except (Base)?Exception\b", line) and not lines[number - 1].strip().startswith("#"):
                found.append(f"{name}:{number + 1}")
    assert found == []


def test_no_machine_path_and_no_package_mirror_is_in_the_tree() -> None:
    pattern = re.compile(r"/(root|home|Users)/[a-z]")
    texts = [*SOURCE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "Makefile"]
    assert [str(file) for file in texts if pattern.search(read(file))] == []
    hosts = set(re.findall(r"https?://([^/\"]+)", (ROOT / "uv.lock").read_text()))
    assert hosts <= {"pypi.org", "files.pythonhosted.org"}


def test_lines_of_templates_are_read_without_scrolling() -> None:
    long = [
        f"{file.relative_to(SOURCE)}:{number}"
        for file in SOURCE.rglob("*.html")
        for number, line in enumerate(read(file).splitlines(), 1)
        if len(line) > LONGEST_TEMPLATE_LINE
    ]
    assert long == []


def test_code_and_templates_load_nothing_from_elsewhere() -> None:
    pattern = re.compile(r"(src|href)=\"https?://")
    assert [str(file) for file in SOURCE.rglob("*.html") if pattern.search(read(file))] == []
