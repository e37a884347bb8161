"""Renders the kustomizations of deploy/ as far as they go: what is not known here is refused, not passed over."""

import copy
import re
from pathlib import Path
from typing import Any

import yaml

# What a YAML file holds; the schemas give it its shape.
Node = dict[str, Any]
KNOWN = {
    *("apiVersion", "kind", "namespace", "resources", "components"),
    *("configMapGenerator", "images", "replicas", "patches"),
}


def render(folder: Path) -> list[Node]:
    """The objects of a kustomization, with its components, generators and patches."""
    file: Node = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert file.keys() <= KNOWN, f"{folder}: {file.keys() - KNOWN} is not known to this renderer"
    objects = [item for name in file.get("resources", ()) for item in _resource(folder / name)]
    for generator in file.get("configMapGenerator", ()):
        _generate(folder, generator, objects)
    for name in file.get("components", ()):
        component: Node = yaml.safe_load((folder / name / "kustomization.yaml").read_text())
        assert component.pop("kind") == "Component"
        assert component.keys() <= {"apiVersion", "resources", "patches"}
        objects += [item for resource in component["resources"] for item in _resource(folder / name / resource)]
        _patch_all(objects, component.get("patches", ()))
    for image in file.get("images", ()):
        _name_images(objects, image)
    for wanted in file.get("replicas", ()):
        (found,) = _named(objects, "Deployment", wanted["name"])
        found["spec"]["replicas"] = wanted["count"]
    _patch_all(objects, file.get("patches", ()))
    return objects


def _resource(path: Path) -> list[Node]:
    if path.is_dir():
        return render(path)
    # Anchors make one object of two places; a patch must change one of them.
    return [copy.deepcopy(item) for item in yaml.safe_load_all(path.read_text())]


def _generate(folder: Path, generator: Node, objects: list[Node]) -> None:
    assert generator.keys() <= {"name", "envs", "literals", "behavior"}
    lines = [line for name in generator.get("envs", ()) for line in (folder / name).read_text().splitlines()]
    lines += generator.get("literals", ())
    values = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    if generator.get("behavior") == "merge":
        (found,) = _named(objects, "ConfigMap", generator["name"])
        found["data"].update(values)
        return
    metadata = {"name": generator["name"], "namespace": "pressbox"}
    objects.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": values})


def _name_images(objects: list[Node], image: Node) -> None:
    def visit(node: object) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("image"), str) and node["image"].split(":")[0] == image["name"]:
                node["image"] = f"{image['newName']}:{image['newTag']}"
            for value in node.values():
                visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)

    visit(objects)


def _named(objects: list[Node], kind: str, name: str | None) -> list[Node]:
    return [item for item in objects if item["kind"] == kind and name in (None, item["metadata"]["name"])]


def _patch_all(objects: list[Node], patches: list[Node]) -> None:
    for patch in patches:
        assert patch["target"].keys() <= {"kind", "name"}
        found = _named(objects, patch["target"]["kind"], patch["target"].get("name"))
        assert found, f"{patch['target']} is not there"
        for item in found:
            for step in yaml.safe_load(patch["patch"]):
                _apply(item, step)


def _apply(item: Node, step: Node) -> None:
    """One operation of a JSON patch."""
    *way, last = [re.sub("~1", "/", part) for part in step["path"].split("/")[1:]]
    place: Any = item
    for part in way:
        place = place[int(part)] if isinstance(place, list) else place[part]
    value = copy.deepcopy(step["value"])
    if step["op"] == "add" and last == "-":
        place.append(value)
    else:
        assert step["op"] == "replace", f"{step['op']} is not known to this renderer"
        assert last in place, f"{step['path']} is not there"
        place[last] = value
