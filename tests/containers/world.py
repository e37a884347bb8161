"""The outside of the container trial, in a container: a feed with its articles, and inboxes that count what arrives."""

import json
import re
import sys
import threading
import time
import urllib.request
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARTICLES = 40
# So that a broadcast lasts longer than a restart.
SLOW_SECONDS = 0.4
arrived: Counter[str] = Counter()
lock = threading.Lock()


def feed() -> str:
    items = "".join(
        f"<item><title>Article {n}</title><link>http://world:8000/article/{n}</link><guid>article-{n}</guid>"
        f"<pubDate>{formatdate(time.time() - n * 60)}</pubDate><description>Number {n}.</description></item>"
        for n in range(ARTICLES)
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>World</title>{items}</channel></rss>'


def article(number: str) -> str:
    text = f"<p>This is the text of article {number}, which says what happened in the world. " + "It goes on. " * 60
    return f"<html><head><title>Article {number}</title></head><body><article>{text}</p></article></body></html>"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/feed.xml":
            self.answer(feed(), "application/rss+xml")
        elif self.path == "/arrived":
            with lock:
                self.answer(json.dumps(arrived), "application/json")
        elif found := re.fullmatch(r"/article/(\d+)", self.path):
            self.answer(article(found[1]), "text/html")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        time.sleep(SLOW_SECONDS)
        with lock:
            arrived[f"{self.path} {json.loads(body).get('message', '')[:40]}"] += 1
        self.answer("{}", "application/json")

    def answer(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def ask() -> None:
    """Put the requests of standard input, and print one answer per line."""
    given = json.load(sys.stdin)
    for url, body in given["questions"]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "authorization": f"Bearer {given['token']}"}
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
            print(json.dumps(json.loads(answer.read() or b"null")))  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1:] == ["ask"]:
        ask()
        sys.exit()
    ThreadingHTTPServer(("0.0.0.0", 8000), Handler).serve_forever()
