"""The activities of distilling, with the distiller that the settings ask for."""

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError
from pressbox.core.models.client import PaidModel
from pressbox.core.spending.ledger import SqlClaims
from pressbox.core.temporal.pinning import upgrading
from pressbox.curator.articles.wiring import parser_pool
from pressbox.curator.distil.activities import DistilActivities, DistilPages, SettingsActivities
from pressbox.curator.distil.contracts import AppSettings
from pressbox.curator.distil.extractive import ExtractiveDistiller
from pressbox.curator.distil.model import PaidDistiller
from pressbox.curator.distil.store import SqlDistilQueue, SqlDistilStore
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings, DistillerKind


def activities(resources: Resources) -> ActivitiesByQueue:
    distil, settings = distil_activities(resources), SettingsActivities(app_settings(resources.settings))
    pages = DistilPages(SqlDistilQueue(resources.database), distil)
    return {
        QUEUE: (
            settings.get_app_settings,
            distil.get_entries_for_distillation,
            distil.save_distilled_entries,
        ),
        HEAVY_QUEUE: (distil.distill_entry_content, pages.distill_due_entries),
    }


def app_settings(settings: Settings) -> AppSettings:
    curator = settings.group(CuratorSettings)
    return AppSettings(
        target_language=curator.target_language,
        distiller=curator.distiller,
        embedding_model=embedder(curator).model,
        evaluation=curator.evaluation and curator.distiller is DistillerKind.LLM,
    )


def distil_activities(resources: Resources) -> DistilActivities:
    settings, claims = resources.settings.group(CuratorSettings), SqlClaims(resources.database)
    entries = SqlDistilStore(resources.database)
    offline = ExtractiveDistiller(parser_pool(resources))
    if settings.distiller is DistillerKind.EXTRACTIVE:
        return DistilActivities(entries, claims, offline=offline)
    return DistilActivities(
        entries,
        claims,
        paid=PaidDistiller(distilling_model(resources)),
        offline=offline if settings.model_fallback else None,
    )


def distilling_model(resources: Resources) -> PaidModel:
    model = paid_model(resources)
    if model is None:
        raise ConfigurationError(
            "The distiller llm needs PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME. "
            "Set them, or PRESSBOX_CURATOR_DISTILLER=extractive."
        )
    return model


SLICE = Slice(workflows=(upgrading(ContentDistillationWorkflow),), activities=activities)
