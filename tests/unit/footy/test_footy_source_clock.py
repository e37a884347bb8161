"""The time on the answers of a source is compared with ours, without a request of its own."""

from datetime import UTC, datetime

import pytest

from pressbox.footy.adapters.sources.client import SourceClient, SourceModel
from tests.fakes.recorded_http import Recorded, client_of

NOON = datetime(2026, 11, 14, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "ahead"),
    [
        ({"date": "Sat, 14 Nov 2026 12:00:01 GMT"}, 0.0),
        ({"date": "Sat, 14 Nov 2026 11:56:00 GMT"}, 240.0),
        ({"date": "Sat, 14 Nov 2026 12:10:00 GMT"}, -600.0),
        # A cache kept it.
        ({"date": "Sat, 14 Nov 2026 11:00:00 GMT", "age": "3600"}, None),
        ({"date": "yesterday"}, None),
        ({}, None),
    ],
)
async def test_an_answer_tells_how_far_our_clock_is_wrong(headers: dict[str, str], ahead: float | None) -> None:
    http = client_of(lambda url: Recorded("answer", url, 200, b"{}", headers))
    client = SourceClient("reddit", http, lambda: NOON)
    await client.get("https://clips.test/", SourceModel)
    assert client.clock_ahead_seconds == ahead
