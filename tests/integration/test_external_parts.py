"""PostgreSQL, Temporal with mutual TLS and S3 that somebody else runs: settings alone make Pressbox use them.

No `pressbox up` and no home: this is how the containers of deploy/ run.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import signal
import ssl
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from pressbox.core.accounts.models import Role, Scope
from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.client import connect, socket_of
from pressbox.embedded.ports import free_port
from pressbox.maintenance.manifest import SCHEDULE_ID
from tests.conftest import Parts, execute
from tests.integration.objects.seaweed import S3Server, running_s3_server
from tests.patience import patience

PROGRAM = Path(sys.executable).with_name("pressbox")
OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
EVERYWHERE = "0.0.0.0"
# On Linux, all of 127/8 is this machine: here it stands for the address of a pod.
POD_ADDRESS = "127.0.0.2"


@dataclass(frozen=True)
class Certificates:
    """Our own authority, and what it signed for the server and for Pressbox."""

    folder: Path

    def file(self, name: str) -> Path:
        return self.folder / name

    def server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.file("authority.pem"))
        context.load_cert_chain(self.file("server.pem"), self.file("server.key"))
        context.verify_mode = ssl.CERT_REQUIRED
        context.set_alpn_protocols(["h2"])
        return context


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make certificates")
    folder = tmp_path_factory.mktemp("certificates")
    new_key = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    signed = "-CA authority.pem -CAkey authority.key -addext basicConstraints=critical,CA:FALSE"
    for name, options in (
        ("authority", ""),
        ("server", f"{signed} -addext subjectAltName=DNS:localhost -addext extendedKeyUsage=serverAuth"),
        ("client", f"{signed} -addext extendedKeyUsage=clientAuth"),
    ):
        command = f"{new_key} -subj /CN={name} {options} -keyout {name}.key -out {name}.pem"
        subprocess.run([openssl, *command.split()], cwd=folder, check=True, capture_output=True)
    return Certificates(folder)


@asynccontextmanager
async def tls_in_front_of(address: str, certificates: Certificates) -> AsyncIterator[str]:
    """The development server has no TLS; a gateway in front of it has, as in many clusters."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back_reader, back_writer = await asyncio.open_unix_connection(socket_of(address))
        async with asyncio.TaskGroup() as group:
            group.create_task(pump(reader, back_writer))
            group.create_task(pump(back_reader, writer))

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whoever hangs up ends the connection; that is no failure of the gateway.
        with suppress(ConnectionError, ssl.SSLError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=certificates.server_context())
    try:
        yield f"localhost:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with running_s3_server() as server:
        yield server


@pytest.fixture
def empty_database_url(parts: Parts) -> Iterator[str]:
    name = f"external_{secrets.token_hex(6)}"
    execute(parts.postgres_url, f"CREATE DATABASE {name}")
    yield parts.database_url(name)
    execute(parts.postgres_url, f"DROP DATABASE {name} WITH (FORCE)")


@dataclass(frozen=True)
class Deployment:
    """Pressbox as deploy/ runs it: the same environment for every process."""

    environment: dict[str, str]
    home: Path
    database_url: str

    async def run(self, *arguments: str) -> str:
        process = await self.start(*arguments)
        output, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        return output.decode()

    async def start(self, *arguments: str, **settings: str) -> Process:
        return await asyncio.create_subprocess_exec(
            PROGRAM, *arguments, env={**self.environment, **settings}, cwd=self.home.parent, stdout=PIPE, stderr=PIPE
        )

    @asynccontextmanager
    async def running(self, *arguments: str, **settings: str) -> AsyncIterator[Process]:
        """Stops it as a container is stopped, and wants it to have gone by itself."""
        process = await self.start(*arguments, **settings)
        reading = asyncio.create_task(process.communicate())
        try:
            yield process
            assert process.returncode is None, (await reading)[1].decode()
            process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(asyncio.shield(reading), patience(20))
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            _, errors = await reading
        # The web server ends itself by the signal that it was sent, once it has shut down.
        assert process.returncode in (0, -signal.SIGTERM), errors.decode()


@pytest.fixture
async def deployment(
    parts: Parts, empty_database_url: str, namespace: str, s3: S3Server, certificates: Certificates, tmp_path: Path
) -> AsyncIterator[Deployment]:
    objects = s3.settings(bucket=f"external-{secrets.token_hex(4)}")
    # Like the database, the bucket is made by whoever runs the server.
    await open_store(objects, tmp_path).check()
    assert objects.access_key_id is not None
    assert objects.secret_access_key is not None
    assert objects.bucket is not None
    secret = {
        "PRESSBOX_SECRET_KEY": secrets.token_urlsafe(32),
        "PRESSBOX_DATABASE_URL": empty_database_url,
        "PRESSBOX_OBJECTS_ACCESS_KEY_ID": objects.access_key_id.get_secret_value(),
        "PRESSBOX_OBJECTS_SECRET_ACCESS_KEY": objects.secret_access_key.get_secret_value(),
    }
    for name, value in secret.items():
        (tmp_path / name).write_text(f"{value}\n")
    home = tmp_path / "no-home"
    async with tls_in_front_of(parts.temporal_address, certificates) as address:
        yield Deployment(
            {
                "PATH": os.defpath,
                "PRESSBOX_HOME": str(home),
                "PRESSBOX_TEMPORAL_ADDRESS": address,
                "PRESSBOX_TEMPORAL_NAMESPACE": namespace,
                "PRESSBOX_TEMPORAL_TLS_SERVER_CA": str(certificates.file("authority.pem")),
                "PRESSBOX_TEMPORAL_TLS_CLIENT_CERT": str(certificates.file("client.pem")),
                "PRESSBOX_TEMPORAL_TLS_CLIENT_KEY": str(certificates.file("client.key")),
                "PRESSBOX_OBJECTS_BUCKET": objects.bucket,
                "PRESSBOX_OBJECTS_ENDPOINT": s3.endpoint,
                "PRESSBOX_WEB_HOST": EVERYWHERE,
                "PRESSBOX_WORKER_HEALTH_HOST": EVERYWHERE,
                **{f"{name}_FILE": str(tmp_path / name) for name in secret},
            },
            home,
            empty_database_url,
        )


async def token_of_an_administrator(deployment: Deployment) -> str:
    database = Database(deployment.database_url)
    try:
        accounts = AccountService(database, Settings(home=deployment.home))
        admin = await accounts.add_user("admin@example.org", secrets.token_urlsafe(16), role=Role.ADMIN)
        return (await accounts.add_token(admin.id, "test", [Scope.READ, Scope.ADMIN])).secret
    finally:
        await database.close()


async def answers(url: str, status: int = 200, **headers: str) -> httpx.Response:
    """The answer, once it has this status: processes take a moment to start."""
    async with httpx.AsyncClient(trust_env=False, headers=headers) as client, asyncio.timeout(patience(30)):
        while True:
            with suppress(httpx.TransportError):
                if (answer := await client.get(url)).status_code == status:
                    return answer
            await asyncio.sleep(0.1)


async def followed(web: str, token: str, listening: asyncio.Event) -> set[str]:
    """States of the maintenance run as one web process streams them, until it has ended."""
    seen: set[str] = set()
    client = httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {token}"}, timeout=patience(30))
    async with client, client.stream("GET", f"{web}/api/stream?topics=workflow") as stream:
        assert stream.status_code == 200
        async for line in stream.aiter_lines():
            if line == "event: hello":
                listening.set()
            if line.startswith("data: ") and (item := json.loads(line.removeprefix("data: ")).get("item")):
                seen.add(item["error"] or item["state"])
                if item["closed_at"]:
                    break
    return seen


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_settings_alone_connect_external_parts_and_two_web_processes_show_the_same(
    deployment: Deployment,
) -> None:
    first, second, health = free_port(), free_port(), free_port()
    webs = [f"http://{POD_ADDRESS}:{port}" for port in (first, second)]
    async with AsyncExitStack() as stack:
        # All at once, as a cluster does it: what starts before the migration waits for it.
        for arguments, settings in (
            (("web",), {"PRESSBOX_WEB_PORT": str(first)}),
            (("web",), {"PRESSBOX_WEB_PORT": str(second)}),
            (("worker", "--queue", "core"), {"HEALTH_PORT": str(health)}),
        ):
            await stack.enter_async_context(deployment.running(*arguments, **settings))
        assert "up to date" in await deployment.run("migrate")
        assert SCHEDULE_ID in await deployment.run("schedules", "apply")
        token = await token_of_an_administrator(deployment)
        await asyncio.gather(*(answers(f"{web}/readyz") for web in webs))
        listening = [asyncio.Event() for _ in webs]
        streams = [asyncio.create_task(followed(web, token, each)) for web, each in zip(webs, listening, strict=True)]
        async with asyncio.timeout(patience(20)):
            await asyncio.gather(*(event.wait() for event in listening))
        await deployment.run("schedules", "run", SCHEDULE_ID)
        async with asyncio.timeout(patience(20)):
            for seen in await asyncio.gather(*streams):
                assert "completed" in seen
        for web in webs:
            activity = (await answers(f"{web}/api/activity", authorization=f"Bearer {token}")).json()
            found = [(node["workflow_type"], node["state"]) for node in activity["nodes"]]
            assert found == [("MaintenanceWorkflow", "completed")]
        await the_probes_of_deploy_are_answered(webs, f"http://{POD_ADDRESS}:{health}")
    assert not deployment.home.exists(), "a container with a read-only file system has no home"


async def the_probes_of_deploy_are_answered(webs: list[str], worker: str) -> None:
    """Kubernetes asks by the pod's address, so that address must pass the check of the Host header; names must not."""
    for web in webs:
        for probe in ("/healthz", "/readyz"):
            assert (await answers(web + probe)).json() == {"status": "ok"}
        refusal = await answers(f"{web}/healthz", 400, host="elsewhere.example")
        assert "PRESSBOX_WEB_ALLOWED_HOSTS" in refusal.text
    for probe in ("/health", "/ready"):
        assert (await answers(worker + probe)).json()["status"] == "ok"
    metrics = (await answers(f"{worker}/metrics")).text
    documented = set(re.findall(r"`(temporal_[a-z_]+)`", OPERATIONS.read_text()))
    # Counters of failures begin with the first failure.
    assert {name for name in documented if "_failed" not in name and f"# TYPE {name} " not in metrics} == set()


async def test_temporal_wants_our_certificate_and_we_want_its_own(parts: Parts, certificates: Certificates) -> None:
    authority, client_cert, client_key = (
        certificates.file(name) for name in ("authority.pem", "client.pem", "client.key")
    )
    mutual = TemporalSettings(tls_server_ca=authority, tls_client_cert=client_cert, tls_client_key=client_key)
    async with tls_in_front_of(parts.temporal_address, certificates) as address:
        assert (await connect(mutual, address, lazy=False)).namespace == "default"
        for refused in (
            mutual.model_copy(update={"tls_client_cert": None, "tls_client_key": None}),
            # Signed by nobody whom this machine trusts.
            TemporalSettings(tls=True),
            TemporalSettings(),
        ):
            with pytest.raises(TransientError, match="does not answer"):
                await connect(refused, address, lazy=False)
