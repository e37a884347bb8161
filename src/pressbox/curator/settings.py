"""Settings of the curator: PRESSBOX_CURATOR_…"""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from pressbox.core.config import BareName, Group, NamedNumbers, Settings
from pressbox.curator.library.domain import CuratorPolicy


class DistillerKind(StrEnum):
    EXTRACTIVE = "extractive"
    LLM = "llm"


class EmbedderKind(StrEnum):
    BUNDLED = "bundled"
    FASTEMBED = "fastembed"


class IndexKind(StrEnum):
    TANTIVY = "tantivy"
    POSTGRES = "postgres"


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
        10,
        ge=1,
        le=500,
        description="Pages of feeds, articles and texts that all workers work on at a time.",
    )
    entries_per_crawl: int = Field(200, ge=1, le=10_000, description="Most new entries taken from one crawl of a feed.")
    unread_at_start: int = Field(
        10,
        ge=0,
        le=10_000,
        description="Unread entries of a feed that is new to somebody; the others count as read.",
    )
    full_text: bool = Field(True, description="Fetch the pages of articles; 0 uses what the feeds hold.")
    auto_distill: bool = Field(True, description="Summarise new entries at once; 0 waits until somebody asks.")
    host_delay_seconds: float = Field(
        2.0, ge=0, le=3600, description="Seconds between two requests for pages of one host, for the whole instance."
    )
    host_delays: NamedNumbers = Field(
        {"reddit.com": 60},
        description="Domains with a pace of their own: seconds between two requests, as in reddit.com=60,a.org=5.",
    )
    picture_proxy: bool = Field(
        True,
        description="Fetch pictures for readers, so that publishers do not see who reads; 0 lets browsers ask them.",
    )
    picture_cache_megabytes: int = Field(
        500, ge=0, le=1_000_000, description="Room for pictures that were fetched; the oldest make way. 0 keeps none."
    )
    distiller: DistillerKind = Field(
        DistillerKind.EXTRACTIVE, description="extractive, offline, or llm for an OpenAI-compatible endpoint."
    )
    model_url: str | None = Field(None, description="Base address of the endpoint, as http://localhost:1234/v1.")
    model_key: SecretStr | None = Field(None, description="Key of the endpoint, when it wants one.")
    model_name: str | None = Field(None, description="Name of the model.")
    model_timeout_seconds: float = Field(120.0, gt=0, le=600, description="Longest wait for one answer of the model.")
    model_requests_at_once: int = Field(
        4,
        ge=1,
        le=64,
        description="Requests that the model gets at a time, by all processes together; one of several is for people.",
    )
    model_context_tokens: int | None = Field(
        None,
        ge=1_000,
        description="Tokens that the model reads at once; otherwise learnt from refusals, and 4096 for Ollama.",
    )
    model_fallback: bool = Field(
        False, description="1 summarises offline when the model does not answer; otherwise the work waits for it."
    )
    target_language: str = Field("", description="Language of summaries, such as de; otherwise that of the article.")
    price_per_million_in: float = Field(0.0, ge=0, description="Price of a million tokens sent, for the cost pages.")
    price_per_million_out: float = Field(0.0, ge=0, description="Price of a million tokens answered.")
    embedder: EmbedderKind = Field(
        EmbedderKind.BUNDLED, description="bundled, offline, or fastembed for a model of your own."
    )
    embedding_model: Annotated[str, BareName("EMBEDDING_MODEL")] = Field(
        "sentence-transformers/paraphrase-multilingual-mpnet-base-v2", description="Name of the fastembed model."
    )
    embedding_path: Path | None = Field(None, description="Folder with the files of that model; nothing is downloaded.")
    embedding_dimensions: Annotated[int | None, BareName("EMBEDDING_DIMENSIONS")] = Field(
        None, ge=1, le=16_000, description="Length that vectors of the fastembed model must have; otherwise any."
    )
    embedding_threads: Annotated[int, BareName("EMBEDDING_THREADS")] = Field(
        1, ge=0, le=256, description="Threads of the embedding model; 0 takes as many as there are cores."
    )
    index: IndexKind = Field(
        IndexKind.TANTIVY,
        description="tantivy, a folder that one process writes, or postgres, tables for any number of machines.",
    )
    index_path: Path | None = Field(
        None, description="Folder of tantivy's index; otherwise `index` in the home. Web and its workers share it."
    )
    heavy_concurrency: int = Field(2, ge=1, le=64, description="Pieces of model and CPU work at once per worker.")
    keep_days: int = Field(7, ge=1, description="Days that entries stay which everybody has read and nobody kept.")
    keep_unread_days: int = Field(
        180, ge=0, description="Days that entries stay which somebody has not read and nobody kept; 0 keeps them all."
    )
    translator: Annotated[TranslatorKind, BareName("TRANSLATION_PROVIDER")] = Field(
        TranslatorKind.MICROSOFT, description="Who translates: deepl, microsoft, or llm for the model above."
    )
    deepl_url: str | None = Field(
        None, description="DeepL's address; otherwise that of the key's plan: keys of the free one end in :fx."
    )
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
    evaluation_embedding_model: Annotated[str | None, BareName("EVALUATION_EMBEDDING_MODEL")] = Field(
        None, description="Name of a fastembed model that judges; otherwise the one that is used for articles."
    )
    evaluation_embedding_path: Path | None = Field(None, description="Folder with the files of that model.")
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


# Of the time between two looks for due feeds.
LINGERING = 0.8


def policy(settings: Settings) -> CuratorPolicy:
    """The waits, sizes and limits that these settings ask for."""
    curator = settings.group(CuratorSettings)
    return CuratorPolicy(
        feeds_at_once=curator.feeds_at_once,
        shortest_interval=timedelta(minutes=curator.shortest_interval_minutes),
        longest_interval=timedelta(hours=curator.longest_interval_hours),
        entries_per_crawl=curator.entries_per_crawl,
        unread_at_start=curator.unread_at_start,
        host_delay=timedelta(seconds=curator.host_delay_seconds),
        target_language=curator.target_language,
        keep_days=curator.keep_days,
        linger=timedelta(minutes=curator.ingest_minutes) * LINGERING,
    ).at_speed(curator.speed)
