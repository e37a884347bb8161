"""How X, Bluesky and Reddit refuse: statuses, headers and bodies as they were recorded or documented."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus

from pressbox.demo.simulators.http_service import Answer
from pressbox.demo.simulators.social_bluesky import bluesky_limit

WINDOW = timedelta(minutes=15)
REDDIT_PAUSE_SECONDS = 4
_HTML = {"Content-Type": "text/html; charset=UTF-8"}
_JSON = {"Content-Type": "application/json; charset=UTF-8"}
_PROBLEMS = "https://api.twitter.com/2/problems"


def limit(face: str, now: datetime) -> Answer:
    """Too many requests in a while."""
    if face == "bluesky":
        return bluesky_limit(now)
    if face == "reddit":
        page = b"<!doctype html><html><head><title>Too Many Requests</title></head><body>whoa there, pardner!</body>"
        return Answer(HTTPStatus.TOO_MANY_REQUESTS, page, {**_HTML, "retry-after": str(REDDIT_PAUSE_SECONDS)})
    problem = {"title": "Too Many Requests", "detail": "Too Many Requests", "type": "about:blank", "status": 429}
    return _with(Answer.of(problem, HTTPStatus.TOO_MANY_REQUESTS), x_window(now, left=0))


def cap(now: datetime) -> Answer:
    """The month of X's API is used up, although its window is not."""
    problem = {
        "title": "UsageCapExceeded",
        "period": "Monthly",
        "scope": "Product",
        "detail": "Usage cap exceeded: Monthly product cap",
        "type": f"{_PROBLEMS}/usage-capped",
    }
    return _with(Answer.of(problem, HTTPStatus.TOO_MANY_REQUESTS), x_window(now, left=39_999))


def unpaid() -> Answer:
    detail = "Your enrolled account [1] does not have any credits to fulfill this request."
    problem = {"title": "CreditsDepleted", "detail": detail, "type": f"{_PROBLEMS}/credits"}
    return Answer.of(problem, HTTPStatus.PAYMENT_REQUIRED)


def block(face: str) -> Answer:
    """A web page for addresses that the service does not like."""
    words = "You've been blocked by network security." if face == "reddit" else "403 Forbidden"
    return Answer(HTTPStatus.FORBIDDEN, f"<html><body><h1>{words}</h1></body></html>".encode(), _HTML)


def outage() -> Answer:
    """A gateway that says JSON and sends nothing."""
    return Answer(HTTPStatus.BAD_GATEWAY, b"", _JSON)


def x_window(now: datetime, left: int = 449) -> Mapping[str, str]:
    reset = str(int((now + WINDOW).timestamp()))
    return {"x-rate-limit-limit": "450", "x-rate-limit-remaining": str(left), "x-rate-limit-reset": reset}


def reddit_window() -> Mapping[str, str]:
    """A number with a fraction, and seconds instead of a moment."""
    return {"x-ratelimit-remaining": "597.0", "x-ratelimit-used": "3", "x-ratelimit-reset": "244"}


def _with(answer: Answer, headers: Mapping[str, str]) -> Answer:
    return Answer(answer.status, answer.body, {**answer.headers, **headers})
