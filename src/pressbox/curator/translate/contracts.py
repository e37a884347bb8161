"""Messages of translation, and the names under which it runs."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult, EntryProgressState
from pressbox.curator.library.domain import CuratorPolicy

TRANSLATE_LEFTOVERS_WORKFLOW = "curator-translate-leftovers"
TRANSLATION = "TranslationWorkflow"


def translation_workflow_id(key: str) -> str:
    return f"translate-{key}"


def translation_claim(entry_id: int, language: str) -> str:
    """Return the key under which one run at a time translates an entry."""
    return f"translate-{entry_id}-{language}"


class Provider(StrEnum):
    DEEPL = "deepl"
    MICROSOFT = "microsoft"
    LLM = "llm"


class TranslationInput(CamelContract):
    """Without ids: the newest entries in another language that have no translation, at most `most_entries`.

    Without a target language: that of the settings, or English.
    """

    entry_ids: tuple[int, ...] = ()
    provider: Provider = Provider.MICROSOFT
    target_language: str = ""
    most_entries: int = 200
    # Request again what was not translated.
    again: bool = False
    state: "TranslationState" = Field(default_factory=lambda: TranslationState())
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class TranslationCursor(CamelContract):
    """The last entry of a page; the newest come first."""

    published_at: datetime
    entry_id: int


class TranslationState(CamelContract):
    """Carried over continue-as-new: one run for each page of entries."""

    after: TranslationCursor | None = None
    total: int = 0
    translated: int = 0
    failed: int = 0


class TranslationProgress(CuratorProgress):
    provider: str = ""
    total_entries: int = 0
    entries_translated: int = 0
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)


class TranslationOutput(CamelContract):
    translated: int
    failed: int


class SelectForTranslationInput(Contract):
    entry_ids: tuple[int, ...] = ()
    language: str
    after: TranslationCursor | None = None
    limit: int = 40


class TranslationSelection(Contract):
    entries: tuple[EntryProgressState, ...] = ()
    after: TranslationCursor | None = None
    more: bool = False


class TranslateArticlesInput(Contract):
    entry_ids: tuple[int, ...]
    language: str
    again: bool = False
    policy: CuratorPolicy = CuratorPolicy()


class TranslatedArticles(DeferrableResult):
    """`waiting` are the entries to retry at `retry_at`; what is translated of them is kept."""

    translated: tuple[int, ...] = ()
    failed: tuple[EntryProgressState, ...] = ()
    waiting: tuple[int, ...] = ()


class SaveTranslationsInput(Contract):
    entry_ids: tuple[int, ...]
    language: str


class SavedTranslations(Contract):
    """Entries whose text has changed meanwhile are not among them."""

    entry_ids: tuple[int, ...] = ()
