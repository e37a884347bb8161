"""The language model of the settings, and the costs."""

from datetime import timedelta

from pressbox.core.app import Resources
from pressbox.core.models.chat import ChatModel
from pressbox.core.models.client import ModelClient, PaidModel
from pressbox.core.models.endpoints import Endpoint
from pressbox.core.spending.domain import Prices
from pressbox.core.spending.wiring import budget_status, pay_once
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.costs import CostService
from pressbox.curator.models.store import SqlCosts
from pressbox.curator.settings import CuratorSettings

CALLS_AT_ONCE = 4


def has_model(settings: CuratorSettings) -> bool:
    return bool(settings.model_url and settings.model_name)


def paid_model(resources: Resources) -> PaidModel | None:
    """The model for every feature that asks one; None when none is configured."""
    settings = resources.settings.group(CuratorSettings)
    if not settings.model_url or not settings.model_name:
        return None
    chat = ChatModel(
        "model",
        Endpoint(
            settings.model_url,
            settings.model_name,
            settings.model_key,
            url_setting="PRESSBOX_CURATOR_MODEL_URL",
            key_setting="PRESSBOX_CURATOR_MODEL_KEY",
            model_setting="PRESSBOX_CURATOR_MODEL_NAME",
            context_tokens=settings.model_context_tokens,
        ),
        longest_call=timedelta(seconds=settings.model_timeout_seconds),
        at_once=CALLS_AT_ONCE,
    )
    return ModelClient(chat, pay_once(resources), Prices(settings.price_per_million_in, settings.price_per_million_out))


def cost_service(resources: Resources) -> CostService:
    return CostService(SqlCosts(resources.database), budget_status(resources))


SLICE = Slice()
