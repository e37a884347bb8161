"""How settings become a TLS configuration for Temporal."""

from pathlib import Path

import pytest
from pydantic import SecretStr
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from pressbox.core.config import TemporalSettings
from pressbox.core.errors import ConfigurationError, TransientError
from pressbox.core.temporal.client import tls, translate_rpc_errors


def file(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(f"{name} in PEM")
    return path


def test_without_any_setting_the_connection_is_plain() -> None:
    assert tls(TemporalSettings()) is False


def test_tls_can_be_asked_for_and_trusts_whom_the_machine_trusts() -> None:
    assert tls(TemporalSettings(tls=True)) is True


def test_an_api_key_never_travels_in_clear() -> None:
    assert tls(TemporalSettings(api_key=SecretStr("key"))) is True


def test_an_authority_of_our_own_implies_tls(tmp_path: Path) -> None:
    found = tls(TemporalSettings(tls_server_ca=file(tmp_path, "authority")))
    assert found == TLSConfig(server_root_ca_cert=b"authority in PEM")


def test_a_client_certificate_comes_with_its_key(tmp_path: Path) -> None:
    found = tls(
        TemporalSettings(tls_client_cert=file(tmp_path, "certificate"), tls_client_key=file(tmp_path, "key")),
    )
    assert found == TLSConfig(client_cert=b"certificate in PEM", client_private_key=b"key in PEM")


@pytest.mark.parametrize("only", ["tls_client_cert", "tls_client_key"])
def test_half_a_client_certificate_is_refused(tmp_path: Path, only: str) -> None:
    with pytest.raises(ConfigurationError, match="belong together"):
        tls(TemporalSettings.model_validate({only: file(tmp_path, "half")}))


def test_a_file_that_is_not_there_is_named_with_the_setting_to_check(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent\.pem: No such file.*PRESSBOX_TEMPORAL_TLS"):
        tls(TemporalSettings(tls_server_ca=tmp_path / "absent.pem"))


@pytest.mark.parametrize("status", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED"])
def test_whatever_a_busy_server_says_pages_hear_that_it_does_not_answer(status: str) -> None:
    with pytest.raises(TransientError), translate_rpc_errors():
        raise RPCError("busy", RPCStatusCode[status], b"")
