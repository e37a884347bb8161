"""Translating request by request: what is done is kept, what is missing is asked for, what cannot be says why."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import ConfigurationError, PermanentError, RateLimitedError, TransientError
from pressbox.curator.translate.activities import TRANSLATED_ELSEWHERE
from pressbox.curator.translate.contracts import TranslateArticlesInput, TranslatedArticles, translation_claim
from pressbox.curator.translate.domain import UntranslatedReason
from tests.fakes.translating import TranslationDesk

THREE = "<p>First line.</p><p>Second line.</p><p>Third line.</p>"


@pytest.fixture
def desk() -> TranslationDesk:
    return TranslationDesk()


async def translated(desk: TranslationDesk, *entry_ids: int, **input: Any) -> TranslatedArticles:
    wanted = TranslateArticlesInput(entry_ids=entry_ids, language="de", **input)
    result = await ActivityEnvironment().run(desk.activities().deepl_translate_articles, wanted)
    assert isinstance(result, TranslatedArticles)
    return result


async def test_an_article_is_translated_in_as_many_requests_as_the_provider_needs(desk: TranslationDesk) -> None:
    entry_id = desk.translations.enter(THREE)
    result = await translated(desk, entry_id)
    assert (result.translated, result.failed, result.retry_at) == ((entry_id,), (), None)
    assert [len(request) for request in desk.deepl.asked] == [2, 2]
    row = desk.translations.rows[entry_id, "de"]
    assert [one.reason for one in row.blocks] == [None] * 4
    assert row.blocks[1].html == "[de] Fířšť ľíňé."


async def test_a_request_that_fails_in_the_middle_loses_nothing_that_is_done(desk: TranslationDesk) -> None:
    one, other = desk.translations.enter(THREE), desk.translations.enter(THREE + "<p>Fourth.</p>")
    desk.deepl.troubles = [None, TransientError("DeepL answers 503.")]
    first = await translated(desk, one, other)
    assert (first.translated, first.waiting, first.reason) == ((), (one, other), "DeepL answers 503.")
    assert first.retry_at is not None
    assert len(desk.translations.rows[one, "de"].blocks) == 2
    second = await translated(desk, *first.waiting)
    assert second.translated == (one, other)
    texts = [text for request in desk.deepl.asked[:2] for text in request]
    assert len(texts) == len(set(texts)) == 4


@pytest.mark.parametrize(
    ("trouble", "pause"),
    [
        (RateLimitedError("over quota", retry_after=timedelta(hours=1)), timedelta(hours=1)),
        (ConfigurationError("The key is refused. Set DEEPL_API_KEY."), timedelta(minutes=2)),
        (TransientError("away"), timedelta(minutes=2)),
    ],
)
async def test_over_quota_wrong_key_and_away_wait_with_a_reason(
    desk: TranslationDesk, trouble: RateLimitedError, pause: timedelta
) -> None:
    entry_id = desk.translations.enter()
    desk.deepl.troubles = [trouble]
    result = await translated(desk, entry_id)
    assert (result.waiting, result.reason) == ((entry_id,), trouble.message)
    assert result.retry_at is not None
    assert abs(result.retry_at - datetime.now(UTC) - pause) < timedelta(seconds=20)


async def test_what_a_provider_refuses_or_does_not_answer_is_marked_and_holds_up_nothing(desk: TranslationDesk) -> None:
    one, other = desk.translations.enter(), desk.translations.enter(THREE)
    desk.deepl.troubles = [PermanentError("DeepL does not translate this (400).")]
    result = await translated(desk, one, other)
    assert (result.translated, result.failed) == ((one, other), ())
    # A title and one line are the first request.
    assert [block.reason for block in desk.translations.rows[one, "de"].blocks] == [
        UntranslatedReason.REFUSED,
        UntranslatedReason.REFUSED,
        None,
    ]


async def test_a_block_longer_than_the_provider_takes_is_marked(desk: TranslationDesk) -> None:
    entry_id = desk.translations.enter(f"<p>{'long ' * 200}</p><p>Short.</p>")
    await translated(desk, entry_id)
    assert sorted(str(one.reason) for one in desk.translations.rows[entry_id, "de"].blocks) == ["None", "None", "long"]


async def test_the_same_text_is_not_asked_for_again_and_an_edit_asks_only_for_what_is_new(
    desk: TranslationDesk,
) -> None:
    entry_id = desk.translations.enter(THREE)
    await translated(desk, entry_id)
    await translated(desk, entry_id)
    assert len(desk.deepl.asked) == 2
    desk.translations.edit(entry_id, THREE.replace("Second", "Other"))
    await translated(desk, entry_id)
    assert desk.deepl.asked[2:] == [["Other line."]]
    assert len(desk.translations.rows[entry_id, "de"].blocks) == 4


async def test_again_asks_for_what_was_not_translated_and_only_for_that(desk: TranslationDesk) -> None:
    entry_id = desk.translations.enter(THREE)
    desk.deepl.answer = lambda text, language: text if "Second" in text else f"{language} {text}"
    await translated(desk, entry_id)
    await translated(desk, entry_id)
    assert len(desk.deepl.asked) == 2
    desk.deepl.answer = lambda text, language: f"{language} {text}"
    await translated(desk, entry_id, again=True)
    assert desk.deepl.asked[2:] == [["Second line."]]
    assert [one.reason for one in desk.translations.rows[entry_id, "de"].blocks] == [None] * 4


async def test_another_provider_begins_anew(desk: TranslationDesk) -> None:
    entry_id = desk.translations.enter(THREE)
    await translated(desk, entry_id)
    wanted = TranslateArticlesInput(entry_ids=(entry_id,), language="de")
    await ActivityEnvironment().run(desk.activities().ms_translate_articles, wanted)
    assert desk.translations.rows[entry_id, "de"].provider == "microsoft"
    assert len(desk.translations.rows[entry_id, "de"].blocks) == 4


async def test_what_another_run_translates_is_left_to_it(desk: TranslationDesk) -> None:
    entry_id = desk.translations.enter()
    later, now = datetime.now(UTC) + timedelta(minutes=5), datetime.now(UTC)
    await desk.claims.take([translation_claim(entry_id, "de")], "another", later, now)
    result = await translated(desk, entry_id)
    assert (result.waiting, result.reason) == ((entry_id,), TRANSLATED_ELSEWHERE)
    assert desk.deepl.asked == []


async def test_an_entry_that_is_gone_is_done_with(desk: TranslationDesk) -> None:
    assert (await translated(desk, 10**9)).translated == (10**9,)
