"""Merges equal files of one download: the first candidate stands for all of them."""

from collections.abc import Iterable

from pressbox.footy.contracts.download import Video


def merge_same_files(videos: Iterable[Video]) -> tuple[list[Video], dict[int, int]]:
    """Return the videos that are left, and for each merged candidate the one that stands for it."""
    first: dict[str, Video] = {}
    merged: dict[int, int] = {}
    for video in sorted(videos, key=lambda video: video.candidate_id):
        kept = first.get(video.md5)
        if kept is None:
            first[video.md5] = video
        else:
            merged[video.candidate_id] = kept.candidate_id
            first[video.md5] = kept.model_copy(update={"merged_ids": (*kept.merged_ids, video.candidate_id)})
    return list(first.values()), merged
