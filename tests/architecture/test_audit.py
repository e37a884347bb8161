"""The audit of dependencies refuses what it is there to refuse, and passes for what is locked and installed."""

from email.message import Message

import pytest

from tests.architecture.audit import audit_licences, audit_lock, is_permitted, main

GOOD = {"url": "https://files.pythonhosted.org/packages/a.whl", "hash": "sha256:00"}
PYPI = {"registry": "https://pypi.org/simple"}


def package(name: str, **fields: str) -> Message:
    metadata = Message()
    metadata["Name"] = name
    for field, value in fields.items():
        metadata[field.replace("_", "-")] = value
    return metadata


def test_what_is_locked_and_installed_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("locked", "fault"),
    [
        ({"source": {"git": "https://example.org/a.git"}}, "comes from"),
        ({"source": {"registry": "https://mirror.example.org/simple"}, "wheels": [GOOD]}, "comes from"),
        ({"source": PYPI}, "has no file"),
        ({"source": PYPI, "wheels": [{"url": GOOD["url"]}]}, "has no hash"),
        ({"source": PYPI, "wheels": [GOOD], "sdist": {**GOOD, "url": "https://example.org/a.tar.gz"}}, "is downloaded"),
    ],
)
def test_a_package_from_elsewhere_or_without_a_hash_is_found(locked: dict[str, object], fault: str) -> None:
    (finding,) = audit_lock({"package": [{"name": "a", **locked}]})
    assert fault in str(finding)


@pytest.mark.parametrize(
    "licence",
    [
        "MIT",
        "Apache-2.0 OR GPL-3.0-only",
        "MPL-2.0 AND (Apache-2.0 OR MIT)",
        "Apache Software License",
        "PSF-2.0 AND MIT",
    ],
)
def test_a_licence_with_a_permitted_side_passes(licence: str) -> None:
    assert is_permitted(licence)


@pytest.mark.parametrize(
    "licence",
    ["GPL-3.0-only", "AGPL-3.0-or-later", "MIT AND SSPL-1.0", "(MIT AND GPL-2.0-only) OR BUSL-1.1", "Proprietary"],
)
def test_a_licence_that_binds_our_users_is_refused(licence: str) -> None:
    assert not is_permitted(licence)


def test_licences_are_read_from_expression_classifier_or_the_old_field() -> None:
    silent = package("silent", Classifier="License :: OSI Approved")
    permitted = [
        package("new", License_Expression="MIT"),
        package("older", Classifier="License :: OSI Approved :: MIT License"),
        package("oldest", License="Apache License 2.0\n\nlong text"),
    ]
    assert [finding.package for finding in audit_licences([silent, *permitted])] == ["silent"]
