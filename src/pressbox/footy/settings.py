"""Settings of footy: PRESSBOX_FOOTY_…"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field, SecretStr

from pressbox.core.config import BareName, CommaSeparated, Group, Numbers, Port
from pressbox.footy.domain.fixtures import Followed
from pressbox.footy.domain.policy import FootyPolicy


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
        24.0, ge=0, description="Hours in which a disallowed goal can come back with its clips."
    )
    completion_deadline_minutes: float = Field(
        45.0, gt=0, description="Minutes after confirmation when a goal counts as complete even if something is stuck."
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
    x_searches: int = Field(45, ge=1, le=10_000, description="Searches that the account at X makes in 15 minutes.")
    x_chromium: str | None = Field(None, description="Path of the browser; otherwise the system's Chromium.")
    x_sandbox: bool = Field(
        True, description="0 runs that browser without its sandbox: as root, in a container that holds nothing else."
    )
    x_api_url: str = Field("https://api.x.com", description="Address of the official API of X.")
    x_api_token: SecretStr | None = Field(None, description="Bearer token of the official API of X.")
    x_api_price_per_post: float = Field(0.0, ge=0, description="Price of a post that X's API bills, for the costs.")
    x_api_posts_per_month: int = Field(
        10_000, ge=0, description="Posts that X's API may bill in a month, UTC, for all processes together."
    )
    bluesky_url: str = Field("https://public.api.bsky.app", description="Address of Bluesky's search.")
    bluesky_login_url: str = Field(
        "https://bsky.social", description="Server on which the Bluesky app password is valid."
    )
    bluesky_handle: str | None = Field(None, description="Bluesky account that searches.")
    bluesky_app_password: SecretStr | None = Field(None, description="App password of that account.")
    reddit_url: str | None = Field(None, description="Address of Reddit, when not the public one.")
    reddit_client_id: str | None = Field(None, description="Client id of a Reddit script application.")
    reddit_client_secret: SecretStr | None = Field(None, description="Secret of that application.")
    reddit_subreddits: CommaSeparated = Field((), description="Subreddits to read, such as soccer,footballhighlights.")
    folder: str | None = Field(
        None, description="A directory, or the address of an index, with clips and their side-cars."
    )
    largest_bytes: int = Field(200_000_000, ge=1_000, description="Largest clip that is downloaded.")
    judge: JudgeKind = Field(JudgeKind.OFFLINE, description="offline, or vision-llm for an OpenAI-compatible endpoint.")
    vision_url: str | None = Field(None, description="Base address of the endpoint, as http://localhost:1234/v1.")
    vision_key: SecretStr | None = Field(None, description="Key of the endpoint, if it needs one.")
    vision_model: str | None = Field(None, description="Name of a model that accepts images.")
    vision_price_per_million_in: float = Field(0.0, ge=0, description="Price of a million tokens sent, for the costs.")
    vision_price_per_million_out: float = Field(0.0, ge=0, description="Price of a million tokens answered.")
    aliases: AliasKind = Field(AliasKind.WIKIDATA, description="wikidata, or clubs for the built-in list, offline.")
    wikidata_url: str = Field("https://www.wikidata.org", description="Address of Wikidata.")
    wikidata_query_url: str = Field(
        "https://query.wikidata.org/sparql", description="Address of Wikidata's SPARQL service."
    )
    duplicates: DuplicateRule = Field(
        DuplicateRule.BETTER,
        description="Which clips are copies: better, or the rule of the original document (3 frames, 10 bits).",
    )
    media_concurrency: int = Field(2, ge=1, le=64, description="Videos that one worker decodes at the same time.")
    speed: float = Field(1.0, gt=0, le=10_000, description="Divides all times. For the demo only.")

    @property
    def policy(self) -> FootyPolicy:
        """The rules with the times that are set here, divided by the speed."""
        return FootyPolicy(
            retention=timedelta(days=self.retention_days),
            removal_grace=timedelta(hours=self.removal_grace_hours),
            completion_deadline=timedelta(minutes=self.completion_deadline_minutes),
            largest_bytes=self.largest_bytes,
        ).at_speed(self.speed)

    @property
    def poll_every(self) -> timedelta:
        """From one poll to the next, as long as the API's requests last."""
        return timedelta(seconds=self.monitor_seconds / self.speed)

    @property
    def followed(self) -> Followed:
        """What is followed unless people chose otherwise."""
        return Followed(frozenset(self.leagues), frozenset(self.teams))
