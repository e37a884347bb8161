"""Makes the clips of a day in child processes, and posts them on the social site."""

import asyncio
import multiprocessing
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache

from pressbox.core.processes.parents import bind_to_parent
from pressbox.demo.clips.spec import ClipSpec, Disguise
from pressbox.demo.football_day.posts import PlannedPost
from pressbox.demo.simulators.social_posts import SocialPost
from pressbox.demo.simulators.social_site import SocialSite

PROCESSES = 2


async def make_clip_files(posts: Sequence[PlannedPost]) -> Mapping[str, bytes]:
    """Make the file of each post; returned by the id of the post."""
    loop = asyncio.get_running_loop()
    # Spawned, because a process with an event loop and threads cannot be forked safely.
    with ProcessPoolExecutor(
        PROCESSES, mp_context=multiprocessing.get_context("spawn"), initializer=bind_to_parent, initargs=(os.getpid(),)
    ) as pool:
        made = [
            (post, loop.run_in_executor(pool, make_clip_file, post.clip, post.disguise)) for post in posts if post.clip
        ]
        try:
            return {post.id: post.body for post in posts} | {post.id: await file for post, file in made}
        except asyncio.CancelledError:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def publish(site: SocialSite, posts: Sequence[PlannedPost], files: Mapping[str, bytes]) -> None:
    """Post everything at once: the site shows each post from its own time on."""
    for post in posts:
        social_post = SocialPost(
            id=post.id,
            text=post.text,
            posted_at=post.posted_at,
            duration_seconds=post.clip.duration if post.clip else 5.0,
            subreddit=post.subreddit,
        )
        site.post(social_post, files[post.id])


def make_clip_file(spec: ClipSpec, disguise: Disguise | None) -> bytes:
    # Imported here: the picture libraries are large, and planning a day does not need them.
    from pressbox.demo.clips.disguises import disguise as make_copy

    clip = _make_original(spec)
    return make_copy(clip, disguise, spec.seed) if disguise else clip


@lru_cache(maxsize=8)
def _make_original(spec: ClipSpec) -> bytes:
    from pressbox.demo.clips.renderer import make_clip

    return make_clip(spec)
