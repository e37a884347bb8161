"""Translations of entries: what there is of one, and starting the work on more."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.core.errors import ConflictError, InvalidInputError
from pressbox.curator.library.starter import SOMEBODY_WAITS, Starter
from pressbox.curator.reading.domain import ArticleView
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.translate.activities import StoredTranslation, Translations, TranslationWorkflows
from pressbox.curator.translate.contracts import (
    TRANSLATE_LEFTOVERS_WORKFLOW,
    TRANSLATION,
    Provider,
    TranslationInput,
    translation_workflow_id,
)
from pressbox.curator.translate.domain import LANGUAGES, TranslationStatus, TranslationView

MOST_ENTRIES = 200
DEFAULT_LANGUAGE = "en"
NO_PROVIDER = (
    "No translator is set up. Set DEEPL_API_KEY, PRESSBOX_CURATOR_MICROSOFT_KEY, or a model with "
    "PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME; then restart."
)


@dataclass(frozen=True)
class TranslatorChoice:
    """The providers that have a key, the one of the settings first, and the language of the settings."""

    providers: Sequence[Provider]
    target_language: str = ""


class TranslationService:
    def __init__(
        self,
        lists: SqlReadingLists,
        translations: Translations,
        workflows: TranslationWorkflows,
        choice: TranslatorChoice,
    ) -> None:
        self._lists = lists
        self._translations = translations
        self._workflows = workflows
        self._choice = choice

    @property
    def providers(self) -> Sequence[Provider]:
        return self._choice.providers

    def choose_language(self, wanted: str = "", page_language: str = "") -> str:
        """Return the wanted language, or that of the settings, of the person's pages, or English."""
        chosen = (wanted or self._choice.target_language or page_language or DEFAULT_LANGUAGE).lower()
        if chosen not in LANGUAGES:
            raise InvalidInputError(f"A language is one of {', '.join(LANGUAGES)}.", field="language")
        return chosen

    def choose_provider(self, wanted: str = "") -> Provider:
        """Return the wanted provider, or that of the settings; without its key there is an error."""
        if not self._choice.providers:
            raise ConflictError(NO_PROVIDER)
        if not wanted:
            return self._choice.providers[0]
        if wanted not in self._choice.providers:
            known = ", ".join(self._choice.providers)
            raise InvalidInputError(f"The translators that are set up: {known}.", field="provider")
        return Provider(wanted)

    async def view_entry(self, user_id: int, entry_id: int, language: str) -> TranslationView:
        return await self.view_article(await self._lists.load_article(user_id, entry_id), language)

    async def view_article(self, article: ArticleView, language: str) -> TranslationView:
        """Return an article that the person may see with its translation, as far as there is one."""
        stored = await self._translations.find(article.id, language)
        source = await self._translations.find_source(article.id)
        changed = stored is not None and source is not None and stored.content_hash != source.content_hash
        return TranslationView(
            language=language,
            state=_status(stored, changed),
            title=article.title,
            summary=article.summary,
            html=article.body_html,
            translations={block.key: block for block in stored.blocks} if stored else {},
            provider=stored.provider if stored else "",
            model=stored.model if stored else "",
            at=stored.at if stored else None,
        )

    def workflow_id(self, entry_id: int, language: str) -> str:
        return translation_workflow_id(f"{entry_id}-{language}")

    async def translate(
        self, user_id: int, entry_id: int, language: str, *, provider: str = "", again: bool = False
    ) -> str:
        """Translate one of the person's entries, or what is missing of it."""
        await self._lists.load_article(user_id, entry_id)
        chosen = self.choose_provider(provider)
        return await self._workflows.start_translation([entry_id], chosen, language, again=again)

    async def translate_some(self, entry_ids: Sequence[int], *, provider: str = "", language: str = "") -> str:
        """Translate these entries, or the newest that have no translation; for an administrator."""
        if len(entry_ids) > MOST_ENTRIES:
            raise InvalidInputError(f"At most {MOST_ENTRIES} entries at a time.", field="entry_ids")
        chosen = self.choose_provider(provider)
        return await self._workflows.start_translation(entry_ids, chosen, self.choose_language(language))


class TranslationStarter(Starter):
    """The `TranslationWorkflows` on Temporal."""

    async def start_translation(
        self, entry_ids: Sequence[int], provider: Provider, language: str, *, again: bool = False
    ) -> str:
        input = TranslationInput(
            entry_ids=tuple(entry_ids), provider=provider, target_language=language, again=again, policy=self._policy
        )
        if not entry_ids:
            return await self.start(TRANSLATION, input, TRANSLATE_LEFTOVERS_WORKFLOW)
        # The same entry in two languages is two pieces of work.
        key = f"{entry_ids[0]}-{language}" if len(entry_ids) == 1 else secrets.token_hex(4)
        return await self.start(TRANSLATION, input, translation_workflow_id(key), priority=SOMEBODY_WAITS)


def _status(stored: StoredTranslation | None, changed: bool) -> TranslationStatus:
    if stored is None:
        return TranslationStatus.NONE
    if changed:
        return TranslationStatus.STALE
    return TranslationStatus.COMPLETE if stored.complete else TranslationStatus.PARTIAL
