"""The language model, as an administrator sets and tries it on a page."""

from collections.abc import Mapping
from dataclasses import replace
from secrets import token_hex

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.core.http.url import check_url
from pressbox.core.models.client import Question
from pressbox.core.stored_settings.sections import SettingField, SettingsSection, TestReport
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.settings import CuratorSettings

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
