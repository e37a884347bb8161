"""TLS verifies the name that was asked for, although the connection goes to an address."""

import shutil
import ssl
import subprocess
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.exchange import _public_trust
from tests.integration.http.loopback import ScriptedResolver, running


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of secure.example in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=secure.example"
    subprocess.run(
        [openssl, *command.split(), "-addext", "subjectAltName=DNS:secure.example", "-keyout", "key", "-out", "cert"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    both = folder / "both.pem"
    both.write_text((folder / "key").read_text() + (folder / "cert").read_text())
    return both


async def test_the_certificate_must_be_of_the_name_and_of_somebody_we_trust(certificate: Path) -> None:
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate))
    resolver = ScriptedResolver(secure_example=["127.0.0.1"], other_example=["127.0.0.1"])
    async with running(tls=served) as server:
        server.answers("/", body=b"private")
        settings = HttpSettings(allow=(f"127.0.0.1:{server.port}",))
        async with GuardedClient(settings, resolver=resolver, ssl_context=trusting) as client:
            answer = await client.get(f"https://secure.example:{server.port}/")
            assert answer.body == b"private"
            with pytest.raises(TransientError, match=r"connection to other\.example failed"):
                await client.get(f"https://other.example:{server.port}/")
        async with GuardedClient(settings, resolver=resolver) as strict:
            with pytest.raises(TransientError, match=r"connection to secure\.example failed"):
                await strict.get(f"https://secure.example:{server.port}/")
    assert len(server.requests) == 1


async def test_clients_share_what_they_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Mock(side_effect=httpx.create_ssl_context)
    monkeypatch.setattr(httpx, "create_ssl_context", reading)
    _public_trust.cache_clear()
    for _ in range(3):
        async with GuardedClient(HttpSettings()) as client:
            with pytest.raises(RefusedAddressError):
                await client.get("http://127.0.0.1/")
    assert reading.call_count == 1
