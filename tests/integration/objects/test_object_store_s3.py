"""What is special about S3: credentials, links, buckets, a server that is away."""

import secrets
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from obstore.store import S3Store
from pydantic import SecretStr

from pressbox.core.config import ObjectsSettings
from pressbox.core.errors import ConfigurationError, PressboxError, TransientError
from pressbox.core.objects.adapter import ObstoreObjects
from pressbox.core.objects.factory import open_store
from pressbox.core.objects.store import ObjectStore
from tests.integration.objects.seaweed import GUEST, OWNER, S3Server, free_ports
from tests.waiting import PATIENCE_SECONDS


async def every_failure(store: ObjectStore) -> list[PressboxError]:
    async def list_all() -> None:
        async for _ in store.list():
            pass

    async def stream() -> None:
        async for _ in store.stream("key"):
            pass

    failures = []
    for attempt in (store.put("key", b"x"), store.get("key"), list_all(), stream(), store.check()):
        with pytest.raises(PressboxError) as caught:
            await attempt
        failures.append(caught.value)
    return failures


async def test_a_wrong_secret_is_refused_and_not_repeated(s3_server: S3Server) -> None:
    wrong = "wrong-" + secrets.token_urlsafe(20)
    for failure in await every_failure(open_store(s3_server.settings(secret=wrong), Path())):
        assert type(failure) is ConfigurationError
        assert "PRESSBOX_OBJECTS" in failure.message
        for secret in (wrong, OWNER.access_key, OWNER.secret_key):
            assert secret not in repr(failure)
        # What Temporal would store as the cause.
        assert failure.__cause__ is None


async def test_an_unknown_access_key_is_refused(s3_server: S3Server) -> None:
    settings = s3_server.settings().model_copy(update={"access_key_id": SecretStr("AKIDNOBODY")})
    assert {type(failure) for failure in await every_failure(open_store(settings, Path()))} == {ConfigurationError}


async def test_a_missing_bucket_is_a_wrong_setting_and_not_a_missing_object(s3_server: S3Server) -> None:
    store = open_store(s3_server.settings(bucket="never-made", identity=GUEST), Path())
    for failure in await every_failure(store):
        assert type(failure) is ConfigurationError
        assert "never-made" in failure.message


async def test_a_server_that_is_away_is_worth_another_try() -> None:
    (port,) = free_ports(1)
    settings = S3Server(f"http://127.0.0.1:{port}").settings()
    with pytest.raises(TransientError, match="does not answer"):
        await open_store(settings, Path()).get("key")


async def test_a_link_lets_anybody_read_just_that_object(s3_server: S3Server) -> None:
    store = open_store(s3_server.settings(prefix=f"links-{secrets.token_hex(4)}"), Path())
    await store.put("clips/ein tor.mp4", b"goal")
    link = await store.link("clips/ein tor.mp4", timedelta(minutes=5))
    assert link is not None
    assert OWNER.secret_key not in link
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as browser:
        assert (await browser.get(link)).content == b"goal"
        assert (await browser.get(link.replace("tor", "foul"))).status_code == 403
        assert (await browser.get(link.partition("?")[0])).status_code == 403


async def test_two_prefixes_do_not_see_each_other(s3_server: S3Server) -> None:
    name = secrets.token_hex(4)
    one = open_store(s3_server.settings(prefix=f"{name}/one"), Path())
    other = open_store(s3_server.settings(prefix=f"{name}/other/"), Path())
    await one.put("key", b"1")
    assert await other.info("key") is None
    assert [item.key async for item in other.list()] == []
    whole = open_store(s3_server.settings(prefix=name), Path())
    assert [item.key async for item in whole.list()] == ["one/key"]


@pytest.mark.parametrize(
    ("change", "variable"),
    [
        ({"secret_access_key": None}, "PRESSBOX_OBJECTS_SECRET_ACCESS_KEY"),
        ({"access_key_id": None}, "PRESSBOX_OBJECTS_ACCESS_KEY_ID"),
        ({"endpoint": "ftp://example.org"}, "PRESSBOX_OBJECTS_ENDPOINT"),
        ({"endpoint": "example.org:9000"}, "PRESSBOX_OBJECTS_ENDPOINT"),
        ({"endpoint": "http://key:secret@example.org"}, "PRESSBOX_OBJECTS_ENDPOINT"),
        ({"prefix": "../elsewhere"}, "PRESSBOX_OBJECTS_PREFIX"),
        ({"prefix": "/absolute"}, "PRESSBOX_OBJECTS_PREFIX"),
    ],
)
def test_settings_that_cannot_work_are_named(change: dict[str, str | None], variable: str) -> None:
    settings = S3Server("http://127.0.0.1:9").settings().model_copy(update=change)
    with pytest.raises(ConfigurationError, match=variable):
        open_store(settings, Path())


def test_a_bucket_without_endpoint_is_amazon_s3() -> None:
    store = open_store(ObjectsSettings(bucket="pictures", region="eu-central-1"), Path())
    assert isinstance(store, ObstoreObjects)
    assert isinstance(store._store, S3Store)
    config = store._store.config
    assert (config.get("bucket"), config.get("region")) == ("pictures", "eu-central-1")
    assert config.get("endpoint") is None
