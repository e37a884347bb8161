"""A web process on the parts of a benchmark."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx

from pressbox.core.app import Resources
from pressbox.core.environment import child_environment
from pressbox.core.errors import PermanentError
from pressbox.core.processes.parents import end_with_parent
from pressbox.demo.instance import OWN_PARTS, stop
from pressbox.embedded.ports import free_port

START_SECONDS = 60.0


@contextmanager
def running_web(resources: Resources) -> Iterator[str]:
    """Start `pressbox web` on these parts; yields its address."""
    settings, port = resources.settings, free_port()
    assert settings.secret_key is not None
    environment = child_environment(
        **{
            **OWN_PARTS,
            "PRESSBOX_HOME": str(settings.home),
            "PRESSBOX_DATABASE_URL": resources.database.driver_url,
            "PRESSBOX_TEMPORAL_ADDRESS": resources.temporal.service_client.config.target_host,
            "PRESSBOX_SECRET_KEY": settings.secret_key.get_secret_value(),
            "PRESSBOX_WEB_PORT": str(port),
            "PRESSBOX_LOG_LEVEL": "error",
        }
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pressbox", "web"],
        env=environment,
        stdin=subprocess.DEVNULL,
        text=True,
        preexec_fn=end_with_parent(signal.SIGTERM),
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _await_answer(url, process)
        yield url
    finally:
        stop(process)


def _await_answer(url: str, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz", trust_env=False).is_success:
                return
        time.sleep(0.2)
    raise PermanentError("The web process of the benchmark does not answer.")
