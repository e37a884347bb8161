"""Candidates, clips and their popularity on real PostgreSQL, whatever is repeated."""

import asyncio
from datetime import timedelta

import pytest

from pressbox.core.errors import GoneError, NotFoundError
from pressbox.footy.contracts.download import SettledCandidate
from pressbox.footy.contracts.upload import ShownFile
from pressbox.footy.domain.candidates import CandidateOutcome, FoundVideo
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.goals import CompletionReason, SearchEnd
from pressbox.footy.ports.storage import SourceAnswer
from tests.integration.footy.footy_world import World, goal, match, uploaded, video, with_goals


async def outcomes(world: World, event_id: str) -> dict[int, CandidateOutcome]:
    return {item.candidate_id: item.outcome for item in (await world.reader.load_candidates(event_id)).items}


async def test_a_url_is_one_candidate_of_a_goal_however_often_it_is_found(world: World) -> None:
    event_id = await world.confirmed_goal()
    first = await world.found(event_id, 1, "a", "b", "a")
    again = await world.found(event_id, 2, "b", "c")
    assert first == [first[0], first[1], first[0]]
    assert again[0] == first[1]
    assert await world.candidates.load_known_urls(event_id) == {f"https://clips.example.org/{name}" for name in "abc"}


async def test_the_longest_that_wait_are_chosen_and_a_retry_chooses_the_same(world: World) -> None:
    event_id = await world.confirmed_goal()
    lengths = {"short": 5.0, "long": 40.0, "middle": 20.0, "silent": None}
    videos = [
        FoundVideo("folder", f"https://clips.example.org/{name}", duration_seconds=lengths[name]) for name in lengths
    ]
    short, long, middle, silent = await world.candidates.save(event_id, 1, videos, world.now)
    chosen = await world.candidates.choose(event_id, 1, 2)
    assert set(chosen) == {long, middle}
    assert await world.candidates.choose(event_id, 1, 2) == chosen
    assert set(await world.candidates.choose(event_id, 2, 5)) == {short, silent}


async def test_an_outcome_that_is_final_stays(world: World) -> None:
    event_id = await world.confirmed_goal()
    one, other = await world.found(event_id, 1, "a", "b")
    await world.candidates.settle([SettledCandidate(candidate_id=one, outcome=CandidateOutcome.READY)], world.now)
    assert (await world.candidates.load(one)).final is False
    for outcome in (CandidateOutcome.WRONG_MINUTE, CandidateOutcome.GOAL_GONE):
        settled = [SettledCandidate(candidate_id=number, outcome=outcome, reason="61:10") for number in (one, other)]
        await world.candidates.settle(settled, world.now)
    assert set((await outcomes(world, event_id)).values()) == {CandidateOutcome.WRONG_MINUTE}
    assert (await world.candidates.load(one)).final is True
    assert (await world.clips.load_goal_data(event_id, [one, other, 999])).done == (one, other)


async def test_people_are_told_the_size_of_the_file_they_get(world: World) -> None:
    event_id = await world.confirmed_goal()
    (number,) = await world.found(event_id, 1, "a")
    shown = ShownFile(duration_seconds=11.5, width=1280, height=720, bitrate=9, file_size=1_234)
    encoded = uploaded(video(number, size=9_000)).model_copy(update={"shown": shown})
    await world.clips.add(event_id, encoded, b"print", world.now)
    [clip] = (await world.reader.load_goal(event_id)).clips
    assert (clip.width, clip.height, clip.file_size) == (1280, 720, 1_234)
    # Copies are compared as they were found.
    [copy] = await world.clips.load_copies(event_id)
    assert copy.video.file_size == 9_000


async def test_popularity_never_counts_twice_whatever_is_repeated(world: World) -> None:
    event_id = await world.confirmed_goal()
    a, b, c, d = await world.found(event_id, 1, "a", "b", "c", "d")
    first = uploaded(video(a, merged=(b,)))
    clip_id = await world.clips.add(event_id, first, b"print", world.now)
    assert await world.clips.add(event_id, first, b"print", world.now) == clip_id
    for _ in range(2):
        await world.clips.add_copy(clip_id, video(c), b"other", world.now)
    better = uploaded(video(d, size=9_000))
    unused = await world.clips.replace(clip_id, better, b"better", world.now)
    assert await world.clips.replace(clip_id, better, b"better", world.now) == []
    # The first copy again, after a better one took its slot.
    assert await world.clips.add(event_id, first, b"print", world.now) == clip_id
    [clip] = (await world.reader.load_goal(event_id)).clips
    assert (clip.popularity, clip.replacements, clip.file_size) == (4, 1, 9_000)
    assert set(unused) == {first.object_key, first.poster_key}
    assert await outcomes(world, event_id) == {
        a: CandidateOutcome.STORED,
        b: CandidateOutcome.SAME_FILE,
        c: CandidateOutcome.DUPLICATE,
        d: CandidateOutcome.REPLACED,
    }
    copies = {
        copy.video.candidate_id: (copy.shown, copy.fingerprint) for copy in await world.clips.load_copies(event_id)
    }
    assert copies == {a: (False, b"print"), c: (False, b"other"), d: (True, b"better")}


async def test_two_uploads_of_one_candidate_at_once_make_one_clip(world: World) -> None:
    event_id = await world.confirmed_goal()
    [a] = await world.found(event_id, 1, "a")
    made = await asyncio.gather(*(world.clips.add(event_id, uploaded(video(a)), None, world.now) for _ in range(4)))
    assert len(set(made)) == 1
    assert len((await world.reader.load_goal(event_id)).clips) == 1


async def test_the_share_link_survives_a_better_file_and_leads_to_the_scene_it_became_part_of(world: World) -> None:
    event_id = await world.confirmed_goal()
    a, b, c = await world.found(event_id, 1, "a", "b", "c")
    first = await world.clips.add(event_id, uploaded(video(a)), None, world.now)
    second = await world.clips.add(event_id, uploaded(video(b, size=500)), None, world.now)
    links = {clip.file_size: clip.share_id for clip in (await world.reader.load_goal(event_id)).clips}
    await world.clips.replace(first, uploaded(video(c, size=9_000)), None, world.now)
    assert (await world.files.find(links[1_000])).object_key == f"clips/md5-{c}.mp4"
    unused = await world.clips.merge(first, [second], world.now)
    assert await world.clips.merge(first, [second], world.now) == []
    assert sorted(unused) == [f"clips/md5-{b}.jpg", f"clips/md5-{b}.mp4"]
    moved = await world.files.find(links[500])
    assert (moved.share_id, moved.file_size, moved.etag) == (links[1_000], 9_000, f"md5-{c}")
    [clip] = (await world.reader.load_goal(event_id)).clips
    assert clip.popularity == 3


async def test_clips_are_ranked_verified_first_then_by_popularity_then_by_size(world: World) -> None:
    event_id = await world.confirmed_goal()
    small, large, popular, copy, sure = await world.found(event_id, 1, *"abcde")
    await world.clips.add(event_id, uploaded(video(small, size=100)), None, world.now)
    await world.clips.add(event_id, uploaded(video(large, size=900)), None, world.now)
    often = await world.clips.add(event_id, uploaded(video(popular, size=50)), None, world.now)
    await world.clips.add_copy(often, video(copy), None, world.now)
    verified = video(sure, size=10, timestamp_verified=True, timestamp_status=TimestampStatus.VERIFIED)
    await world.clips.add(event_id, uploaded(verified), None, world.now)
    await world.clips.rank(event_id)
    clips = (await world.reader.load_goal(event_id)).clips
    assert [(clip.rank, clip.file_size) for clip in clips] == [(1, 10), (2, 50), (3, 900), (4, 100)]


async def test_a_new_clip_is_told_at_once_and_a_rank_that_stays_is_not(world: World) -> None:
    event_id = await world.confirmed_goal()
    [a] = await world.found(event_id, 1, "a")
    await world.changes()
    await world.clips.add(event_id, uploaded(video(a)), None, world.now)
    assert await world.changes() == [("footy.goal", event_id), ("footy.fixture", "1")]
    await world.clips.rank(event_id)
    assert await world.changes() == []


async def test_a_clip_of_a_disallowed_goal_is_gone_and_an_unknown_one_was_never_there(world: World) -> None:
    event_id = await world.confirmed_goal()
    [a] = await world.found(event_id, 1, "a")
    await world.clips.add(event_id, uploaded(video(a)), None, world.now)
    [clip] = (await world.reader.load_goal(event_id)).clips
    await world.poll(match(), times=3)
    with pytest.raises(GoneError, match="disallowed"):
        await world.files.find(clip.share_id)
    with pytest.raises(GoneError, match="disallowed"):
        await world.reader.load_goal(event_id)
    with pytest.raises(NotFoundError):
        await world.files.find("nothing")
    assert (await world.clips.load_goal_data(event_id, [])).exists is False
    assert await world.clips.list_objects([], [event_id]) == [f"clips/md5-{a}.mp4", f"clips/md5-{a}.jpg"]
    assert await world.clips.list_objects([1], []) == [f"clips/md5-{a}.mp4", f"clips/md5-{a}.jpg"]


async def test_clips_that_stay_unchecked_do_not_keep_the_others_from_their_turn(world: World) -> None:
    event_id = await world.confirmed_goal()
    added = {
        await world.clips.add(
            event_id, uploaded(video(number, timestamp_status=TimestampStatus.NOT_CHECKED)), None, world.now
        )
        for number in await world.found(event_id, 1, "a", "b", "c")
    }
    turns: set[int] = set()
    for _ in range(300):
        turns |= {clip.clip_id for clip in await world.clips.find_unchecked(1)}
        if turns == added:
            break
    assert turns == added


async def test_a_judge_that_answers_late_verifies_a_clip_or_takes_it_away(world: World) -> None:
    event_id = await world.confirmed_goal()
    a, b, c = await world.found(event_id, 1, "a", "b", "c")
    waiting = TimestampStatus.NOT_CHECKED
    first = await world.clips.add(event_id, uploaded(video(a, timestamp_status=waiting)), None, world.now)
    second = await world.clips.add(event_id, uploaded(video(b, timestamp_status=waiting)), None, world.now)
    await world.clips.add_copy(second, video(c), None, world.now)
    assert {clip.clip_id for clip in await world.clips.find_unchecked(10)} == {first, second}
    seen = video(a, timestamp_verified=True, timestamp_status=TimestampStatus.VERIFIED, extracted_minute=22)
    await world.clips.record_check(first, seen, None)
    wrong = SettledCandidate(candidate_id=b, outcome=CandidateOutcome.WRONG_MINUTE, reason="70:12")
    await world.clips.record_check(second, None, wrong)
    await world.clips.record_check(second, None, wrong)
    [clip] = (await world.reader.load_goal(event_id)).clips
    assert (clip.timestamp_verified, clip.extracted_minute) == (True, 22)
    assert await world.clips.find_unchecked(10) == []
    assert (await outcomes(world, event_id))[b] is CandidateOutcome.WRONG_MINUTE
    assert (await world.clips.load_copies(event_id, verified=True))[0].video.timestamp_verified is True


@pytest.mark.parametrize(
    ("finished", "registered", "ended", "minutes", "reason"),
    [
        (10, 10, None, 0, CompletionReason.DOWNLOADS),
        (9, 12, SearchEnd.ENOUGH, 44, None),
        (0, 10, SearchEnd.ENOUGH, 44, None),
        (3, 3, SearchEnd.EXHAUSTED, 0, CompletionReason.EXHAUSTED),
        (0, 0, SearchEnd.EXHAUSTED, 0, CompletionReason.EXHAUSTED),
        (2, 3, SearchEnd.EXHAUSTED, 44, None),
        (3, 3, None, 44, None),
        (2, 3, SearchEnd.EXHAUSTED, 46, CompletionReason.DEADLINE),
        (0, 0, None, 46, CompletionReason.DEADLINE),
    ],
)
async def test_a_goal_is_complete_for_one_of_the_stated_reasons_only(
    world: World,
    finished: int,
    registered: int,
    ended: SearchEnd | None,
    minutes: int,
    reason: CompletionReason | None,
) -> None:
    event_id = await world.confirmed_goal()
    for number in range(registered):
        await world.goals.register_download(event_id, f"download{number}", world.now)
        await world.goals.register_download(event_id, f"download{number}", world.now)
    for number in range(finished):
        await world.goals.finish_download(event_id, f"download{number}", "done", world.now)
    if ended is not None:
        await world.goals.end_search(event_id, ended, world.now)
    count = await world.goals.count_downloads(event_id)
    assert (count.registered, count.finished) == (registered, finished)
    later = world.now + timedelta(minutes=minutes)
    result = await world.goals.complete_if_ready(event_id, world.policy, later)
    assert (result.complete, result.reason) == (reason is not None, reason or "")
    assert await world.goals.complete_if_ready(event_id, world.policy, later) == result


async def test_a_download_that_ends_without_being_registered_is_both(world: World) -> None:
    event_id = await world.confirmed_goal()
    await world.goals.finish_download(event_id, "download1", "cancelled", world.now)
    await world.goals.finish_download(event_id, "download1", "again", world.now + timedelta(minutes=1))
    [run] = (await world.reader.load_audit(event_id)).downloads
    assert (run.outcome, run.finished_at) == ("cancelled", world.now)


async def test_a_search_looks_back_to_the_last_attempt_in_which_every_source_answered(world: World) -> None:
    event_id = await world.confirmed_goal()
    seen = (await world.reader.load_goal(event_id)).first_seen
    # Nobody had looked at the match before: a clip can be as old as the kick-off.
    assert await world.goals.load_search_start(event_id) < seen
    good = [SourceAnswer("folder", 2), SourceAnswer("bluesky", 0)]
    bad = [SourceAnswer("folder", 1), SourceAnswer("bluesky", 0, "login expired")]
    await world.candidates.record_search(event_id, 1, "q", good, world.now)
    await world.candidates.record_search(event_id, 2, "q", bad, world.now + timedelta(minutes=1))
    await world.candidates.record_search(event_id, 2, "q", bad, world.now + timedelta(minutes=2))
    assert await world.goals.load_search_start(event_id) == world.now
    assert len((await world.reader.load_audit(event_id)).searches) == 4


async def test_the_first_search_looks_back_to_when_the_goal_was_not_there_yet(world: World) -> None:
    await world.ingest(match(1), match(2))
    ingested = world.now
    await world.poll(match(1))
    before = world.now
    world.now += timedelta(minutes=30)
    await world.poll(with_goals(1, goal(23)), with_goals(2, goal(23)))
    assert await world.goals.load_search_start("1_40_306_Goal_1") == before
    # Nobody polled the other one, but its ingest saw it without a goal.
    assert await world.goals.load_search_start("2_40_306_Goal_1") == ingested


async def test_a_search_that_died_may_end_in_another_way_but_not_after_that(world: World) -> None:
    event_id = await world.confirmed_goal()
    for ended in (SearchEnd.FAILED, SearchEnd.EXHAUSTED, SearchEnd.ENOUGH):
        await world.goals.end_search(event_id, ended, world.now)
    audit = await world.reader.load_audit(event_id)
    assert (audit.search_ended, audit.search_ended_at) == (SearchEnd.EXHAUSTED, world.now)


async def test_one_post_under_two_addresses_is_one_candidate(world: World) -> None:
    await world.ingest(match(1))
    await world.poll(with_goals(1, goal(9)), times=3)
    event_id = (await world.matches.load_fixture(1)).goals[0].event_id
    first = FoundVideo("x-browser", "https://x.com/fan/status/1/video/1")
    again = FoundVideo("x-api", "https://twitter.com/i/status/1/video/1")
    both = await world.candidates.save(event_id, 1, [first, again], world.now)
    later = await world.candidates.save(event_id, 2, [again], world.now)
    assert len({*both, *later}) == 1
