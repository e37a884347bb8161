"""A real S3 server on loopback, with two identities."""

import asyncio
import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from pressbox.core.config import ObjectsSettings
from pressbox.core.errors import PressboxError
from pressbox.core.objects.factory import open_store
from tests.folders import OBJECT_SOCKETS, reachable_folder
from tests.patience import patience

BUCKET = "pressbox-tests"
START_SECONDS = patience(40)
PORT_OPTIONS = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
)


@dataclass(frozen=True)
class Identity:
    name: str
    access_key: str
    secret_key: str
    actions: tuple[str, ...]


# Only an administrator's write makes a missing bucket, so the other one can meet a missing bucket.
OWNER = Identity("owner", "AKIDOWNER0001", secrets.token_urlsafe(24), ("Admin", "Read", "Write", "List"))
GUEST = Identity("guest", "AKIDGUEST0001", secrets.token_urlsafe(24), ("Read", "Write", "List"))


@dataclass(frozen=True)
class S3Server:
    endpoint: str

    def settings(
        self, *, bucket: str = BUCKET, prefix: str = "", identity: Identity = OWNER, secret: str | None = None
    ) -> ObjectsSettings:
        return ObjectsSettings(
            bucket=bucket,
            endpoint=self.endpoint,
            prefix=prefix,
            access_key_id=SecretStr(identity.access_key),
            secret_access_key=SecretStr(secret or identity.secret_key),
        )


def free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def running_s3_server() -> Iterator[S3Server]:
    """Starts it, waits until it takes an object, and stops it."""
    with reachable_folder() as folder, _running_in(folder) as server:
        yield server


@contextmanager
def _running_in(folder: Path) -> Iterator[S3Server]:
    config = folder / "s3.json"
    identities = [
        {
            "name": who.name,
            "credentials": [{"accessKey": who.access_key, "secretKey": who.secret_key}],
            "actions": list(who.actions),
        }
        for who in (OWNER, GUEST)
    ]
    config.write_text(json.dumps({"identities": identities}))
    ports = dict(zip(PORT_OPTIONS, free_ports(len(PORT_OPTIONS)), strict=True))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                Path(sys.executable).parent / "weed",
                "-logtostderr=true",
                "server",
                f"-dir={folder}",
                "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1",
                "-filer",
                "-s3",
                f"-s3.config={config}",
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
                f"-s3.localSocket={folder / 's3.sock'}",
                f"-filer.localSocket={folder / 'filer.sock'}",
                "-volume.preStopSeconds=0",
                "-master.volumeSizeLimitMB=64",
                *(f"-{option}={port}" for option, port in ports.items()),
            ],
            stdout=log,
            stderr=log,
            cwd=folder,
        )
    server = S3Server(f"http://127.0.0.1:{ports['s3.port']}")
    try:
        _wait_until_usable(server, process, folder / "log")
        yield server
    finally:
        # Its own way out takes ten seconds, and nobody wants the data.
        process.kill()
        process.wait()
        for port in ports.values():
            for left in Path("/tmp").glob(OBJECT_SOCKETS.format(port=port)):
                left.unlink(missing_ok=True)


def _wait_until_usable(server: S3Server, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            asyncio.run(open_store(server.settings(), Path()).check())
            return
        except PressboxError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(
                    f"The S3 server is not usable: {error}\n{log.read_text(errors='replace')[-3000:]}"
                ) from error
            time.sleep(0.2)
