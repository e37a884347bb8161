"""Activities of UploadWorkflow that read video: compare copies, and store a playable file with its poster."""

from collections.abc import Mapping, Sequence

from temporalio import activity

from pressbox.core.errors import NotFoundError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.files import load_fingerprint, local_copy, working_folder
from pressbox.footy.activities.limits import HOUR, limits
from pressbox.footy.contracts.download import Video
from pressbox.footy.contracts.upload import (
    DeduplicateInput,
    DeduplicateResult,
    ReplaceVideoInput,
    SceneChange,
    ShownFile,
    UploadedVideo,
    UploadVideoInput,
)
from pressbox.footy.domain.film_rule import describe
from pressbox.footy.domain.scenes import Scene, SceneCopy, arrange, choose_to_see_through
from pressbox.footy.ids import clip_key, media_queue, poster_key
from pressbox.footy.ports.outside import Media
from pressbox.footy.ports.storage import Clips, StoredCopy


class SceneActivities:
    """Activities on the queue `footy-media`."""

    def __init__(self, clips: Clips, media: Media, objects: ObjectStore) -> None:
        self._clips = clips
        self._media = media
        self._objects = objects

    @activity.defn
    @call_with(limits(HOUR, attempts=3, heartbeat=120), queue=media_queue)
    async def deduplicate_videos(self, input: DeduplicateInput) -> DeduplicateResult:
        """Compare every new copy with every copy of the pool, shown or not, in both directions."""
        async with Heartbeat():
            stored = {
                copy.video.candidate_id: copy for copy in await self._clips.load_copies(input.event_id, input.verified)
            }
            # A retry may find what it stored before: that is not new.
            new = {video.candidate_id: video for video in input.videos if video.candidate_id not in stored}
            prints = await self._load_fingerprints(new, stored)
            copies = [_new_copy(video, input.unusable) for video in new.values()]
            copies += [_stored_copy(copy, input.unusable) for copy in stored.values()]
            compared = list(prints) if input.rearrange else [key for key in new if key in prints]
            matches, reasons = await self._find_matches(prints, compared, copies)
        videos = {**{key: copy.video for key, copy in stored.items()}, **new}
        scenes = arrange(copies, matches, input.policy.same_duration)
        changes = (_scene_change(scene, videos, new, reasons) for scene in scenes)
        return DeduplicateResult(scenes=tuple(change for change in changes if change is not None))

    # Storing also makes the file playable and takes its poster, hence the heartbeat.
    @activity.defn
    @call_with(limits(60, attempts=3, heartbeat=20), queue=media_queue)
    async def upload_single_video(self, input: UploadVideoInput) -> UploadedVideo:
        return await self._store(input.fixture_id, input.event_id, input.video)

    @activity.defn
    @call_with(limits(60, attempts=3, heartbeat=20), queue=media_queue)
    async def replace_s3_video(self, input: ReplaceVideoInput) -> UploadedVideo:
        """Put the better file beside the old one under its own key, so that no running player loses its file."""
        return await self._store(input.fixture_id, input.event_id, input.video)

    async def _store(self, fixture_id: int, event_id: str, video: Video) -> UploadedVideo:
        file, poster = clip_key(fixture_id, event_id, video.md5), poster_key(fixture_id, event_id, video.md5)
        async with (
            Heartbeat(),
            local_copy(self._objects, video.scratch_key) as path,
            working_folder() as folder,
        ):
            target = folder / "clip.mp4"
            probe = await self._media.make_playable(path, target)
            await self._objects.put(poster, await self._media.take_poster(target))
            await self._objects.put(file, target)
        shown = ShownFile(
            duration_seconds=probe.duration_seconds,
            width=probe.width,
            height=probe.height,
            bitrate=probe.bitrate,
            file_size=probe.file_size,
        )
        return UploadedVideo(video=video, object_key=file, poster_key=poster, shown=shown)

    async def _load_fingerprints(self, new: Mapping[int, Video], stored: Mapping[int, StoredCopy]) -> dict[int, bytes]:
        prints = {key: copy.fingerprint for key, copy in stored.items()}
        for key, video in new.items():
            try:
                prints[key] = await load_fingerprint(self._objects, video)
            except NotFoundError:
                prints[key] = None
        return {key: found for key, found in prints.items() if found is not None}

    async def _find_matches(
        self, prints: Mapping[int, bytes], compared: Sequence[int], copies: Sequence[SceneCopy]
    ) -> tuple[list[tuple[int, int]], dict[int, str]]:
        """Find pairs of copies that show one scene, and say of those that only their films showed what hid it."""
        slots = {copy.candidate_id: copy.clip_id for copy in copies}
        matches: list[tuple[int, int]] = []
        reasons: dict[int, str] = {}
        tried: set[int] = set()
        for key in compared:
            others = {
                other: found
                for other, found in prints.items()
                if other != key and (slots[key] is None or slots[key] != slots[other])
            }
            same = await self._media.find_same_scene(prints[key], others) if others else frozenset()
            # A may be found in B although B is not found in A; either counts, whichever came first.
            for other in others.keys() - same:
                if other not in compared and await self._media.find_same_scene(prints[other], {key: prints[key]}):
                    same |= {other}
            # Films are compared once, whichever of the two comes first.
            chosen = choose_to_see_through([copy for copy in copies if copy.candidate_id in others], same)
            hidden = {number: others[number] for number in chosen if number not in tried}
            seen = await self._media.see_through(prints[key], hidden) if hidden else {}
            for other, sighting in seen.items():
                for one, another in ((key, other), (other, key)):
                    reasons.setdefault(one, f"same scene as candidate {another}, seen through {describe(sighting)}")
            tried.add(key)
            matches += [(key, other) for other in sorted(same | seen.keys())]
        return matches, reasons


def _new_copy(video: Video, unusable: Sequence[int]) -> SceneCopy:
    return SceneCopy(
        video.candidate_id,
        video.md5,
        video.duration_seconds,
        video.file_size,
        usable=video.candidate_id not in unusable,
        silent=video.has_audio is False,
    )


def _stored_copy(copy: StoredCopy, unusable: Sequence[int]) -> SceneCopy:
    video = copy.video
    return SceneCopy(
        video.candidate_id,
        video.md5,
        video.duration_seconds,
        video.file_size,
        clip_id=copy.clip_id,
        shown=copy.shown,
        usable=copy.shown or video.candidate_id not in unusable,
        silent=video.has_audio is False,
    )


def _scene_change(
    scene: Scene, videos: Mapping[int, Video], new: Mapping[int, Video], reasons: Mapping[int, str]
) -> SceneChange | None:
    arrived = [copy.candidate_id for copy in scene.copies if copy.candidate_id in new]
    best = scene.best.candidate_id if scene.best is not None and scene.changes_shown else None
    if not arrived and not scene.merged and best is None:
        return None
    return SceneChange(
        clip_id=scene.clip_id,
        merged=scene.merged,
        best=videos[best] if best is not None else None,
        others=tuple(videos[key] for key in arrived if key != best),
        kept=tuple(sorted(scene.kept)),
        reasons={key: reasons[key] for key in arrived if key in reasons},
    )
