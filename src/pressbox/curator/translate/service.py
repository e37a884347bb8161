"""Translations: what there is of an entry, and starting more."""

from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.core.errors import ConflictError, InvalidInputError
from pressbox.curator.library.domain.views import ArticleView
from pressbox.curator.reading.ports import ReadingLists
from pressbox.curator.translate.contracts import Provider, translation_workflow_id
from pressbox.curator.translate.domain.view import LANGUAGES, Standing, TranslationView
from pressbox.curator.translate.ports import StoredTranslation, TranslationRuns, Translations

MOST_ENTRIES = 200
DEFAULT_LANGUAGE = "en"
NO_PROVIDER = (
    "Nobody is set who translates. Set DEEPL_API_KEY, PRESSBOX_CURATOR_MICROSOFT_KEY, or a model with "
    "PRESSBOX_CURATOR_MODEL_URL and PRESSBOX_CURATOR_MODEL_NAME; then restart."
)


@dataclass(frozen=True)
class TranslatorChoice:
    """The providers that have what they need, the wanted one first, and the language of the settings."""

    providers: Sequence[Provider]
    target_language: str = ""


class TranslationService:
    def __init__(
        self, lists: ReadingLists, translations: Translations, runs: TranslationRuns, choice: TranslatorChoice
    ) -> None:
        self._lists = lists
        self._translations = translations
        self._runs = runs
        self._choice = choice

    @property
    def providers(self) -> Sequence[Provider]:
        return self._choice.providers

    def language(self, wanted: str = "", page_language: str = "") -> str:
        """What is asked for, otherwise that of the settings, of the person's pages, or English."""
        chosen = (wanted or self._choice.target_language or page_language or DEFAULT_LANGUAGE).lower()
        if chosen not in LANGUAGES:
            raise InvalidInputError(f"A language is one of {', '.join(LANGUAGES)}.", field="language")
        return chosen

    async def of_entry(self, user_id: int, entry_id: int, language: str) -> TranslationView:
        return await self.of(await self._lists.article(user_id, entry_id), language)

    async def of(self, article: ArticleView, language: str) -> TranslationView:
        """An article that the person may see, and what there is of it in this language."""
        item, stored = article.item, await self._translations.stored(article.item.id, language)
        current = await self._translations.source(item.id)
        changed = stored is not None and current is not None and stored.content_hash != current.content_hash
        return TranslationView(
            language=language,
            state=_state(stored, changed),
            title=item.title,
            summary=item.summary,
            html=article.body_html,
            done={done.key: done for done in stored.blocks} if stored else {},
            provider=stored.provider if stored else "",
            model=stored.model if stored else "",
            at=stored.at if stored else None,
        )

    def workflow_id(self, entry_id: int, language: str) -> str:
        return translation_workflow_id(f"{entry_id}-{language}")

    async def translate(
        self, user_id: int, entry_id: int, language: str, *, provider: str = "", again: bool = False
    ) -> str:
        """One of the person's entries. What is translated already is not paid again."""
        await self._lists.article(user_id, entry_id)
        return await self._runs.translate([entry_id], self.provider(provider), language, again=again)

    async def translate_some(self, entry_ids: Sequence[int], *, provider: str = "", language: str = "") -> str:
        """These entries, or the newest that have no translation; in nobody's name."""
        if len(entry_ids) > MOST_ENTRIES:
            raise InvalidInputError(f"At most {MOST_ENTRIES} entries at a time.", field="entry_ids")
        return await self._runs.translate(entry_ids, self.provider(provider), self.language(language))

    def provider(self, wanted: str = "") -> Provider:
        """The one that is named, otherwise the one of the settings; an error where it lacks its key."""
        if not self._choice.providers:
            raise ConflictError(NO_PROVIDER)
        if not wanted:
            return self._choice.providers[0]
        if wanted not in self._choice.providers:
            known = ", ".join(self._choice.providers)
            raise InvalidInputError(f"The translators that are set up: {known}.", field="provider")
        return Provider(wanted)


def _state(stored: StoredTranslation | None, changed: bool) -> Standing:
    if stored is None:
        return Standing.NONE
    if changed:
        return Standing.STALE
    return Standing.COMPLETE if stored.complete else Standing.PARTIAL
