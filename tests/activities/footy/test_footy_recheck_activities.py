"""Clips that are checked later: one that the judge refuses is passed over, a judge that is away ends the round."""

from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import RateLimitedError, UnusableAnswerError
from pressbox.footy.activities.clip_inspector import ClipInspector, JudgeRefusesError, JudgeUnavailableError
from pressbox.footy.activities.upkeep import RecheckActivities
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.ports.storage import UncheckedClip

NOTHING: Any = None
CLIPS = [UncheckedClip(number, f"clips/{number}", f"7-{number}") for number in (1, 2, 3)]


class Waiting:
    async def find_unchecked(self, limit: int) -> list[UncheckedClip]:
        return CLIPS


@pytest.mark.parametrize(
    ("error", "judged"),
    [(JudgeRefusesError("refused"), [2, 3]), (JudgeUnavailableError("away"), [])],
    ids=["refuses one", "is away"],
)
async def test_a_clip_that_the_judge_refuses_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, error: Exception, judged: list[int]
) -> None:
    clips: Any = Waiting()
    activities, done = RecheckActivities(NOTHING, clips, NOTHING, NOTHING, NOTHING), list[int]()

    async def recheck(clip: UncheckedClip, run: RunReference) -> bool:
        if clip.clip_id == 1:
            raise error
        done.append(clip.clip_id)
        return True

    monkeypatch.setattr(activities, "_recheck", recheck)
    run = RunReference(run_id="run", policy=FootyPolicy())
    result = await ActivityEnvironment().run(activities.recheck_clips, run)
    assert (done, result.judged, result.waiting) == (judged, len(judged), len(CLIPS) - len(judged))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (UnusableAnswerError("The model refuses."), JudgeRefusesError),
        (RateLimitedError("The budget of the day is used up."), JudgeUnavailableError),
    ],
)
async def test_a_refusal_is_told_from_a_judge_that_is_away(error: Exception, expected: type[Exception]) -> None:
    class Judge:
        name = "vision-llm"

        async def judge(self, frames: object) -> Any:
            raise error

    class Media:
        async def take_frames(self, path: object, shares: object) -> list[bytes]:
            return [b"frame"]

    media: Any = Media()
    with pytest.raises(JudgeUnavailableError) as caught:
        await ClipInspector(media, Judge()).inspect(NOTHING, 10.0, (1, 0), 1)
    assert type(caught.value) is expected
