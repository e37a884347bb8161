"""Settings: one typed tree, which an entry point reads once with `core/environment.py`.

An application's group is a class of its own, which its manifest names: `settings.group(FootySettings)`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

PREFIX = "PRESSBOX_"
ROOT_HOME = Path("/var/lib/pressbox")

AnyGroup = TypeVar("AnyGroup", bound="Group")


def _split_list(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _split_numbers(value: object) -> object:
    """`feeds=500,events=20` as a mapping."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    if any(not equals or not number.strip().isdecimal() for _, equals, number in pairs):
        raise ValueError("write name=number, separated by commas, as in feeds=500,events=20")
    return {name.strip(): int(number) for name, _, number in pairs}


CommaSeparated = Annotated[tuple[str, ...], BeforeValidator(_split_list)]
NamedNumbers = Annotated[Mapping[str, int], BeforeValidator(_split_numbers)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_split_list)]
Port = Annotated[int, Field(ge=1, le=65535)]


@dataclass(frozen=True)
class BareName:
    """Another name of a setting: in the original documents, or in earlier versions."""

    name: str


class Group(BaseModel):
    """A group of settings. Every field has a default and a description."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LogFormat(StrEnum):
    JSON = "json"
    PRETTY = "pretty"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class DatabaseSettings(Group):
    """PostgreSQL. Without a URL, `pressbox up` runs the embedded server."""

    url: SecretStr | None = Field(None, description="An external server, as postgresql://user:password@host/name.")
    port: Port | None = Field(None, description="Port of the embedded server; otherwise a free one, kept.")
    pool_size: int = Field(10, ge=1, le=200, description="Connections that one process keeps open at most.")


class TemporalSettings(Group):
    """Temporal. Without an address, `pressbox up` runs the embedded server."""

    address: str | None = Field(None, description="An external frontend, as host:port or unix:/path/of/a/socket.")
    namespace: str = Field("default", description="Namespace in which all workflows run.")
    tls: bool = Field(False, description="Speak TLS to the frontend; implied by an API key or a client certificate.")
    api_key: SecretStr | None = Field(None, description="API key, for Temporal Cloud.")
    tls_server_ca: Path | None = Field(None, description="PEM file of the authority that signed the frontend.")
    tls_client_cert: Path | None = Field(None, description="PEM file of our client certificate (mutual TLS).")
    tls_client_key: Path | None = Field(None, description="PEM file of our client key (mutual TLS).")
    ui_url: str | None = Field(
        None, description="Address of an external Temporal's web UI, for links; the embedded one is at /temporal/."
    )


class ObjectsSettings(Group):
    """Object store. Without a bucket, files lie in the home folder."""

    bucket: str | None = Field(None, description="S3 bucket; its presence switches to S3.")
    endpoint: str | None = Field(None, description="S3 endpoint URL for anything but AWS.")
    region: str = Field("us-east-1", description="S3 region.")
    access_key_id: SecretStr | None = Field(None, description="S3 access key id.")
    secret_access_key: SecretStr | None = Field(None, description="S3 secret access key.")
    prefix: str = Field("", description="Prefix of all keys inside the bucket.")


class WebSettings(Group):
    """The web application."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: Port = Field(8030, description="Port to listen on.")
    public_url: str | None = Field(None, description="The address people use, when a proxy stands in front.")
    allowed_hosts: CommaSeparated = Field((), description="Host names to answer to, besides loopback and public URL.")
    trusted_proxies: CommaSeparated = Field((), description="Addresses or networks whose X-Forwarded-For is believed.")
    metrics_token: SecretStr | None = Field(
        None, min_length=20, description="Opens /metrics for a scraper that has no account; a long random text."
    )
    session_days: int = Field(30, ge=1, le=365, description="Days after which an unused session ends.")
    max_body_bytes: int = Field(
        10_000_000, ge=1_000, description="Largest request body that is read: a file. Forms and JSON have 256 kB."
    )
    connections_per_address: int = Field(
        256, ge=8, description="Connections from one address; trusted proxies are not counted."
    )
    connections_in_all: int = Field(2000, ge=16, description="Connections that one web process keeps open.")
    streams_per_address: int = Field(200, ge=1, description="Live pages that are open from one client address.")
    streams_in_all: int = Field(1000, ge=1, description="Live pages that one web process keeps open.")


class SecondFactorRule(StrEnum):
    NOBODY = "nobody"
    ADMINISTRATORS = "administrators"
    EVERYBODY = "everybody"


class AccountsSettings(Group):
    """Accounts."""

    second_factor: SecondFactorRule = Field(
        SecondFactorRule.NOBODY,
        description="Who must have a second factor: nobody, administrators or everybody.",
    )


class AdmissionSettings(Group):
    """Who of the people that another service knows may come in, and as what."""

    allowed_groups: CommaSeparated = Field((), description="Groups that may sign in; without any, everybody may.")
    admin_groups: CommaSeparated = Field(
        (), description="Groups whose people are administrators; once set, all others are members."
    )
    create_accounts: bool = Field(False, description="1 makes an account for people who have none yet.")
    link_by_email: bool = Field(
        False, description="1 connects people to the account with their e-mail address, if it is a verified one."
    )


class OidcSettings(AdmissionSettings):
    """Sign-in by an OpenID Connect provider."""

    issuer: str | None = Field(None, description="Address of the provider, as it calls itself; switches it on.")
    client_id: str | None = Field(None, description="Client id, as registered with the provider.")
    client_secret: SecretStr | None = Field(None, description="Client secret; none for a public client.")
    scopes: CommaSeparated = Field(("openid", "profile", "email"), description="What we ask the provider for.")
    groups_claim: str = Field("groups", description="Claim with the groups; dots lead inside, as realm_access.roles.")
    button: str = Field("Single sign-on", description="What the button on the sign-in page says.")
    ca_file: Path | None = Field(None, description="PEM file of a private authority that signed the provider.")


class TrustedHeaderSettings(AdmissionSettings):
    """Sign-in by a header that a proxy of PRESSBOX_WEB_TRUSTED_PROXIES sets."""

    enabled: bool = Field(False, description="1 believes the trusted proxies who somebody is.")
    user: str = Field("Remote-User", description="Header with the name that the proxy knows somebody by.")
    email: str = Field("Remote-Email", description="Header with the e-mail address.")
    name: str = Field("Remote-Name", description="Header with the name to show.")
    groups: str = Field("Remote-Groups", description="Header with the groups, comma-separated.")
    sign_out_url: str | None = Field(None, description="Where people sign out of the proxy; shown after signing out.")


class WorkerSettings(Group):
    """The worker."""

    health_port: Annotated[int, BareName("HEALTH_PORT")] = Field(
        8080,
        ge=0,
        le=65535,
        description="Port of /health, /ready and /metrics; 0 takes a free one.",
    )
    health_host: str = Field("127.0.0.1", description="Address of the health port.")
    max_concurrent_activities: Annotated[int, BareName("MAX_CONCURRENT_ACTIVITIES")] = Field(
        100,
        ge=1,
        description="Activities at the same time per task queue, unless the queue says otherwise.",
    )
    max_concurrent_workflow_tasks: Annotated[int, BareName("MAX_CONCURRENT_WORKFLOW_TASKS")] = Field(
        100,
        ge=2,
        description="Workflow tasks at the same time per task queue.",
    )
    max_concurrent_local_activities: Annotated[int, BareName("MAX_CONCURRENT_LOCAL_ACTIVITIES")] = Field(
        100,
        ge=1,
        description="Short steps inside workflow tasks at the same time per task queue.",
    )
    memory_target_percent: int = Field(
        80, ge=1, le=100, description="Memory in use above which a worker takes less of heavy queues."
    )
    processor_target_percent: int = Field(
        90, ge=1, le=100, description="Processor time in use above which a worker takes less of heavy queues."
    )
    max_cached_workflows: int = Field(2000, ge=0, description="Workflows kept in memory per task queue.")
    graceful_shutdown_seconds: float = Field(10.0, ge=0, description="Time for running activities to end on a stop.")
    deployment: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="Name of a Temporal worker deployment; switches versions of workers on. See docs/operations.md.",
    )
    build_id: str | None = Field(
        None, description="The version of this worker in its deployment, unless it is that of the program."
    )


class TracingSettings(Group):
    """Traces by OpenTelemetry, from a request or a workflow to its statements."""

    endpoint: Annotated[str | None, BareName("OTEL_EXPORTER_OTLP_ENDPOINT")] = Field(
        None, description="Collector that takes OTLP over HTTP, as http://localhost:4318; switches traces on."
    )
    headers: Annotated[SecretStr | None, BareName("OTEL_EXPORTER_OTLP_HEADERS")] = Field(
        None, description="Headers for the collector, as name=value, separated by commas."
    )
    share: float = Field(1.0, gt=0, le=1, description="Share of requests and runs that are traced.")


class HttpSettings(Group):
    """Outbound HTTP to addresses that a user or a feed names."""

    allow: CommaSeparated = Field(
        (), description="Private targets that an administrator allows: host:port or networks such as 10.0.0.0/24."
    )
    user_agent: str = Field("Pressbox/0.1 (self-hosted)", description="How we introduce ourselves.")
    contact: str | None = Field(
        None, description="Address or page by which operators of other servers reach you; sent with every request."
    )
    timeout_seconds: float = Field(30.0, gt=0, le=600, description="Longest time for one whole exchange.")
    max_bytes: int = Field(20_000_000, ge=1, description="Largest answer, counted after decompression.")
    max_redirects: int = Field(5, ge=0, le=20, description="Redirects that are followed.")

    @property
    def introduction(self) -> str:
        """The user agent, with the contact where one is set."""
        contact = "".join(character for character in self.contact or "" if " " < character < "\x7f")
        if not contact:
            return self.user_agent
        return (
            f"{self.user_agent[:-1]}; {contact})" if self.user_agent.endswith(")") else f"{self.user_agent} ({contact})"
        )


class SpendingSettings(Group):
    """What paid services may take each day: language models, translators and paid searches of all applications."""

    tokens_per_day: Annotated[int, BareName("PRESSBOX_CURATOR_TOKENS_PER_DAY")] = Field(
        200_000,
        ge=0,
        description="Tokens from midnight to midnight, UTC; 4 characters of a translator count as one, a post as 70.",
    )
    cost_per_day: float | None = Field(
        None, ge=0, description="Most that a day may cost, in the currency of the prices; without it tokens decide."
    )


class LogSettings(Group):
    """Logs, on standard error; under `pressbox up` in files in the home."""

    format: Annotated[LogFormat | None, BareName("LOG_FORMAT")] = Field(
        None, description="json for machines, pretty for people; otherwise pretty on a terminal and json elsewhere."
    )
    level: Annotated[LogLevel, BareName("LOG_LEVEL")] = Field(LogLevel.INFO, description="Least level that is written.")
    max_bytes: int = Field(10_000_000, ge=10_000, description="Size at which `up` rotates a log in the home.")
    kept_files: int = Field(3, ge=0, le=100, description="Older files of each log that `up` keeps.")


class TestingSettings(Group):
    """For tests and the demo only."""

    faults_directory: Path | None = Field(None, description="Folder of planted faults. Unset in production.")


class Settings(Group):
    """The whole tree."""

    home: Path = Field(default_factory=lambda: default_home(), description="Folder of everything that Pressbox keeps.")
    open: bool = Field(False, description="1 lets a single trusted user in without signing in, on loopback only.")
    secret_key: SecretStr | None = Field(None, description="Instance key; generated into the home at the first start.")
    old_secret_keys: SecretStr | None = Field(
        None, description="Earlier instance keys, comma-separated, until `pressbox rotate-key` has run."
    )
    demo: bool = Field(False, description="1 also runs the demo world; `pressbox demo` sets it.")
    quotas: NamedNumbers = Field({}, description="Limits per person, as feeds=500,events=20; the rest as documented.")
    database: DatabaseSettings = DatabaseSettings()
    temporal: TemporalSettings = TemporalSettings()
    objects: ObjectsSettings = ObjectsSettings()
    web: WebSettings = WebSettings()
    accounts: AccountsSettings = AccountsSettings()
    oidc: OidcSettings = OidcSettings()
    trusted_header: TrustedHeaderSettings = TrustedHeaderSettings()
    worker: WorkerSettings = WorkerSettings()
    tracing: TracingSettings = TracingSettings()
    http: HttpSettings = HttpSettings()
    log: LogSettings = LogSettings()
    spending: SpendingSettings = SpendingSettings()
    testing: TestingSettings = TestingSettings()
    applications: tuple[Group, ...] = Field((), description="The groups of the applications; see `group`.")

    @property
    def secrets(self) -> Path:
        """The folder of what nobody else may read."""
        return self.home.expanduser() / "secrets"

    @property
    def secret_keys(self) -> tuple[str, ...]:
        """The instance key, then older ones: the first seals, all of them open."""
        kept = [key.get_secret_value() for key in (self.secret_key, self.old_secret_keys) if key is not None]
        return tuple(key.strip() for line in kept for key in line.split(",") if key.strip())

    def group(self, kind: type[AnyGroup]) -> AnyGroup:
        """The settings of an application."""
        return next((found for found in self.applications if isinstance(found, kind)), None) or kind()

    def with_group(self, group: Group) -> "Settings":
        others = tuple(found for found in self.applications if type(found) is not type(group))
        return self.model_copy(update={"applications": (*others, group)})


# The groups of the applications, by the word that stands in the names of their variables.
Groups = Mapping[str, type[Group]]
NO_GROUPS: Groups = {}


def default_home() -> Path:
    # Root's PostgreSQL runs under another uid, which cannot reach a folder below root's private home.
    return ROOT_HOME if os.geteuid() == 0 else Path(platformdirs.user_data_dir("pressbox", appauthor=False))
