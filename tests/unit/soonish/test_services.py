"""Services to choose from: their fields become Apprise addresses that Apprise understands."""

from collections.abc import Sequence

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.languages import read_catalogs
from pressbox.delivery.domain.services import APPRISE, EMAIL, SENTENCES, SERVICES, build_address

TOKEN = "123456789:AAEabcdefghijklmnopqrstuvwxyz01234-_"
SLACK = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
DISCORD = "https://discord.com/api/webhooks/4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"
GOOD = [
    ("ntfy", ("my-topic", ""), "ntfys://ntfy.sh/my-topic"),
    ("ntfy", ("my-topic", "http://push.example.org:8080/"), "ntfy://push.example.org:8080/my-topic"),
    ("telegram", (TOKEN, "-10012345"), f"tgram://{TOKEN}/-10012345"),
    ("slack", (SLACK,), "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"),
    ("discord", (DISCORD,), "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"),
    (
        "matrix",
        ("matrix.example.org", "syt_a/b", "!abc:example.org"),
        "matrixs://syt_a%2Fb@matrix.example.org/%21abc%3Aexample.org",
    ),
    ("gotify", ("https://push.example.org", "Abc.1234567890x"), "gotifys://push.example.org/Abc.1234567890x"),
    (
        "pushover",
        ("uQiRzpo4DXghDmr9QzzfQu27cmVRsG", "azGDORePK8gMaC0QOYAMyEEuzJnyUi"),
        "pover://uQiRzpo4DXghDmr9QzzfQu27cmVRsG@azGDORePK8gMaC0QOYAMyEEuzJnyUi",
    ),
    ("webhook", ("https://example.org/hook?key=1",), "jsons://example.org/hook?key=1"),
]


@pytest.mark.parametrize(("service", "values", "address"), GOOD)
def test_what_was_filled_in_becomes_an_address(service: str, values: Sequence[str], address: str) -> None:
    assert build_address(service, values) == address


def test_every_service_with_fields_was_tried() -> None:
    assert {service for service, _, _ in GOOD} == set(SERVICES) - {EMAIL, APPRISE}


@pytest.mark.parametrize(
    ("service", "values", "field"),
    [
        ("ntfy", ("", ""), "one"),
        ("ntfy", ("my topic?email=a@example.org", ""), "one"),
        ("ntfy", ("my-topic", "ftp://example.org"), "two"),
        ("telegram", ("nonsense", "1"), "one"),
        ("telegram", (TOKEN, "somebody"), "two"),
        ("slack", ("https://example.org/services/A/B/C",), "one"),
        ("discord", ("https://example.org/api/webhooks/1/a",), "one"),
        ("matrix", ("matrix.example.org", "token", "room"), "three"),
        ("webhook", ("javascript://x",), "one"),
        ("apprise", (), "service"),
        ("unknown", (), "service"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(service: str, values: Sequence[str], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        build_address(service, values)
    assert caught.value.field == field


def test_labels_and_hints_are_there_in_german() -> None:
    known = {
        entry.id
        for package in ("pressbox.core.web", "pressbox.soonish")
        for catalog in read_catalogs(package, "de")
        for entry in catalog
        if entry.string
    }
    assert set(SENTENCES) - known == set()
