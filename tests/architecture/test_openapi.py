"""The API is a contract: what it takes and gives stays as it is until somebody means to change it.

`openapi.json` holds the document with every schema written out where it is used and without texts: a class may get a
better name, and a sentence better words, without a change for those who use the API.
`python -m tests.architecture.test_openapi` writes it anew, one operation to a line.
"""

import json
from pathlib import Path
from typing import Any

from pressbox.core.config import Settings
from pressbox.entry.web import build_app
from tests.conftest import TEST_KEY

SNAPSHOT = Path(__file__).parent / "openapi.json"
REFERENCE = "#/components/schemas/"
TEXTS = ("title", "description", "summary", "operationId")


def test_api_takes_and_gives_what_it_did(tmp_path: Path) -> None:
    assert describe_api(tmp_path) == json.loads(SNAPSHOT.read_text())


def describe_api(home: Path) -> dict[str, Any]:
    document = build_app(Settings(home=home, secret_key=TEST_KEY)).openapi()
    schemas = document["components"]["schemas"]
    return {
        f"{method.upper()} {path}": _write_out(operation, schemas, ())
        for path, methods in sorted(document["paths"].items())
        for method, operation in sorted(methods.items())
    }


def _write_out(node: Any, schemas: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_write_out(item, schemas, inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].removeprefix(REFERENCE)
        # A schema that holds itself is written out once.
        return {"again": True} if name in inside else _write_out(schemas[name], schemas, (*inside, name))
    return {
        key: _write_out(value, schemas, inside)
        for key, value in sorted(node.items())
        # A field may be called `title`; its schema is no string.
        if key not in TEXTS or not isinstance(value, str)
    }


if __name__ == "__main__":
    lines = [
        f"{json.dumps(name)}: {json.dumps(operation, sort_keys=True)}"
        for name, operation in describe_api(Path("/nonexistent")).items()
    ]
    SNAPSHOT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
