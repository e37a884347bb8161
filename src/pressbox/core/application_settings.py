"""Settings of the applications, and what every group of settings is made of. `core.config` reads them."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr


def _split_list(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


CommaSeparated = Annotated[tuple[str, ...], BeforeValidator(_split_list)]
Numbers = Annotated[tuple[int, ...], BeforeValidator(_split_list)]
Port = Annotated[int, Field(ge=1, le=65535)]


@dataclass(frozen=True)
class BareName:
    """A name without our prefix under which the original documents know a setting."""

    name: str


class Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SmtpSecurity(StrEnum):
    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


class SoonishSettings(Group):
    """Events, announcements and reminders."""

    merge_window_seconds: float = Field(60.0, ge=0, le=3600, description="Edits within this time are one message.")
    batch_size: int = Field(500, ge=1, le=5000, description="Recipients that one activity takes at a time.")
    concurrent_deliveries: int = Field(64, ge=1, le=512, description="Messages on their way at the same time.")
    deliveries_per_host_per_second: float = Field(
        500.0, gt=0, description="Most messages per second to one host. Retry-After is always obeyed."
    )
    smtp_host: str | None = Field(None, description="Mail server for people without an account; without it, no e-mail.")
    smtp_port: Port = Field(587, description="Port of the mail server.")
    smtp_user: str | None = Field(None, description="User name at the mail server.")
    smtp_password: SecretStr | None = Field(None, description="Password at the mail server.")
    smtp_from: str | None = Field(None, description="Sender address of our mail, as Events <events@example.org>.")
    smtp_security: SmtpSecurity = Field(
        SmtpSecurity.STARTTLS, description="starttls, tls from the first byte, or none on a trusted network."
    )
    apprise_api_url: str | None = Field(None, description="An Apprise API server that sends instead of this process.")
    allow_local_schemes: CommaSeparated = Field(
        (), description="Apprise schemes that act on this machine itself and are allowed all the same, such as dbus."
    )
    old_secret_keys: SecretStr | None = Field(
        None, description="Earlier instance keys, comma-separated, until `pressbox soonish rotate-key` has run."
    )


class JudgeKind(StrEnum):
    OFFLINE = "offline"
    VISION_LLM = "vision-llm"


class AliasKind(StrEnum):
    WIKIDATA = "wikidata"
    CLUBS = "clubs"


class DuplicateRule(StrEnum):
    BETTER = "better"
    DOCUMENT = "document"


class FootySettings(Group):
    """Live fixtures, goals and their clips. Without an API key nothing is polled; `pressbox demo` needs none."""

    api_key: Annotated[SecretStr | None, BareName("API_FOOTBALL_KEY")] = Field(
        None, description="Key of API-Football; without it there are no fixtures."
    )
    api_url: str = Field("https://v3.football.api-sports.io", description="Address of API-Football.")
    leagues: Numbers = Field((39, 140, 78, 135, 61), description="Leagues whose fixtures are all followed, by API id.")
    teams: Numbers = Field((), description="Teams that are followed in every competition, by API id.")
    monitor_seconds: float = Field(30.0, ge=0.2, le=3600, description="Seconds from one poll to the next.")
    removal_grace_hours: float = Field(
        24.0, ge=0, description="Hours that a disallowed goal can return with its clips."
    )
    completion_deadline_minutes: float = Field(
        45.0, gt=0, description="Minutes after its confirmation when a goal is complete whatever is stuck."
    )
    retention_days: int = Field(14, ge=1, description="Days that fixtures and their clips are kept.")
    sources: CommaSeparated = Field(
        (), description="Clip sources to search, such as x-browser,bluesky,folder; otherwise all that are configured."
    )
    x_browser_url: str | None = Field(None, description="Address of a running `pressbox x serve`.")
    x_browser_token: SecretStr | None = Field(None, description="Token of the X search service, on both sides.")
    x_page_url: str = Field("https://x.com", description="Where `pressbox x serve` searches.")
    x_serve_host: str = Field("127.0.0.1", description="Address on which `pressbox x serve` listens.")
    x_serve_port: Port = Field(8031, description="Port on which `pressbox x serve` listens.")
    x_chromium: str | None = Field(None, description="Program of the browser; otherwise the one of the system.")
    x_api_url: str = Field("https://api.x.com", description="Address of the official API of X.")
    x_api_token: SecretStr | None = Field(None, description="Bearer token of the official API of X.")
    bluesky_url: str = Field("https://public.api.bsky.app", description="Address of Bluesky's search.")
    bluesky_login_url: str = Field("https://bsky.social", description="Where the Bluesky app password is valid.")
    bluesky_handle: str | None = Field(None, description="Account for the search on Bluesky.")
    bluesky_app_password: SecretStr | None = Field(None, description="App password of that account.")
    reddit_url: str | None = Field(None, description="Address of Reddit, when not the public one.")
    reddit_client_id: str | None = Field(None, description="Client id of a Reddit script application.")
    reddit_client_secret: SecretStr | None = Field(None, description="Its secret.")
    reddit_subreddits: CommaSeparated = Field((), description="Subreddits to read, such as soccer,footballhighlights.")
    folder: str | None = Field(None, description="A directory, or the address of an index, with clips and side-cars.")
    largest_bytes: int = Field(200_000_000, ge=1_000, description="Largest clip that is downloaded.")
    judge: JudgeKind = Field(JudgeKind.OFFLINE, description="offline, or vision-llm for an OpenAI-compatible endpoint.")
    vision_url: str | None = Field(None, description="Base address of the endpoint, as http://localhost:1234/v1.")
    vision_key: SecretStr | None = Field(None, description="Key of the endpoint, when it wants one.")
    vision_model: str | None = Field(None, description="Name of a model that sees pictures.")
    aliases: AliasKind = Field(AliasKind.WIKIDATA, description="wikidata, or clubs for the built-in list, offline.")
    wikidata_url: str = Field("https://www.wikidata.org", description="Address of the search of Wikidata.")
    wikidata_query_url: str = Field("https://query.wikidata.org/sparql", description="Address of its SPARQL service.")
    duplicates: DuplicateRule = Field(
        DuplicateRule.BETTER,
        description="Which clips are copies: better, or the rule of the original document (3 frames, 10 bits).",
    )
    media_concurrency: int = Field(2, ge=1, le=64, description="Videos that one worker decodes at the same time.")
    speed: float = Field(1.0, gt=0, le=10_000, description="Divides all times. For the demo only.")


class DistillerKind(StrEnum):
    EXTRACTIVE = "extractive"
    LLM = "llm"


class EmbedderKind(StrEnum):
    BUNDLED = "bundled"
    FASTEMBED = "fastembed"


class TranslatorKind(StrEnum):
    DEEPL = "deepl"
    MICROSOFT = "microsoft"
    LLM = "llm"


class ContextKind(StrEnum):
    OFFLINE = "offline"
    LLM = "llm"


class GraphKind(StrEnum):
    POSTGRES = "postgres"
    LIGHTRAG = "lightrag"


class LightRagStorage(StrEnum):
    NETWORKX = "networkx"
    MEMGRAPH = "memgraph"


class EvaluatorKind(StrEnum):
    OFFLINE = "offline"
    RAGAS = "ragas"


class CuratorSettings(Group):
    """Feeds, articles and their summaries. Works without any of these: offline, without a key."""

    ingest_minutes: float = Field(
        5.0, ge=0.1, le=1440, description="Minutes from one look for due feeds to the next; each has its own interval."
    )
    shortest_interval_minutes: float = Field(15.0, gt=0, description="Least minutes between two crawls of a feed.")
    longest_interval_hours: float = Field(24.0, gt=0, description="Most hours between two crawls of a feed.")
    feeds_at_once: Annotated[int, BareName("FEED_INGESTION_CONCURRENCY")] = Field(
        10, ge=1, le=500, description="Feeds with news that are worked on at the same time."
    )
    entries_per_crawl: int = Field(200, ge=1, le=10_000, description="Most new entries taken from one crawl of a feed.")
    full_text: bool = Field(True, description="Fetch the pages of articles; 0 uses what the feeds hold.")
    auto_distill: bool = Field(True, description="Summarise new entries at once; 0 waits until somebody asks.")
    host_delay_seconds: float = Field(
        2.0, ge=0, le=3600, description="Seconds between two requests for pages of one host, for the whole instance."
    )
    distiller: DistillerKind = Field(
        DistillerKind.EXTRACTIVE, description="extractive, offline, or llm for an OpenAI-compatible endpoint."
    )
    model_url: str | None = Field(None, description="Base address of the endpoint, as http://localhost:1234/v1.")
    model_key: SecretStr | None = Field(None, description="Key of the endpoint, when it wants one.")
    model_name: str | None = Field(None, description="Name of the model.")
    model_timeout_seconds: float = Field(120.0, gt=0, le=600, description="Longest wait for one answer of the model.")
    model_fallback: bool = Field(
        False, description="1 summarises offline when the model does not answer; otherwise the work waits for it."
    )
    target_language: str = Field("", description="Language of summaries, such as de; otherwise that of the article.")
    tokens_per_day: int = Field(200_000, ge=0, description="Tokens that models may use from midnight to midnight, UTC.")
    price_per_million_in: float = Field(0.0, ge=0, description="Price of a million tokens sent, for the cost pages.")
    price_per_million_out: float = Field(0.0, ge=0, description="Price of a million tokens answered.")
    embedder: EmbedderKind = Field(
        EmbedderKind.BUNDLED, description="bundled, offline, or fastembed for a model of your own."
    )
    embedding_model: Annotated[str, BareName("EMBEDDING_MODEL")] = Field(
        "sentence-transformers/paraphrase-multilingual-mpnet-base-v2", description="Name of the fastembed model."
    )
    embedding_path: Path | None = Field(None, description="Folder with the files of that model; nothing is downloaded.")
    index_path: Path | None = Field(
        None, description="Folder of the search index; otherwise `index` in the home. Web and its worker share it."
    )
    heavy_concurrency: int = Field(2, ge=1, le=64, description="Pieces of model and CPU work at once per worker.")
    keep_days: int = Field(7, ge=1, description="Days that entries stay which everybody has read and nobody kept.")
    translator: Annotated[TranslatorKind, BareName("TRANSLATION_PROVIDER")] = Field(
        TranslatorKind.MICROSOFT, description="Who translates: deepl, microsoft, or llm for the model above."
    )
    deepl_url: str = Field("https://api-free.deepl.com", description="DeepL's address; paid keys use api.deepl.com.")
    deepl_key: Annotated[SecretStr | None, BareName("DEEPL_API_KEY")] = Field(None, description="Key of DeepL.")
    microsoft_url: str = Field(
        "https://api.cognitive.microsofttranslator.com", description="Address of Microsoft's translator."
    )
    microsoft_key: SecretStr | None = Field(None, description="Key of Microsoft's translator.")
    microsoft_region: str = Field("", description="Region of that key, such as westeurope; empty for a global one.")
    price_per_million_characters: float = Field(
        0.0, ge=0, description="Price of a million characters at DeepL or Microsoft, for the cost pages."
    )
    context: ContextKind = Field(
        ContextKind.OFFLINE, description="Who finds entities and relations: offline rules, or llm for the model above."
    )
    github_url: str = Field("https://api.github.com", description="Where repositories of software are looked for.")
    github_key: SecretStr | None = Field(None, description="A GitHub token; it raises the limit of requests.")
    graph: GraphKind = Field(GraphKind.POSTGRES, description="postgres, or lightrag, which is an extra.")
    graph_minutes: float = Field(60.0, ge=0.1, description="Minutes between two updates of the graph.")
    lightrag_storage: LightRagStorage = Field(
        LightRagStorage.NETWORKX,
        description="Where LightRAG keeps its graph: networkx, a file, or memgraph by LightRAG's own MEMGRAPH_URI.",
    )
    lightrag_path: Path | None = Field(None, description="LightRAG's folder; otherwise `lightrag` in the home.")
    research_rounds: int = Field(3, ge=1, le=10, description="Most rounds of searching and reading per research.")
    research_tokens: int = Field(60_000, ge=1_000, description="Most tokens that one research may use.")
    research_minutes: float = Field(20.0, gt=0, description="Longest time that one research may work.")
    evaluation: Annotated[bool, BareName("AI_EVALUATION_ENABLED")] = Field(
        False, description="1 judges answers, and summaries written by a model."
    )
    evaluator: EvaluatorKind = Field(EvaluatorKind.OFFLINE, description="offline, or ragas, which is an extra.")
    langfuse_url: Annotated[str | None, BareName("LANGFUSE_HOST")] = Field(
        None, description="Langfuse server that scores are sent to as well."
    )
    langfuse_public_key: Annotated[str | None, BareName("LANGFUSE_PUBLIC_KEY")] = Field(
        None, description="Its public key."
    )
    langfuse_secret_key: Annotated[SecretStr | None, BareName("LANGFUSE_SECRET_KEY")] = Field(
        None, description="Its secret key."
    )
    speed: float = Field(1.0, gt=0, le=10_000, description="Divides all times. For the demo only.")
