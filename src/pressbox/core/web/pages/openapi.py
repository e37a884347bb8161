"""An OpenAPI document as a reader wants it: operations by group, types in words, an example to paste."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
# An example nested deeper than this no longer helps.
EXAMPLE_DEPTH = 4


@dataclass(frozen=True)
class Value:
    """A parameter or a property: its name, where it goes, its type in words."""

    name: str
    place: str
    type: str
    required: bool
    description: str


@dataclass(frozen=True)
class Answer:
    status: str
    type: str
    description: str


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Value, ...]
    body: str
    answers: tuple[Answer, ...]
    curl: str

    @property
    def anchor(self) -> str:
        return f"{self.method}{self.path}".replace("/", "-").replace("{", "").replace("}", "").lower()


@dataclass(frozen=True)
class SchemaText:
    name: str
    description: str
    choices: str
    properties: tuple[Value, ...]


@dataclass(frozen=True)
class Group:
    name: str
    operations: tuple[Operation, ...]


def read_groups(document: Document, base_url: str) -> tuple[Group, ...]:
    """The operations, grouped by their first tag, in the order of their paths."""
    groups: dict[str, list[Operation]] = {}
    for path, item in sorted(document.get("paths", {}).items()):
        for method in METHODS:
            if method in item:
                groups.setdefault(_tag(item[method]), []).append(
                    _operation(document, base_url, method, path, item[method])
                )
    return tuple(Group(name, tuple(operations)) for name, operations in sorted(groups.items()))


def read_schemas(document: Document, group: str) -> tuple[SchemaText, ...]:
    """The shapes that the operations of a group mention, and those that these mention."""
    known = _schemas(document)
    items = [item[method] for item in document.get("paths", {}).values() for method in METHODS if method in item]
    waiting = [name for item in items if _tag(item) == group for name in _find_references(item)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found.add(name)
            waiting.extend(_find_references(known[name]))
    return tuple(_schema(name, known[name]) for name in sorted(found))


def _find_references(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield _name(part["$ref"])
        for value in part.values():
            yield from _find_references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _find_references(value)


def _tag(item: Mapping[str, Any]) -> str:
    return str((item.get("tags") or ["other"])[0])


def type_in_words(schema: Mapping[str, Any]) -> str:
    """`list of Token`, `text or null`, `one of "read", "write"`."""
    if "$ref" in schema:
        return _name(schema["$ref"])
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(value) for value in schema["enum"])
    for combined in ("anyOf", "oneOf", "allOf"):
        if combined in schema:
            return " or ".join(dict.fromkeys(type_in_words(part) for part in schema[combined]))
    return _plain_type(schema)


def _plain_type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {type_in_words(schema.get('items', {}))}"
    if kind == "string":
        return {"date-time": "time", "uuid": "UUID", "binary": "file"}.get(schema.get("format", ""), "text")
    return {"integer": "whole number", "boolean": "true or false"}.get(kind, str(kind))


def _operation(document: Document, base_url: str, method: str, path: str, item: Mapping[str, Any]) -> Operation:
    body = _content_schema(item.get("requestBody", {}))
    return Operation(
        method=method.upper(),
        path=path,
        summary=item.get("summary", ""),
        description=item.get("description", ""),
        parameters=tuple(_parameter(parameter) for parameter in item.get("parameters", ())),
        body=type_in_words(body) if body is not None else "",
        answers=tuple(_answers(item)),
        curl=_curl(document, base_url, method, path, body),
    )


def _parameter(parameter: Mapping[str, Any]) -> Value:
    schema = parameter.get("schema", {})
    description = parameter.get("description", "") or schema.get("description", "")
    return Value(
        parameter["name"], parameter["in"], type_in_words(schema), parameter.get("required", False), description
    )


def _answers(item: Mapping[str, Any]) -> Iterator[Answer]:
    for status, answer in item.get("responses", {}).items():
        schema = _content_schema(answer)
        yield Answer(status, type_in_words(schema) if schema else "", answer.get("description", ""))


def _content_schema(holder: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for content in holder.get("content", {}).values():
        schema: Mapping[str, Any] = content.get("schema", {})
        return schema
    return None


def _schema(name: str, schema: Mapping[str, Any]) -> SchemaText:
    required = set(schema.get("required", ()))
    properties = tuple(
        Value(key, "", type_in_words(value), key in required, value.get("description", ""))
        for key, value in schema.get("properties", {}).items()
    )
    return SchemaText(
        name, schema.get("description", ""), type_in_words(schema) if "enum" in schema else "", properties
    )


def _curl(document: Document, base_url: str, method: str, path: str, body: Mapping[str, Any] | None) -> str:
    words = ["curl", "-H 'Authorization: Bearer pbx_…'"]
    if method != "get":
        words.append(f"-X {method.upper()}")
    if body is not None:
        example = json.dumps(_example(document, body), ensure_ascii=False)
        words += ["-H 'Content-Type: application/json'", f"-d '{example}'"]
    return " ".join([*words, f"'{base_url}{path}'"])


def _example(document: Document, schema: Mapping[str, Any], depth: int = 0) -> object:
    if depth > EXAMPLE_DEPTH:
        return None
    if "$ref" in schema:
        return _example(document, _schemas(document).get(_name(schema["$ref"]), {}), depth + 1)
    for known in ("default", "example", "const"):
        if schema.get(known) is not None:
            return schema[known]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("anyOf"):
        return _example(document, schema["anyOf"][0], depth + 1)
    return _example_of_type(document, schema, depth)


def _example_of_type(document: Document, schema: Mapping[str, Any], depth: int) -> object:
    match schema.get("type"):
        case "object":
            return {key: _example(document, value, depth + 1) for key, value in schema.get("properties", {}).items()}
        case "array":
            return [_example(document, schema.get("items", {}), depth + 1)]
        case "integer" | "number":
            return 1
        case "boolean":
            return True
    return {"date-time": "2026-11-15T15:04:00Z", "email": "you@example.org"}.get(schema.get("format", ""), "…")


def _schemas(document: Document) -> Mapping[str, Mapping[str, Any]]:
    schemas: Mapping[str, Mapping[str, Any]] = document.get("components", {}).get("schemas", {})
    return schemas


def _name(reference: str) -> str:
    return reference.rsplit("/", 1)[-1]
