"""Whether footy can work with these settings: what is missing, and what would make it better."""

from pressbox.footy.domain.views import MissingSetting, Readiness
from pressbox.footy.settings import FootySettings, JudgeKind


def check_readiness(settings: FootySettings) -> Readiness:
    from pressbox.footy.adapters.sources.registry import has_source

    advised: list[MissingSetting] = []
    if not has_source(settings):
        advised.append(
            MissingSetting(
                "PRESSBOX_FOOTY_SOURCES",
                "No clip source is set up, so goals have no clips. Set PRESSBOX_FOOTY_BLUESKY_HANDLE and "
                "PRESSBOX_FOOTY_BLUESKY_APP_PASSWORD, or one of the others that docs/footy.md describes.",
            )
        )
    return Readiness(find_missing(settings), tuple(advised))


def find_missing(settings: FootySettings) -> tuple[MissingSetting, ...]:
    """What footy cannot do without."""
    missing: list[MissingSetting] = []
    if settings.api_key is None:
        missing.append(
            MissingSetting(
                "PRESSBOX_FOOTY_API_KEY",
                "Get a key at api-football.com and enter it in the settings. `pressbox demo` needs none.",
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
    return tuple(missing)
