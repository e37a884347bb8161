"""An ordinary command answers at once: it loads what it uses, and of everything else nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TEST_KEY, Parts

PROGRAM = """
import json, os, sys
before = set(sys.modules)
from pressbox.entry.cli import cli
try:
    cli(sys.argv[1:])
except SystemExit as ended:
    # The doctor ends with 1 when a part is away, and here no worker runs.
    assert not ended.code or sys.argv[1] == "doctor", ended.code
json.dump(sorted(set(sys.modules) - before), sys.stderr)
# As the program itself ends (entry/cli.py): the threads of Temporal's library may abort a Python that is taken down.
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""
# Command line, settings, logs, database, Temporal's client, sealed settings, objects.
ALWAYS = {
    "annotated_doc",
    "annotated_types",
    "attr",
    "cryptography",
    "cython_runtime",
    "dotenv",
    "google",
    "greenlet",
    "nexusrpc",
    "obstore",
    "platformdirs",
    "pressbox",
    "psycopg",
    "psycopg_binary",
    "pydantic",
    "pydantic_core",
    "pygments",
    "rich",
    "shellingham",
    "sqlalchemy",
    "structlog",
    "temporalio",
    "typer",
    "typing_extensions",
    "typing_inspection",
}
ACCOUNTS = {"argon2"}
# What else a command may import.
COMMANDS = {
    "user list": ACCOUNTS,
    "schedules list": set(),
    "footy fixtures": set(),
    "feeds list": {"pgvector"},
    # Events come with the services that send messages, and those know how to speak HTTP.
    "soonish events": ACCOUNTS
    | {
        "anyio",
        "babel",
        "brotli",
        "certifi",
        "click",
        "h11",
        "h2",
        "hpack",
        "httpcore",
        "httpx",
        "hyperframe",
        "idna",
        "markupsafe",
        "pytz",
    }
    | {"zstandard"},
}
NEVER = ("temporalio.worker", "fastapi", "starlette", "alembic", "apprise", "webauthn", "joserfc", "tantivy", "numpy")


def imported_by(command: str, parts: Parts, database_url: str, home: Path) -> list[str]:
    settings = {
        "PRESSBOX_HOME": str(home),
        "PRESSBOX_DATABASE_URL": database_url,
        "PRESSBOX_TEMPORAL_ADDRESS": parts.temporal_address,
        "PRESSBOX_SECRET_KEY": TEST_KEY.get_secret_value(),
    }
    line = [sys.executable, "-c", PROGRAM, *command.split()]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=os.environ | settings)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_only_what_it_uses(command: str, parts: Parts, database_url: str, tmp_path: Path) -> None:
    modules = imported_by(command, parts, database_url, tmp_path)
    packages = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    assert {name for name in packages if not name.startswith("_")} - ALWAYS - COMMANDS[command] == set()
    assert [name for name in modules if name.startswith(NEVER)] == []


def test_the_doctor_asks_every_part_without_loading_what_carries_out_work(
    parts: Parts, database_url: str, tmp_path: Path
) -> None:
    modules = imported_by("doctor --json", parts, database_url, tmp_path)
    spared = tuple(name for name in NEVER if name not in ("tantivy", "temporalio.worker"))
    assert [name for name in modules if name.startswith((*spared, "httpx"))] == []
    assert "pressbox.curator.slices" not in modules
