"""Whose work is it: rows, counts and live messages are for their audience, and an outline is for administrators."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import BigInteger, ColumnElement, literal

from pressbox.core.app import LiveTopic, Resources
from pressbox.core.audiences.contracts import ADMINISTRATORS, EVERYONE, NOBODY, Audience, person
from pressbox.core.audiences.members import AudienceKind, Viewer, find_members
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.live.admission import audiences_by_id
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.live.messages import Wish, parse_topics
from pressbox.core.progress import reader
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.rows import ProgressRow
from pressbox.core.progress.sink import store
from pressbox.core.web.topics import WORKFLOW_TOPIC

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def _same_parity(thing: ColumnElement[int], user: ColumnElement[int]) -> ColumnElement[bool]:
    return thing % literal(2, BigInteger) == user % literal(2, BigInteger)


CLUB = AudienceKind("toy.club", _same_parity)
KINDS = (CLUB,)
ODD, EVEN = Viewer(1, kinds=KINDS), Viewer(2, kinds=KINDS)
ADMINISTRATOR = Viewer(4, is_administrator=True, kinds=KINDS)
AUDIENCES = {
    "everyone": EVERYONE,
    "administrators": ADMINISTRATORS,
    "nobody": NOBODY,
    "person": person(1),
    "club": Audience(kind=CLUB.name, id=7),
    "unknown": Audience(kind="of.nobody", id=1),
}


def update(workflow_id: str, audience: Audience, **values: object) -> ProgressUpdate:
    fields: dict[str, object] = {
        "workflow_id": workflow_id,
        "run_id": "run",
        "workflow_type": "ToyErrandWorkflow",
        "task_queue": "core",
        "parent_workflow_id": None,
        "state": ProgressState.RUNNING,
        "title": f"Title of {workflow_id}",
        "done": 1,
        "total": 3,
        "message": f"Message of {workflow_id}",
        "error": "",
        "detail": {"words": f"Detail of {workflow_id}"},
        "audience": audience,
        "started_at": NOW,
        "updated_at": NOW,
        **values,
    }
    return ProgressUpdate.model_validate(fields)


@pytest.fixture
async def work(database: Database) -> Database:
    async with database.unit_of_work() as unit:
        await store(unit, [update(name, audience) for name, audience in AUDIENCES.items()])
    return database


@pytest.mark.parametrize(
    ("viewer", "seen"),
    [
        (ODD, {"everyone", "person", "club"}),
        (EVEN, {"everyone"}),
        (Viewer(3), {"everyone"}),
        (ADMINISTRATOR, set(AUDIENCES)),
    ],
)
async def test_people_see_the_work_of_their_audiences_alone(work: Database, viewer: Viewer, seen: set[str]) -> None:
    view = await reader.activity(work, viewer)
    assert {node.workflow_id for node in view.nodes} == seen
    assert view.running == (await reader.summary(work, viewer)).running == len(seen)
    assert {report.workflow_id for report in (await reader.active(work, viewer)).workflows} == seen
    assert set(await reader.reports(work, viewer, list(AUDIENCES))) == seen
    assert {name for name in AUDIENCES if await reader.node(work, viewer, name)} == seen


async def test_an_administrator_sees_only_the_outline_of_what_is_not_theirs(work: Database) -> None:
    active = (await reader.active(work, ADMINISTRATOR)).workflows
    told = {report.workflow_id for report in active if report.message}
    assert told == {"everyone", "administrators"}
    for report in active:
        if report.workflow_id not in told:
            assert (report.title, report.detail, report.done) == ("Toy errand", {}, 1)
    found = await reader.node(work, ADMINISTRATOR, "person")
    assert found is not None
    assert "person" not in found.title + found.message


async def test_a_row_of_a_version_that_named_no_audience_is_for_nobody(database: Database) -> None:
    async with database.unit_of_work() as unit:
        await store(unit, [update("old", EVERYONE)])
        (await unit.session.get_one(ProgressRow, "old")).audience = None
    assert await reader.node(database, ODD, "old") is None
    outlined = await reader.node(database, ADMINISTRATOR, "old")
    assert outlined is not None
    assert outlined.title == "Toy errand"


async def test_a_child_stands_alone_where_its_parent_is_not_shown_and_is_missing_where_it_is_private(
    database: Database,
) -> None:
    async with database.unit_of_work() as unit:
        await store(
            unit,
            [
                update("parent", person(2)),
                update("child", EVERYONE, parent_workflow_id="parent"),
                update("grandchild", person(2), parent_workflow_id="child"),
            ],
        )
    (alone,) = (await reader.activity(database, ODD)).nodes
    assert (alone.workflow_id, alone.children) == ("child", ())
    (whole,) = (await reader.activity(database, EVEN)).nodes
    assert whole.children[0].children[0].workflow_id == "grandchild"


async def test_of_an_address_in_a_report_only_the_host_is_kept(database: Database) -> None:
    secret = "https://user:pass@www.news.example/feed/SECRET?token=SECRET"
    report = update(
        "a", EVERYONE, title=f"Articles of {secret}", message=secret, error=f"{secret}: 404", detail={"x": [secret]}
    )
    async with database.unit_of_work() as unit:
        await store(unit, [report])
    (found,) = (await reader.active(database, ODD)).workflows
    assert "SECRET" not in found.model_dump_json()
    assert found.title == "Articles of news.example"
    assert found.detail == {"x": ["news.example"]}


async def test_membership_is_found_for_many_things_and_people_at_once(database: Database) -> None:
    clubs = [Audience(kind=CLUB.name, id=id) for id in (1, 2, 3)]
    async with database.unit_of_work() as unit:
        members = await find_members(unit.session, KINDS, [*clubs, EVERYONE, person(9)], [1, 2])
    assert {(audience.id, user) for audience, user in members.listed} == {(1, 1), (3, 1), (2, 2)}


async def _load(_: Resources, keys: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    return {key: {"secret": key} for key in keys}


def toy_feed(resources: Resources) -> ChangeFeed:
    topics = (
        WORKFLOW_TOPIC,
        LiveTopic("toy.club", _load, audiences_by_id(CLUB.name)),
        LiveTopic("toy.person", _load, audiences_by_id("person"), by_name=True),
    )
    return ChangeFeed(resources, {topic.kind: topic for topic in topics}, KINDS)


async def heard(feed: ChangeFeed, topics: str, viewer: Viewer) -> str:
    missed = await feed.missed(0, parse_topics(topics, feed.topics.keys()))
    assert missed.changes is not None
    return "".join([m.wire.decode() async for messages in feed.load(missed.changes, viewer) for m in messages])


async def test_the_stream_tells_of_work_to_its_audience_alone(resources: Resources, work: Database) -> None:
    feed = toy_feed(resources)
    mine, other = await heard(feed, "workflow", ODD), await heard(feed, "workflow", EVEN)
    assert "Title of person" in mine
    assert "Title of club" in mine
    assert other.count("event: change") == 1
    assert "Title of everyone" in other
    told = await heard(feed, "workflow", ADMINISTRATOR)
    assert told.count("event: change") == len(AUDIENCES)
    assert "Title of person" not in told
    assert "Message of club" not in told


async def test_a_thing_of_another_is_not_heard_even_when_it_is_named(resources: Resources, work: Database) -> None:
    async with resources.database.unit_of_work() as unit:
        unit.changed("toy.club", "7")
        unit.changed("toy.club", "not a number")
    feed = toy_feed(resources)
    assert "secret" in await heard(feed, "toy.club", ODD)
    assert await heard(feed, "toy.club", EVEN) == ""
    assert await heard(feed, "toy.club:7,toy.club:not a number,workflow:person", EVEN) == ""


@pytest.mark.parametrize("key", ["2", "99", "x", ""])
async def test_following_another_person_is_refused_whether_they_exist_or_not(resources: Resources, key: str) -> None:
    feed = toy_feed(resources)
    await feed.demand_admission(Wish(frozenset(), frozenset({("toy.person", "1")})), ODD)
    with pytest.raises(NotFoundError):
        await feed.demand_admission(Wish(frozenset(), frozenset({("toy.person", key)})), ODD)
