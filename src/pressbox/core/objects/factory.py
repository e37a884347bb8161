"""Opens the object store that the settings ask for."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from obstore.exceptions import BaseError
from obstore.store import LocalStore, S3Store

from pressbox.core.config import ObjectsSettings
from pressbox.core.errors import ConfigurationError, InvalidInputError
from pressbox.core.objects.adapter import ObstoreObjects
from pressbox.core.objects.store import ObjectStore, check_prefix

if TYPE_CHECKING:
    from obstore.store import S3Config

CONNECT_TIMEOUT = timedelta(seconds=5)
READ_TIMEOUT = timedelta(seconds=30)
# For one whole request, so it must let a clip of some hundred megabytes through a slow line.
REQUEST_TIMEOUT = timedelta(minutes=15)
RETRIES = 3
RETRY_TIMEOUT = timedelta(seconds=20)


def open_store(settings: ObjectsSettings, home_objects: Path) -> ObjectStore:
    """S3 when a bucket is set, otherwise the folder `home_objects`, which is made when it is missing."""
    return _local(home_objects) if settings.bucket is None else _s3(settings, settings.bucket)


def _local(folder: Path) -> ObjectStore:
    place = f"The object folder {folder}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = LocalStore(folder, automatic_cleanup=True)
    except (OSError, BaseError) as error:
        raise ConfigurationError(
            f"{place} cannot be used: {getattr(error, 'strerror', None) or 'it is not a folder'}. "
            "Choose another PRESSBOX_HOME or set its permissions."
        ) from error
    advice = "Look at the disk and at the folder's permissions."
    return ObstoreObjects(store, place=place, advice=advice, local_folder=folder)


def _s3(settings: ObjectsSettings, bucket: str) -> ObjectStore:
    if (settings.access_key_id is None) != (settings.secret_access_key is None):
        raise ConfigurationError(
            "Set both PRESSBOX_OBJECTS_ACCESS_KEY_ID and PRESSBOX_OBJECTS_SECRET_ACCESS_KEY, or neither."
        )
    endpoint = _endpoint(settings.endpoint)
    try:
        store = S3Store(
            bucket,
            prefix=_prefix(settings.prefix) or None,
            config=_config(settings, endpoint),
            client_options={
                "allow_http": endpoint is not None and endpoint.startswith("http://"),
                "connect_timeout": CONNECT_TIMEOUT,
                "read_timeout": READ_TIMEOUT,
                "timeout": REQUEST_TIMEOUT,
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": RETRY_TIMEOUT},
        )
    except BaseError:
        # Its text may repeat what it was given.
        raise ConfigurationError("PRESSBOX_OBJECTS_*: the S3 settings do not fit together.") from None
    where = f"The bucket {bucket} at {urlsplit(endpoint).netloc}" if endpoint else f"The bucket {bucket}"
    return ObstoreObjects(
        store, place=where, advice="Look at PRESSBOX_OBJECTS_ENDPOINT, _BUCKET, _ACCESS_KEY_ID and _SECRET_ACCESS_KEY."
    )


def _config(settings: ObjectsSettings, endpoint: str | None) -> "S3Config":
    # Servers other than AWS rarely have a name per bucket.
    config: S3Config = {"region": settings.region, "virtual_hosted_style_request": endpoint is None}
    if endpoint is not None:
        config["endpoint"] = endpoint
    # Without keys, the machine's own role is used, as a server in the cloud has it.
    if settings.access_key_id is not None and settings.secret_access_key is not None:
        config["access_key_id"] = settings.access_key_id.get_secret_value()
        config["secret_access_key"] = settings.secret_access_key.get_secret_value()
    return config


def _endpoint(endpoint: str | None) -> str | None:
    if endpoint is None:
        return None
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ConfigurationError("PRESSBOX_OBJECTS_ENDPOINT: write it as https://host or https://host:port.")
    return endpoint.removesuffix("/")


def _prefix(prefix: str) -> str:
    try:
        return check_prefix(prefix)
    except InvalidInputError as error:
        raise ConfigurationError(f"PRESSBOX_OBJECTS_PREFIX: {error.message}") from error
