"""“Tell me”: a person hears of new articles of a feed, a category, a label or a story, or no longer."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import RedirectResponse, Response

from pressbox.core.web.pages.access import Parts
from pressbox.curator.following.service import ArticleFollows
from pressbox.curator.library.subjects import FollowedKind
from pressbox.curator.reading.access import LARGEST_ID, PATH, EntryId, Here, Reader
from pressbox.curator.search.domain.query import LONGEST_QUERY

pages = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/curator", tags=["entries"])


def _follows(parts: Parts) -> ArticleFollows:
    return ArticleFollows(parts.database)


Follows = Annotated[ArticleFollows, Depends(_follows)]


@pages.post(f"{PATH}/follow")
async def change_follow(
    follows: Follows,
    identity: Reader,
    here: Here,
    kind: Annotated[FollowedKind, Form()],
    id: Annotated[int, Form(ge=1, le=LARGEST_ID)],
    tell: Annotated[bool, Form()],
) -> Response:
    """Lead back to the list, or to the article whose story it is."""
    change = follows.follow if tell else follows.unfollow
    await change(identity.user_id, kind, id)
    place = f"{PATH}/entries/{id}" if kind is FollowedKind.STORY else PATH
    return RedirectResponse(f"{place}?{here.query(keep_moment=False)}", status_code=303)


@pages.post(f"{PATH}/follow-search")
async def change_search(follows: Follows, identity: Reader, here: Here, tell: Annotated[bool, Form()]) -> Response:
    """The words are those of the address."""
    change = follows.follow_search if tell else follows.unfollow_search
    await change(identity.user_id, here.selection.query)
    return RedirectResponse(f"{PATH}?{here.query(keep_moment=False)}", status_code=303)


@api.put("/follow/own/search", status_code=204, summary="Hear of new articles that have these words")
async def follow_own_search(
    follows: Follows, identity: Reader, q: Annotated[str, Query(min_length=1, max_length=LONGEST_QUERY)]
) -> None:
    """As a search in all articles, without typos. What you follow, with mute and end, is at `/api/follows`."""
    await follows.follow_search(identity.user_id, q)


@api.put("/follow/own/{kind}/{id}", status_code=204, summary="Hear of new articles of a feed, category, label or story")
async def follow_own(follows: Follows, identity: Reader, kind: FollowedKind, id: EntryId) -> None:
    """Of a story give the id of one of its entries. What you follow, with mute and end, is at `/api/follows`."""
    await follows.follow(identity.user_id, kind, id)
