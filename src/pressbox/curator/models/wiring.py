"""The language model of the settings, paid through the ledger; None when there is none."""

from datetime import timedelta

from pressbox.core.app import Resources
from pressbox.core.models.chat import ChatModel, Endpoint
from pressbox.curator.models.claims import SqlClaims
from pressbox.curator.models.domain import Prices
from pressbox.curator.models.ledger import SqlModelLedger
from pressbox.curator.models.paid_model import LedgerModel
from pressbox.curator.models.ports import PaidModel
from pressbox.curator.settings import CuratorSettings

AT_ONCE = 4


def has_model(settings: CuratorSettings) -> bool:
    return bool(settings.model_url and settings.model_name)


def paid_model(resources: Resources) -> PaidModel | None:
    """For asking, research, context and translation: whoever configured a model may use it."""
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
        at_once=AT_ONCE,
    )
    prices = Prices(settings.price_per_million_in, settings.price_per_million_out)
    return LedgerModel(chat, SqlModelLedger(database), SqlClaims(database), settings.tokens_per_day, prices)
