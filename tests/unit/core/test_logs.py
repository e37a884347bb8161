"""Log lines: one shape, and no secret in any of them."""

import io
import json
import logging

import pytest
from structlog.testing import capture_logs

from pressbox.core.environment import load_settings
from pressbox.core.logs import BLOT, Redactor, configure_logs, get_logger


@pytest.fixture
def lines():  # type: ignore[no-untyped-def]
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logs(load_settings({"PRESSBOX_DATABASE_URL": "postgresql://u:planted-pw@h/d"}, dotenv=None), stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = handlers
    root.setLevel(level)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize(
    ("stream", "chosen", "is_json"),
    [
        (Terminal(), {}, False),
        (io.StringIO(), {}, True),
        (Terminal(), {"LOG_FORMAT": "json"}, True),
        (io.StringIO(), {"LOG_FORMAT": "pretty"}, False),
    ],
)
def test_people_at_a_terminal_read_no_json(stream: io.StringIO, chosen: dict[str, str], is_json: bool) -> None:
    configure_logs(load_settings(chosen, dotenv=None), stream)
    get_logger("pressbox.core.tests").warning("tested", msg="A line")
    assert "A line" in stream.getvalue()
    assert stream.getvalue().startswith("{") is is_json


def test_lines_of_a_logger_that_was_used_before_can_be_captured(lines) -> None:  # type: ignore[no-untyped-def]
    log = get_logger("pressbox.toy")
    log.info("happened", msg="Before")
    configure_logs(load_settings({}, dotenv=None), io.StringIO())
    with capture_logs() as captured:
        log.info("happened", msg="After")
    assert [line["msg"] for line in captured] == ["After"]
    assert [line["msg"] for line in lines()] == ["Before"]


def test_our_lines_have_the_documented_fields(lines) -> None:  # type: ignore[no-untyped-def]
    get_logger("pressbox.toy").info("part_restarted", msg="Worker restarted", part="worker")
    (line,) = lines()
    assert list(line)[:5] == ["ts", "level", "module", "action", "msg"]
    assert (line["action"], line["msg"], line["part"]) == ("part_restarted", "Worker restarted", "worker")


def test_lines_of_libraries_have_the_same_shape(lines) -> None:  # type: ignore[no-untyped-def]
    logging.getLogger("some.library").warning("Could not reach %s", "x")
    (line,) = lines()
    assert (line["module"], line["msg"], line["level"]) == ("some.library", "Could not reach x", "warning")


def test_planted_secrets_appear_in_no_field_and_in_no_traceback(lines) -> None:  # type: ignore[no-untyped-def]
    log = get_logger("pressbox.toy")
    try:
        raise ValueError("connect to postgresql://u:planted-pw@h/d failed")
    except ValueError as error:
        log.error("broken", msg="see planted-pw", url="postgresql://u:planted-pw@h/d", exc_info=error)
    logging.getLogger("library").error("auth with redis://me:other-secret@host/0")
    text = json.dumps(lines())
    assert "planted-pw" not in text
    assert "other-secret" not in text
    assert BLOT in text


def test_a_secret_inside_a_longer_one_leaves_no_rest() -> None:
    assert Redactor(["abcdef", "abcdefghi"])("x abcdefghi y") == f"x {BLOT} y"


def test_very_short_values_do_not_blot_out_everything() -> None:
    assert Redactor(["a"])("banana") == "banana"


def test_what_an_address_asks_for_is_not_written() -> None:
    line = Redactor()('GET "https://news.example/feed?token=planted-one#x" failed, see http://a.example/b.')
    assert line == f'GET "https://news.example/feed?{BLOT}" failed, see http://a.example/b.'
    inside = "http://a.example/http://b.example/?planted-two, http://c.example/#http://d.example/?planted-three"
    assert Redactor()(inside) == (
        f"http://a.example/http://b.example/?{BLOT} http://c.example/#http://d.example/?{BLOT}"
    )
    assert Redactor()("a+b-scheme.of-more-than-thirty-characters://u:planted@h x://:pw@h") == (
        f"a+b-scheme.of-more-than-thirty-characters://{BLOT}@h x://{BLOT}@h"
    )
