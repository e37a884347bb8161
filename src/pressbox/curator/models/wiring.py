"""The language model of the settings, and what everybody who pays for answers shares."""

from datetime import timedelta

from pressbox.core.app import Resources
from pressbox.core.models.chat import ChatModel, Endpoint
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.client import ModelClient
from pressbox.curator.models.costs import CostService
from pressbox.curator.models.domain import Prices
from pressbox.curator.models.health import check_budget
from pressbox.curator.models.pay_once import PayOnce
from pressbox.curator.models.ports import PaidModel
from pressbox.curator.models.store import SqlClaims, SqlCosts, SqlModelLedger
from pressbox.curator.settings import CuratorSettings, policy

CALLS_AT_ONCE = 4


def has_model(settings: CuratorSettings) -> bool:
    return bool(settings.model_url and settings.model_name)


def paid_model(resources: Resources) -> PaidModel | None:
    """The model for every feature that asks one; None when none is configured."""
    settings, database = resources.settings.group(CuratorSettings), resources.database
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
        ),
        longest_call=timedelta(seconds=settings.model_timeout_seconds),
        at_once=CALLS_AT_ONCE,
    )
    ledger, claims = SqlModelLedger(database), SqlClaims(database)
    return ModelClient(chat, ledger, claims, settings.tokens_per_day, prices(settings))


def pay_once(resources: Resources, tokens_per_day: int | None = None) -> PayOnce:
    return PayOnce(SqlModelLedger(resources.database), SqlClaims(resources.database), tokens_per_day)


def prices(settings: CuratorSettings) -> Prices:
    return Prices(settings.price_per_million_in, settings.price_per_million_out)


def cost_service(resources: Resources) -> CostService:
    database = resources.database
    tokens_per_day = policy(resources.settings).tokens_per_day
    return CostService(SqlCosts(database), SqlModelLedger(database), tokens_per_day)


SLICE = Slice(health=check_budget)
