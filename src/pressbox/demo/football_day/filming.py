"""Makes the clips of a day in processes of their own, and puts them on the social site."""

import asyncio
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache

from pressbox.demo.clips.spec import ClipSpec, Disguise
from pressbox.demo.football_day.posts import PlannedPost
from pressbox.demo.simulators.social_posts import SocialPost
from pressbox.demo.simulators.social_site import SocialSite

CAMERAS = 2


async def film_all(posts: Sequence[PlannedPost]) -> Mapping[str, bytes]:
    """The file of each post, by its id."""
    loop = asyncio.get_running_loop()
    # Fresh interpreters: a fork of a process that runs an event loop and threads is asking for trouble.
    with ProcessPoolExecutor(CAMERAS, mp_context=multiprocessing.get_context("spawn")) as cameras:
        filmed = [(post, loop.run_in_executor(cameras, film, post.clip, post.disguise)) for post in posts if post.clip]
        try:
            return {post.id: post.body for post in posts} | {post.id: await film for post, film in filmed}
        except asyncio.CancelledError:
            cameras.shutdown(wait=False, cancel_futures=True)
            raise


def publish(site: SocialSite, posts: Sequence[PlannedPost], files: Mapping[str, bytes]) -> None:
    """All at once: the site shows each from its own time on."""
    for post in posts:
        told = SocialPost(
            id=post.id,
            text=post.text,
            posted_at=post.posted_at,
            duration_seconds=post.clip.duration if post.clip else 5.0,
            subreddit=post.subreddit,
        )
        site.post(told, files[post.id])


def film(spec: ClipSpec, disguise: Disguise | None) -> bytes:
    # The picture libraries are large; whoever only plans a day does without.
    from pressbox.demo.clips.disguises import disguise as disguised

    clip = _original(spec)
    return disguised(clip, disguise, spec.seed) if disguise else clip


@lru_cache(maxsize=8)
def _original(spec: ClipSpec) -> bytes:
    from pressbox.demo.clips.making import make_clip

    return make_clip(spec)
