"""Two forms, two clicks, and times at the edges of the calendar."""

import asyncio
import re

import httpx
import pytest

from tests.integration.web.events.conftest import FORM, NEXT_WEEK, TARGET, new_event

FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


def hidden_value(page: str, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]*?value="([^"]*)"', page)
    assert found is not None, name
    return found[1]


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}"\s+value="([^"]+)"', page)
    assert found is not None, name
    return found[1]


async def names(client: httpx.AsyncClient) -> list[str]:
    return [event["name"] for event in (await client.get("/api/soonish/events")).json()["organised"]]


async def test_the_second_of_two_open_forms_shows_both_and_overwrites_nothing_unasked(
    organiser: httpx.AsyncClient,
) -> None:
    slug = await new_event(organiser)
    page = (await organiser.get(f"/events/{slug}/edit")).text
    seen = {"version": hidden(page, "version")}
    first = await organiser.post(f"/events/{slug}/edit", data=FORM | seen | {"location": "Hall 3"})
    assert first.status_code == 303
    second = await organiser.post(f"/events/{slug}/edit", data=FORM | seen | {"name": "Winter party"})
    assert second.status_code == 409
    assert "was changed after you opened this form" in second.text
    for words in ("Hall 3", "Winter party", "Summer party"):
        assert words in second.text
    assert "Hall 2" not in second.text, "the place was not touched in the second form"
    event = (await organiser.get(f"/api/soonish/events/{slug}")).json()
    assert (event["name"], event["location"]) == ("Summer party", "Hall 3")
    knowing = FORM | {"version": hidden(second.text, "version"), "name": "Winter party"}
    knowing["location"] = hidden_value(second.text, "location")
    assert (await organiser.post(f"/events/{slug}/edit", data=knowing)).status_code == 303
    event = (await organiser.get(f"/api/soonish/events/{slug}")).json()
    assert (event["name"], event["location"]) == ("Winter party", "Hall 3")


async def test_a_field_that_nobody_touched_does_not_blank_what_was_saved_meanwhile(
    organiser: httpx.AsyncClient,
) -> None:
    slug = await new_event(organiser, location="", description="")
    empty = FORM | {"location": "", "description": "", "version": "1"}
    first = empty | {"location": "Hall 3", "end_date": f"{NEXT_WEEK:%Y-%m-%dT}23:00"}
    assert (await organiser.post(f"/events/{slug}/edit", data=first)).status_code == 303
    second = await organiser.post(f"/events/{slug}/edit", data=empty | {"name": "Winter party"})
    assert second.status_code == 409
    assert hidden_value(second.text, "location") == "Hall 3"
    assert hidden_value(second.text, "end_date") == first["end_date"]
    assert hidden_value(second.text, "name") == "Winter party"


async def test_times_that_were_touched_keep_their_zone_whatever_was_saved_meanwhile(
    organiser: httpx.AsyncClient,
) -> None:
    slug = await new_event(organiser)
    moved = {"timezone": "Asia/Tokyo", "version": "1"}
    assert (await organiser.post(f"/events/{slug}/edit", data=FORM | moved)).status_code == 303
    later = {"start_date": f"{NEXT_WEEK:%Y-%m-%dT}22:15", "version": "1"}
    second = await organiser.post(f"/events/{slug}/edit", data=FORM | later)
    assert second.status_code == 409
    assert hidden_value(second.text, "start_date") == later["start_date"]
    assert re.search(r"<option selected>\s*Europe/Berlin", second.text)


async def test_a_form_that_is_saved_twice_is_no_conflict(organiser: httpx.AsyncClient) -> None:
    slug = await new_event(organiser)
    for _ in range(2):
        answer = await organiser.post(f"/events/{slug}/edit", data=FORM | {"version": "1", "location": "Hall 3"})
        assert answer.status_code == 303


@pytest.mark.parametrize("digits", [18, 19, 5_000])
async def test_a_version_that_cannot_be_is_not_the_present_one(organiser: httpx.AsyncClient, digits: int) -> None:
    slug = await new_event(organiser)
    answer = await organiser.post(f"/events/{slug}/edit", data=FORM | {"version": "1" * digits, "location": "Hall 3"})
    assert answer.status_code == 409


@pytest.mark.parametrize("change", [{"visibility": "private"}, {"location": "Hall 3"}])
async def test_a_draft_is_not_overwritten_either(organiser: httpx.AsyncClient, change: dict[str, str]) -> None:
    slug = await new_event(organiser, draft="1")
    assert (await organiser.post(f"/events/{slug}/edit", data=FORM | {"version": "1"} | change)).status_code == 303
    late = await organiser.post(f"/events/{slug}/edit", data=FORM | {"version": "1", "name": "Winter party"})
    assert late.status_code == 409


async def test_the_api_refuses_a_change_of_a_version_that_is_no_more(organiser: httpx.AsyncClient) -> None:
    slug, path = await new_event(organiser), "/api/soonish/events"
    assert (await organiser.patch(f"{path}/{slug}", json={"version": 1, "name": "A"})).status_code == 200
    assert (await organiser.patch(f"{path}/{slug}", json={"version": 1, "name": "B"})).status_code == 409
    assert (await organiser.patch(f"{path}/{slug}", json={"name": "B"})).status_code == 200


@pytest.mark.parametrize("other", [{"location": "Hall 9"}, {"end_date": None}, {"visibility": "listed"}])
async def test_of_two_changes_at_once_through_the_api_none_is_lost(
    organiser: httpx.AsyncClient, other: dict[str, str | None]
) -> None:
    slug = await new_event(organiser, end_date=f"{NEXT_WEEK:%Y-%m-%dT}23:00")
    path = f"/api/soonish/events/{slug}"
    for number in range(10):
        changes = ({"name": f"Party {number}"}, other)
        answers = await asyncio.gather(*(organiser.patch(path, json=change) for change in changes))
        assert [answer.status_code for answer in answers] == [200, 200]
        event = (await organiser.get(path)).json()
        [(field, value)] = other.items()
        assert (event["name"], event[field]) == (f"Party {number}", value)
        again = {"location": "Hall 2", "visibility": "public", "end_date": f"{NEXT_WEEK:%Y-%m-%dT}23:00"}
        assert (await organiser.patch(path, json=again)).status_code == 200


async def test_of_two_changes_of_a_channel_or_a_subscription_at_once_none_is_lost(organiser: httpx.AsyncClient) -> None:
    channel = (await organiser.post("/api/soonish/channels", json={"name": "phone", "url": TARGET})).json()
    slug = await new_event(organiser)
    path = f"/api/soonish/channels/{channel['id']}"
    body = {"channel_ids": [channel["id"]], "offsets": []}
    joined = (await organiser.post(f"/api/soonish/events/{slug}/subscriptions", json=body)).json()
    own = f"/api/soonish/subscriptions/{joined['subscription']['id']}"
    first: dict[str, object]
    second: dict[str, object]
    for number in range(10):
        first, second = {"name": f"phone {number}"}, {"tags": [f"tag-{number}"]}
        await asyncio.gather(*(organiser.patch(path, json=change) for change in (first, second)))
        present = (await organiser.get(path)).json()
        assert present | first | second == present
        first, second = {"offsets": [60 + number]}, {"tags": [f"tag-{number}"]}
        await asyncio.gather(*(organiser.patch(own, json=change) for change in (first, second)))
        present = (await organiser.get(own)).json()
        assert present | first | second == present


async def test_a_double_click_makes_one_event_and_going_back_for_another_makes_two(
    organiser: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    form = FORM | {"key": hidden((await organiser.get("/events/new")).text, "key")}
    answers = await asyncio.gather(*(organiser.post("/events/new", data=form) for _ in range(3)))
    assert {answer.status_code for answer in answers} == {303}
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert await names(organiser) == ["Summer party"]
    assert (await organiser.post("/events/new", data=form | {"name": "Winter party"})).status_code == 303
    assert sorted(await names(organiser)) == ["Summer party", "Winter party"]
    assert (await other.post("/events/new", data=form)).status_code == 303
    assert await names(other) == ["Summer party"]


async def test_a_double_click_makes_one_channel_and_one_reminder(organiser: httpx.AsyncClient) -> None:
    channel = {"name": "phone", "url": TARGET}
    answers = await asyncio.gather(*(organiser.post("/events/channels", data=channel) for _ in range(2)))
    assert {answer.status_code for answer in answers} == {303}
    (kept,) = (await organiser.get("/api/soonish/channels")).json()
    slug = await new_event(organiser)
    joined = await organiser.post(f"/events/{slug}/subscribe", data={"channel": kept["id"], "offsets_asked": "1"})
    path = httpx.URL(joined.headers["location"]).path
    for _ in range(2):
        assert (await organiser.post(f"{path}/remind", data={"amount": "2", "unit": "3600"})).status_code == 303
    number = path.rpartition("/")[2]
    assert len((await organiser.get(f"/api/soonish/subscriptions/{number}")).json()["reminders"]) == 1


async def test_a_new_event_is_filled_in_from_a_calendar_file(organiser: httpx.AsyncClient) -> None:
    slug = await new_event(organiser, name="Summer, party")
    ours = (await organiser.get(f"/events/{slug}/calendar.ics")).content
    page = await organiser.post("/events/new/file", files={"calendar": ("events.ics", ours, "text/calendar")})
    assert page.status_code == 200
    assert 'value="Summer, party"' in page.text
    assert 'action="/events/new"' in page.text
    assert await names(organiser) == ["Summer, party"]
    wrong = await organiser.post("/events/new/file", files={"calendar": ("a.ics", b"<html>", "text/calendar")})
    assert (wrong.status_code, 'id="e-calendar"' in wrong.text) == (422, True)


async def test_of_several_events_of_a_file_one_is_chosen_and_what_it_cannot_be_is_said(
    organiser: httpx.AsyncClient,
) -> None:
    file = (
        b"BEGIN:VEVENT\nSUMMARY:Fair\nDTSTART;VALUE=DATE:20990302\nEND:VEVENT\n"
        b"BEGIN:VEVENT\nSUMMARY:Choir & friends\nLOCATION:Hall 2\n"
        b"DTSTART;TZID=Europe/Berlin:20200101T190000\nRRULE:FREQ=WEEKLY\nEND:VEVENT\n"
    )
    page = await organiser.post("/events/new/file", files={"calendar": ("events.ics", file, "text/calendar")})
    assert page.status_code == 200
    assert "There are 2 events in this file." in page.text
    choir, fair = (dict(FIELD.findall(part)) for part in page.text.split('action="/events/new/choice"')[1:])
    assert (choir["name"], choir["location"], fair["name"]) == ("Choir &amp; friends", "Hall 2", "Fair")
    filled = await organiser.post("/events/new/choice", data=choir | {"name": "Choir & friends"})
    assert 'value="Choir &amp; friends"' in filled.text
    assert "Only its next time is taken." in filled.text
    assert "midnight" not in filled.text
    filled = await organiser.post("/events/new/choice", data=fair)
    assert hidden_value(filled.text, "start_date") == "2099-03-02T00:00"
    assert hidden_value(filled.text, "end_date") == "2099-03-03T00:00"
    assert "it begins and ends at midnight" in filled.text
    assert await names(organiser) == []


@pytest.mark.parametrize("year", ["0001", "9999"])
@pytest.mark.parametrize("field", ["start_date", "end_date"])
async def test_the_first_and_the_last_year_are_an_error_of_the_field(
    organiser: httpx.AsyncClient, year: str, field: str
) -> None:
    answer = await organiser.post("/events/new", data=FORM | {field: f"{year}-12-31T23:59"})
    assert (answer.status_code, f'id="e-{field}"' in answer.text) == (422, True)
    wrong = await organiser.post("/api/soonish/events", json=FORM | {field: f"{year}-01-01T00:00:00+14:00"})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, field)
