"""Whether footy can work: what is not set, how the clip sources are, when the monitor last ran; and runs by hand."""

from collections.abc import Sequence

from pressbox.footy.domain.views import MissingSetting, PollView, Readiness, SourceView
from pressbox.footy.ports.workflows import Workflows
from pressbox.footy.service.stores import StatusStore
from pressbox.footy.settings import FootySettings, JudgeKind

MOST_LISTED = 100


class StatusService:
    def __init__(self, status: StatusStore, settings: FootySettings, workflows: Workflows) -> None:
        self._status = status
        self._settings = settings
        self._workflows = workflows

    def ready(self) -> Readiness:
        return readiness(self._settings)

    async def sources(self) -> Sequence[SourceView]:
        return await self._status.sources()

    async def polls(self, limit: int = 20) -> Sequence[PollView]:
        """The last runs of the monitor, newest first."""
        return await self._status.polls(min(limit, MOST_LISTED))

    async def ingest(self, fixture_ids: Sequence[int] = ()) -> str:
        """Start an ingest now; the id of its workflow."""
        return await self._workflows.start_ingest(fixture_ids)

    async def monitor(self) -> str:
        """Start one poll now; the id of its workflow."""
        return await self._workflows.start_monitor()


def readiness(settings: FootySettings) -> Readiness:
    missing: list[MissingSetting] = []
    advised: list[MissingSetting] = []
    if settings.api_key is None:
        missing.append(
            MissingSetting(
                "PRESSBOX_FOOTY_API_KEY",
                "Get a key at api-football.com and set it, then start Pressbox again. `pressbox demo` needs none.",
            )
        )
    if settings.judge is JudgeKind.VISION_LLM and not (settings.vision_url and settings.vision_model):
        missing.append(
            MissingSetting(
                "PRESSBOX_FOOTY_VISION_URL",
                "The judge vision-llm needs PRESSBOX_FOOTY_VISION_URL and PRESSBOX_FOOTY_VISION_MODEL; "
                "or set PRESSBOX_FOOTY_JUDGE=offline.",
            )
        )
    if not has_source(settings):
        advised.append(
            MissingSetting(
                "PRESSBOX_FOOTY_SOURCES",
                "No clip source is set up, so goals have no clips. Set PRESSBOX_FOOTY_SOURCES=bluesky, or one of the "
                "others that docs/footy.md describes.",
            )
        )
    return Readiness(tuple(missing), tuple(advised))


def has_source(settings: FootySettings) -> bool:
    """Whether any clip source is named or configured."""
    return bool(
        settings.sources
        or (settings.x_browser_url and settings.x_browser_token)
        or settings.x_api_token
        or settings.bluesky_handle
        or settings.reddit_subreddits
        or settings.folder
    )
