"""The pure parts of the pages: times, static files, the tree, the API reference, colours."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.reader import ActivityNode
from pressbox.core.web import times
from pressbox.core.web.assets import static_files
from pressbox.core.web.browsers import browser_in_words
from pressbox.core.web.languages import locale_of
from pressbox.core.web.pages.branches import CLOSED_CHILDREN, SETTLED_TROUBLE, branch, fold_earlier, matters_now, split
from pressbox.core.web.pages.openapi import read_groups, read_schemas, type_in_words
from pressbox.core.web.rendering import commands

NOW = datetime(2026, 11, 15, 15, 4, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
STYLESHEET = (files("pressbox.core.web") / "static" / "pressbox.css").read_text()


@pytest.mark.parametrize(
    ("value", "language", "words"),
    [
        (NOW, "en", "16:04"),
        (NOW - timedelta(days=1), "en", "14 Nov, 16:04"),
        (NOW - timedelta(days=400), "en", "11 Oct 2025, 17:04"),
        # Half past eleven in London is tomorrow in Berlin.
        (NOW.replace(hour=23, minute=30), "en", "16 Nov, 00:30"),
        (NOW - timedelta(days=1), "de", "14. Nov., 16:04"),
        (NOW - timedelta(days=400), "de", "11. Okt. 2025, 17:04"),
    ],
)
def test_a_clock_says_only_what_is_needed(value: datetime, language: str, words: str) -> None:
    assert times.clock(value, locale_of(language), BERLIN, NOW) == words


def test_a_day_is_written_as_its_language_writes_days() -> None:
    at = NOW.replace(second=0) - timedelta(days=1)
    assert times.in_zone(at, locale_of("de"), BERLIN) == "Sa., 14. Nov. 2026, 16:04"
    assert times.in_zone(at, locale_of("en"), BERLIN) == "Sat 14 Nov 2026, 16:04"
    assert times.weekday(at.date(), locale_of("de")) == "Samstag, 14. November"
    assert times.weekday(at.date(), locale_of("en")) == "Saturday 14 November"
    assert times.exact(at, locale_of("de"), BERLIN) == "Sa., 14. Nov. 2026, 16:04:00 MEZ"
    assert times.clock_seconds(at, locale_of("de"), BERLIN, NOW) == "14. Nov., 16:04:00"


@pytest.mark.parametrize(
    ("distance", "language", "words"),
    [
        (timedelta(minutes=25), "en", "in 25 minutes"),
        (-timedelta(hours=3), "en", "3 hours ago"),
        (timedelta(minutes=25), "de", "in 25 Minuten"),
    ],
)
def test_relative_times_are_said_as_people_say_them(distance: timedelta, language: str, words: str) -> None:
    assert times.relative(NOW + distance, locale_of(language), NOW) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(-5, "0:00"), (12, "0:12"), (245, "4:05"), (3765, "1:02:45"), (280_000, "3 d 5 h")]
)
def test_durations_are_as_wide_as_they_must_be(seconds: int, words: str) -> None:
    assert times.duration(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize("name", [None, "", "../../etc/passwd", "Mars/Olympus", "Europe/Berlin\x00"])
def test_a_zone_that_is_none_is_utc(name: str | None) -> None:
    assert times.zone_of(name) is UTC


def test_a_time_element_carries_the_exact_value() -> None:
    element = times.time_element(NOW, "15:04", 'a "quoted" title', "clock")
    assert 'datetime="2026-11-15T15:04:30Z"' in element
    assert "&#34;quoted&#34;" in element


def test_static_addresses_change_with_the_content() -> None:
    assert re.fullmatch(r"/static/pressbox\.css\?v=[0-9a-f]{12}", static_files(()).url("pressbox.css"))
    assert static_files(()).url("pressbox.css") != static_files(()).url("frame.js").replace("frame.js", "pressbox.css")


def test_the_stylesheet_on_the_wire_is_smaller_and_says_the_same() -> None:
    sent = static_files(()).load("pressbox.css").body.decode()
    assert len(sent) < 0.93 * len(STYLESHEET)
    assert "/*" not in sent
    assert "viewBox='0 0 12 12'" in sent
    assert "calc(1200px + 2 * var(--gutter))" in sent
    assert sent.count("{") == re.sub(r"/\*.*?\*/", "", STYLESHEET, flags=re.DOTALL).count("{")


def test_commands_become_code_and_everything_else_is_escaped() -> None:
    assert commands("Run `pressbox up` <b>now</b>.") == "Run <code>pressbox up</code> &lt;b&gt;now&lt;/b&gt;."
    assert commands("an odd ` one") == "an odd ` one"


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Safari/604.1", "Safari, iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/130 Safari/537 Edg/130", "Edge, Windows"),
        ("", ""),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_a_browser_is_recognised_in_a_word_or_two(agent: str, words: str) -> None:
    assert browser_in_words(agent) == words


def work(name: str, state: ProgressState, *children: ActivityNode, minutes: int = 0) -> ActivityNode:
    started = NOW - timedelta(minutes=minutes)
    return ActivityNode(
        workflow_id=name,
        run_id=name,
        workflow_type="Toy",
        parent_workflow_id=None,
        state=state,
        title=name,
        done=0,
        total=None,
        message="",
        error="",
        started_at=started,
        updated_at=started,
        closed_at=started if state.final else None,
        children=children,
    )


def test_failed_work_stands_before_running_work_and_finished_work_apart() -> None:
    running, failed = work("r", ProgressState.RUNNING), work("f", ProgressState.FAILED)
    older, newer = work("old", ProgressState.COMPLETED, minutes=9), work("new", ProgressState.CANCELLED, minutes=1)
    opened, closed = split([older, running, newer, failed])
    assert [node.title for node in opened] == ["f", "r"]
    assert [node.title for node in closed] == ["new", "old"]


def test_a_failed_child_does_not_hide_in_a_finished_parent() -> None:
    parent = work("p", ProgressState.COMPLETED, work("c", ProgressState.COMPLETED, work("g", ProgressState.FAILED)))
    assert matters_now(parent)


def test_trouble_below_a_parent_lifts_it_to_the_top() -> None:
    calm = work("calm", ProgressState.RUNNING)
    uneasy = work("uneasy", ProgressState.COMPLETED, work("c", ProgressState.FAILED))
    assert [node.title for node in split([calm, uneasy])[0]] == ["uneasy", "calm"]


def test_old_trouble_folds_away_and_what_runs_stays_in_sight() -> None:
    old = [
        work(f"o{number}", ProgressState.COMPLETED, work(f"f{number}", ProgressState.FAILED))
        for number in range(SETTLED_TROUBLE + 2)
    ]
    alive = work("alive", ProgressState.RUNNING, work("f", ProgressState.FAILED))
    kept, earlier = fold_earlier([*old, alive])
    assert [node.title for node in kept] == [*(f"o{number}" for number in range(SETTLED_TROUBLE)), "alive"]
    assert [node.title for node in earlier] == [f"f{number}" for number in range(SETTLED_TROUBLE, SETTLED_TROUBLE + 2)]


def test_a_large_tree_is_drawn_in_part_and_counted_in_full() -> None:
    children = [work(f"c{number}", ProgressState.COMPLETED) for number in range(30)]
    drawn = branch(work("p", ProgressState.RUNNING, *children))
    assert len(drawn.closed) == CLOSED_CHILDREN
    assert drawn.finished == 30
    assert drawn.unseen == 30 - CLOSED_CHILDREN


class Wish(BaseModel):
    name: str
    scopes: list[str] = []


def test_the_api_reference_says_what_the_application_answers() -> None:
    app = FastAPI()

    @app.post("/api/tokens/{number}", tags=["accounts"], summary="Make one")
    async def make(number: int, wish: Wish, loud: bool = False) -> Wish:
        return wish

    document = app.openapi()
    (group,) = read_groups(document, "http://127.0.0.1:8030")
    (operation,) = group.operations
    assert (group.name, operation.method, operation.body) == ("accounts", "POST", "Wish")
    assert [(value.name, value.type, value.required) for value in operation.parameters] == [
        ("number", "whole number", True),
        ("loud", "true or false", False),
    ]
    assert '-d \'{"name": "…", "scopes": []}\'' in operation.curl
    assert ("200", "Wish") in {(answer.status, answer.type) for answer in operation.answers}
    wish = next(schema for schema in read_schemas(document, "accounts") if schema.name == "Wish")
    assert [(value.name, value.required) for value in wish.properties] == [("name", True), ("scopes", False)]


def test_types_are_said_in_words() -> None:
    assert type_in_words({"anyOf": [{"type": "string"}, {"type": "null"}]}) == "text or null"
    assert type_in_words({"type": "array", "items": {"$ref": "#/components/schemas/Token"}}) == "list of Token"
    assert type_in_words({"enum": ["a", "b"], "type": "string"}) == 'one of "a", "b"'


def colours(scheme: int) -> dict[str, tuple[int, int, int]]:
    found = re.findall(r"--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)", STYLESHEET)
    return {name: tuple(bytes.fromhex(pair[scheme])) for name, *pair in found}  # type: ignore[misc]


def luminance(colour: tuple[int, int, int]) -> float:
    def linear(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(value) for value in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def pairs() -> Iterator[tuple[str, str]]:
    texts = ("ink", "quiet", "accent", "trouble", "waiting")
    yield from product(texts, ("paper", "raised", "tint", "changed"))
    yield "on-accent", "accent"
    yield "paper", "ink"


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), list(pairs()))
def test_text_can_be_read_on_every_ground(text: str, ground: str, scheme: int) -> None:
    known = colours(scheme)
    lighter, darker = sorted((luminance(known[text]), luminance(known[ground])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_the_stylesheet_keeps_to_the_rules_of_the_house() -> None:
    assert "gradient(" not in STYLESHEET
    # An inset line is a thicker border, not a shadow.
    floating = [line for line in STYLESHEET.splitlines() if "box-shadow" in line and "inset" not in line]
    assert all(line.startswith(("dialog", ".toast")) for line in floating)
    outside_tokens = STYLESHEET.split("[data-scheme", 1)[1]
    assert not re.search(r"#[0-9a-f]{3,6}\b", outside_tokens), "colours are tokens"
