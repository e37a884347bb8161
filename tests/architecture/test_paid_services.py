"""Whoever is billed for requests is known: every key of the settings is that of a paid service, or says why not."""

import re
from pathlib import Path

import pressbox
from pressbox.core.environment import variables
from pressbox.entry.manifests import APPLICATIONS, settings_groups

SOURCE = Path(pressbox.__file__).parent

# Secrets by which nobody is billed for a request.
FREE = {
    "PRESSBOX_SECRET_KEY": "our own key",
    "PRESSBOX_OLD_SECRET_KEYS": "our own keys",
    "PRESSBOX_DATABASE_URL": "our own database",
    "PRESSBOX_TEMPORAL_API_KEY": "Temporal's operator bills actions, not requests that we could refuse to make",
    "PRESSBOX_OBJECTS_ACCESS_KEY_ID": "storage is billed by size",
    "PRESSBOX_OBJECTS_SECRET_ACCESS_KEY": "storage is billed by size",
    "PRESSBOX_OIDC_CLIENT_SECRET": "sign-in",
    "PRESSBOX_WEB_METRICS_TOKEN": "opens our own metrics",
    "PRESSBOX_TRACING_HEADERS": "the collector of the instance",
    "PRESSBOX_FOOTY_API_KEY": "a subscription with a fixed number of requests",
    "PRESSBOX_FOOTY_X_BROWSER_TOKEN": "our own service",
    "PRESSBOX_FOOTY_BLUESKY_APP_PASSWORD": "free",
    "PRESSBOX_FOOTY_REDDIT_CLIENT_SECRET": "free within its limits",
    "PRESSBOX_CURATOR_GITHUB_KEY": "free within its limits",
    "PRESSBOX_CURATOR_LANGFUSE_SECRET_KEY": "scores only, one for each judged text",
    "PRESSBOX_SOONISH_SMTP_PASSWORD": "the mail server of the instance",
    "PRESSBOX_SOONISH_OLD_SECRET_KEYS": "our own keys",
}
# Modules with an HTTP client of their own: whatever else goes out is through the guard.
CLIENTS = {
    "core/models/chat.py": "asked by ModelClient only, which pays",
    "curator/translate/translators.py": "asked by ServiceTranslator only, which pays",
    "curator/evaluate/langfuse.py": "free",
    "footy/adapters/sources/x_browser.py": "our own service",
    "core/temporal/health.py": "our own worker",
    "core/web/pages/temporal.py": "our own Temporal",
    "delivery/adapters/apprise_api.py": "a service of the instance's administrator",
}


def paid_keys() -> set[str]:
    return {key for manifest in APPLICATIONS for service in manifest.paid for key in service.keys}


def test_every_secret_is_the_key_of_a_paid_service_or_says_why_not() -> None:
    secrets = {variable.name for variable in variables(settings_groups()) if variable.secret}
    assert secrets == paid_keys() | set(FREE)
    assert not paid_keys() & set(FREE)


def test_only_the_model_client_asks_a_chat_endpoint() -> None:
    asking = {path for path in _sources() if re.search(r"\.converse\(", (SOURCE / path).read_text())}
    assert asking == {"core/models/client.py"}


def test_no_service_is_asked_by_a_client_that_nobody_knows() -> None:
    own = {path for path in _sources() if "httpx.AsyncClient(" in (SOURCE / path).read_text()}
    assert {path for path in own if not path.startswith(("demo/", "bench/", "embedded/", "entry/"))} == set(CLIENTS)


def _sources() -> list[str]:
    return [str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")]
