"""The activities of distilling, with the distiller that the settings ask for."""

from datetime import timedelta

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.errors import ConfigurationError
from pressbox.curator.distil.activities import DistilActivities
from pressbox.curator.distil.extractive import ExtractiveDistiller
from pressbox.curator.distil.model import ModelDistiller
from pressbox.curator.distil.ports import Distiller
from pressbox.curator.distil.store import SqlDistilStore
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.claims import SqlClaims
from pressbox.curator.models.domain import Prices
from pressbox.curator.models.ledger import SqlModelLedger
from pressbox.curator.parsers.pool import Workshop
from pressbox.curator.settings import CuratorSettings, DistillerKind


def activities(resources: Resources) -> ActivitiesByQueue:
    workshop = Workshop(resources.settings.group(CuratorSettings).heavy_concurrency)
    distil = distil_activities(resources, workshop)
    return {
        QUEUE: (distil.get_entries_for_distillation, distil.save_distilled_entries),
        HEAVY_QUEUE: (distil.distill_entry_content,),
    }


def distil_activities(resources: Resources, workshop: Workshop) -> DistilActivities:
    settings, claims = resources.settings.group(CuratorSettings), SqlClaims(resources.database)
    entries = SqlDistilStore(resources.database)
    offline = ExtractiveDistiller(workshop)
    if settings.distiller is DistillerKind.EXTRACTIVE:
        return DistilActivities(entries, claims, offline)
    return DistilActivities(
        entries,
        claims,
        model_distiller(settings),
        SqlModelLedger(resources.database),
        offline if settings.model_fallback else None,
        Prices(settings.price_per_million_in, settings.price_per_million_out),
        # What an administrator changes counts for work that waits already.
        tokens_per_day=settings.tokens_per_day,
    )


def model_distiller(settings: CuratorSettings) -> Distiller:
    if not settings.model_url or not settings.model_name:
        raise ConfigurationError(
            "The distiller llm needs PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME. "
            "Set them, or PRESSBOX_CURATOR_DISTILLER=extractive."
        )
    longest_call = timedelta(seconds=settings.model_timeout_seconds)
    return ModelDistiller(settings.model_url, settings.model_name, settings.model_key, longest_call=longest_call)


SLICE = Slice(workflows=(ContentDistillationWorkflow,), activities=activities)
