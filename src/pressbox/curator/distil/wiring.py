"""The activities of distilling, with the distiller that the settings ask for."""

from datetime import timedelta

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError
from pressbox.curator.articles.wiring import parser_pool
from pressbox.curator.distil.activities import DistilActivities, SettingsActivities
from pressbox.curator.distil.contracts import AppSettings
from pressbox.curator.distil.extractive import ExtractiveDistiller
from pressbox.curator.distil.model import ModelDistiller
from pressbox.curator.distil.paid import PaidDistiller
from pressbox.curator.distil.store import SqlDistilStore
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.store import SqlClaims
from pressbox.curator.models.wiring import pay_once, prices
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings, DistillerKind


def activities(resources: Resources) -> ActivitiesByQueue:
    distil, settings = distil_activities(resources), SettingsActivities(app_settings(resources.settings))
    return {
        QUEUE: (
            settings.get_app_settings,
            distil.get_entries_for_distillation,
            distil.save_distilled_entries,
        ),
        HEAVY_QUEUE: (distil.distill_entry_content,),
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
    paid = PaidDistiller(model_distiller(settings), pay_once(resources, settings.tokens_per_day), prices(settings))
    return DistilActivities(entries, claims, paid=paid, offline=offline if settings.model_fallback else None)


def model_distiller(settings: CuratorSettings) -> ModelDistiller:
    if not settings.model_url or not settings.model_name:
        raise ConfigurationError(
            "The distiller llm needs PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME. "
            "Set them, or PRESSBOX_CURATOR_DISTILLER=extractive."
        )
    longest_call = timedelta(seconds=settings.model_timeout_seconds)
    return ModelDistiller(settings.model_url, settings.model_name, settings.model_key, longest_call=longest_call)


SLICE = Slice(workflows=(ContentDistillationWorkflow,), activities=activities)
