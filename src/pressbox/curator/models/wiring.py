"""The language model of the settings, how an administrator sets and tries it, and the costs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from secrets import token_hex

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.core.http.url import check_url
from pressbox.core.models.chat import ChatModel
from pressbox.core.models.client import ModelClient, PaidModel, Question
from pressbox.core.models.endpoints import Endpoint
from pressbox.core.models.turns import SharedTurns
from pressbox.core.spending.domain import Prices
from pressbox.core.spending.ledger import SqlClaims
from pressbox.core.spending.wiring import budget_status, pay_once
from pressbox.core.stored_settings.sections import SettingField, SettingsSection, TestReport
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.store import CostService, SqlCosts
from pressbox.curator.settings import CuratorSettings


def has_model(settings: CuratorSettings) -> bool:
    return bool(settings.model_url and settings.model_name)


def paid_model(resources: Resources) -> PaidModel | None:
    """The model for every feature that asks one; None when none is configured."""
    settings = resources.settings.group(CuratorSettings)
    if not settings.model_url or not settings.model_name:
        return None
    endpoint = Endpoint(
        settings.model_url,
        settings.model_name,
        settings.model_key,
        url_setting="PRESSBOX_CURATOR_MODEL_URL",
        key_setting="PRESSBOX_CURATOR_MODEL_KEY",
        model_setting="PRESSBOX_CURATOR_MODEL_NAME",
        context_tokens=settings.model_context_tokens,
    )
    at_once = settings.model_requests_at_once
    chat = ChatModel(
        "model",
        endpoint,
        longest_call=timedelta(seconds=settings.model_timeout_seconds),
        at_once=at_once,
        turns=SharedTurns(SqlClaims(resources.database), endpoint, at_once),
    )
    return ModelClient(chat, pay_once(resources), Prices(settings.price_per_million_in, settings.price_per_million_out))


def cost_service(resources: Resources) -> CostService:
    return CostService(SqlCosts(resources.database), budget_status(resources))


SLICE = Slice()


URL, NAME, KEY, DISTILLER = "curator.model_url", "curator.model_name", "curator.model_key", "curator.distiller"
# Enough for a model that thinks before it answers.
MOST_TOKENS = 200


def check_model(settings: Settings) -> Mapping[str, str]:
    curator, problems = settings.group(CuratorSettings), {}
    if curator.model_url is not None:
        try:
            check_url(curator.model_url)
        except (InvalidInputError, PermanentError):
            problems[URL] = "Write it as http://localhost:1234/v1."
    if curator.model_url and not curator.model_name:
        problems[NAME] = "An address needs the name of a model that is there."
    if curator.model_name and not curator.model_url:
        problems[URL] = "A model needs the address at which it is."
    return problems


async def ask_model(resources: Resources, _: str) -> TestReport:
    """One short question, paid for as any other."""
    model = paid_model(replace(resources))
    if model is None:
        raise InvalidInputError("There is no model to try. Enter its address and name first.", field="model_url")
    question = Question(
        feature="test",
        prompt_version="1",
        content_hash=token_hex(16),
        instructions="Answer with the single word: ready",
        material="Are you there?",
        most_tokens=MOST_TOKENS,
    )
    reply = await model.ask(question)
    return TestReport(
        "%(model)s answers. The test used %(tokens)s tokens.",
        {"model": reply.model, "tokens": reply.tokens_in + reply.tokens_out},
    )


MODEL = SettingsSection(
    key="model",
    title="Language model",
    summary="Any OpenAI-compatible endpoint, for summaries, translations, answers and research. Optional.",
    fields=(
        SettingField(URL, "Address", hint="Mostly ends in /v1, such as http://localhost:1234/v1.", kind="url"),
        SettingField(NAME, "Model", hint="Its name, as the endpoint lists it."),
        SettingField(KEY, "Key", hint="Leave it empty when the endpoint wants none.", kind="password", sent_to=(URL,)),
        SettingField(
            DISTILLER,
            "Summaries are written",
            kind="select",
            choices={"extractive": "offline, from the article's own sentences", "llm": "by the model"},
        ),
    ),
    test=ask_model,
    required=(URL, NAME),
    check=check_model,
)
