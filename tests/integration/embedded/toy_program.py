"""Stands in for worker or web under the real supervisor: answers, and misbehaves when a file tells it to."""

import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAME = sys.argv[1]
HOME = Path(os.environ["PRESSBOX_HOME"])
PORT = int(os.environ["PRESSBOX_WORKER_HEALTH_PORT" if NAME == "worker" else "PRESSBOX_WEB_PORT"])


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


if (HOME / f"{NAME}-broken").exists():
    sys.exit("This program cannot start because the test says so.")
if (HOME / f"{NAME}-stubborn").exists():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
ThreadingHTTPServer(("127.0.0.1", PORT), Answer).serve_forever()
