"""The translators of the settings, and the activities, service and routes of translation."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.spending.ledger import SqlClaims
from pressbox.core.spending.wiring import pay_once
from pressbox.core.temporal.pinning import upgrading
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.wiring import has_model, paid_model
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.settings import CuratorSettings, policy
from pressbox.curator.translate.activities import TranslationActivities, Translator
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.deepl import DeepL
from pressbox.curator.translate.microsoft import MicrosoftTranslator
from pressbox.curator.translate.model import ModelTranslator
from pressbox.curator.translate.service import TranslationService, TranslationStarter, TranslatorChoice
from pressbox.curator.translate.store import SqlTranslations
from pressbox.curator.translate.translators import ServiceTranslator, UnsetTranslator
from pressbox.curator.translate.workflow import TranslationWorkflow

if TYPE_CHECKING:
    from fastapi import APIRouter

REQUIRED_SETTINGS = {
    Provider.DEEPL: "DEEPL_API_KEY",
    Provider.MICROSOFT: "PRESSBOX_CURATOR_MICROSOFT_KEY",
    Provider.LLM: "PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME",
}


def activities(resources: Resources) -> ActivitiesByQueue:
    translate = TranslationActivities(
        SqlTranslations(resources.database), SqlClaims(resources.database), translators(resources)
    )
    return {
        QUEUE: (translate.get_entries_for_translation, translate.save_translations),
        HEAVY_QUEUE: (
            translate.deepl_translate_articles,
            translate.ms_translate_articles,
            translate.llm_translate_articles,
        ),
    }


def translators(resources: Resources) -> Mapping[Provider, Translator]:
    settings, purchases = resources.settings.group(CuratorSettings), pay_once(resources)
    found: dict[Provider, Translator] = {one: UnsetTranslator(one, needs) for one, needs in REQUIRED_SETTINGS.items()}
    price = settings.price_per_million_characters
    if settings.deepl_key is not None:
        found[Provider.DEEPL] = ServiceTranslator(DeepL(settings.deepl_url, settings.deepl_key), purchases, price)
    if settings.microsoft_key is not None:
        microsoft = MicrosoftTranslator(settings.microsoft_url, settings.microsoft_key, settings.microsoft_region)
        found[Provider.MICROSOFT] = ServiceTranslator(microsoft, purchases, price)
    model = paid_model(resources)
    if model is not None:
        found[Provider.LLM] = ModelTranslator(model)
    return found


def translation_service(resources: Resources) -> TranslationService:
    curator, database = resources.settings.group(CuratorSettings), resources.database
    return TranslationService(
        SqlReadingLists(database),
        SqlTranslations(database),
        TranslationStarter(resources.temporal, QUEUE, policy(resources.settings)),
        TranslatorChoice(configured_providers(curator), curator.target_language),
    )


def configured_providers(settings: CuratorSettings) -> tuple[Provider, ...]:
    """Return the providers that have their key, the one of the settings first if it is among them."""
    is_configured = {
        Provider.DEEPL: settings.deepl_key is not None,
        Provider.MICROSOFT: settings.microsoft_key is not None,
        Provider.LLM: has_model(settings),
    }
    preferred = Provider(settings.translator)
    return tuple(one for one in dict.fromkeys((preferred, *is_configured)) if is_configured[one])


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.reading.extensions import offer_tab
    from pressbox.curator.translate import pages

    offer_tab(pages.TRANSLATION_TAB)
    return pages.api, pages.router


SLICE = Slice(workflows=(upgrading(TranslationWorkflow),), activities=activities, routers=routers)
