"""Simulated newspapers with feeds, front pages and articles in English, German and Japanese; some misbehave.

In a test: `async with NewsSite() as site: site.feed_url("harbour")`, `site.evil_url(Evil.BOMB)`,
`site.publish(variation(7, "harbour"))`; `site.asked` lists every request with its time.
"""

import asyncio
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus

from pressbox.core.contracts import Contract
from pressbox.demo.news.library import Article, articles, variation
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.news_evil import Asking, Evil, EvilPage, evil_feed, evil_page
from pressbox.demo.simulators.news_feeds import Channel, Form, Item, write_feed
from pressbox.demo.simulators.news_pages import Alternate, article_page, front_page, page, picture

HTML = "text/html; charset=utf-8"
# The videos of the video channel. No test may fetch them: they are not on this site.
VIDEO_IDS = ("aaaaaaaaaaa", "bbbbbbbbbbb")


@dataclass(frozen=True)
class Publication:
    """With `full_text` its feed has whole articles. It lists the articles of `sections`; its own are under its name."""

    name: str
    title: str
    language: str
    form: Form
    path: str
    sections: tuple[str, ...]
    full_text: bool = False


PUBLICATIONS: Mapping[str, Publication] = {
    one.name: one
    for one in (
        Publication("harbour", "The Harbour Gazette", "en", Form.RSS, "feed.xml", ("harbour",)),
        Publication("workshop", "Notes from the Workshop", "en", Form.ATOM, "atom.xml", ("workshop",), full_text=True),
        Publication("umland", "Umland", "de", Form.RSS, "rss.xml", ("umland",)),
        Publication("yokocho", "横丁だより", "ja", Form.JSON, "feed.json", ("yokocho",)),
        # The same articles again, with the tracking parameters of a newsletter in their addresses.
        Publication("digest", "The Weekly Digest", "en", Form.RSS, "feed.xml", ("harbour", "workshop")),
        Publication("videos", "Harbour Films", "en", Form.ATOM, "videos.xml", ()),
    )
}


class ReceivedRequest(Contract):
    """A request that the site received. `conditional`: with If-None-Match or If-Modified-Since."""

    path: str
    at: datetime
    conditional: bool
    status: int
    user_agent: str = ""


class NewsSite(HttpService):
    """Starts with all articles of the library except those in `held`. The key of behaviours is the path.

    `channel` adds publications to the six that are always there.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        held: Sequence[str] = (),
        host: str = "127.0.0.1",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(port, host=host)
        self.asked: list[ReceivedRequest] = []
        self._clock = clock
        self._publications = dict(PUBLICATIONS)
        self._published: dict[str, tuple[Article, datetime]] = {}
        began = clock().replace(microsecond=0) - timedelta(days=1)
        for hours, article in enumerate(articles()):
            if article.slug not in held:
                self._published[article.slug] = (article, began + timedelta(hours=hours))

    def channel(self, name: str, number: int) -> None:
        """Add a publication with this many articles, all of them variations."""
        self._publications[name] = Publication(name, f"Channel {name}", "en", Form.RSS, "feed.xml", (name,))
        sections = ("harbour", "workshop", "umland", "yokocho")
        for place in range(number):
            varied = variation(place, sections[place % len(sections)])
            article = replace(varied, section=name, slug=f"{name}-{place}", html=f"{varied.html}<p>From {name}.</p>")
            self.publish(article, self._clock() - timedelta(minutes=place))

    def feed_url(self, name: str) -> str:
        return f"{self.url}/{name}/{self._publications[name].path}"

    def site_url(self, name: str) -> str:
        return f"{self.url}/{name}/"

    def evil_url(self, name: Evil) -> str:
        return f"{self.url}/evil/{name.value}"

    def article_url(self, slug: str) -> str:
        return f"{self.url}/{self._published[slug][0].section}/{slug}"

    def publish(self, article: Article, at: datetime | None = None) -> None:
        """Publish an article: from now on the feeds of its section list it first."""
        self._published[article.slug] = (article, (at or self._clock()).replace(microsecond=0))

    def withdraw(self, slug: str) -> None:
        """Remove an article from all feeds, and its page."""
        self._published.pop(slug, None)

    def edit(self, slug: str, html: str) -> None:
        """Change the words of an article; its date stays."""
        article, at = self._published[slug]
        self._published[slug] = (replace(article, html=html), at)

    def published(self, name: str) -> list[Article]:
        """What the feed of a publication lists, newest first."""
        return [article for article, _ in self._listed(self._publications[name])]

    def asked_for(self, path: str) -> list[ReceivedRequest]:
        return [one for one in self.asked if one.path == path]

    async def answer(self, request: Request) -> Answer:
        answer = await self._answer(request)
        conditional = bool({"if-none-match", "if-modified-since"} & set(request.headers))
        self.asked.append(
            ReceivedRequest(
                path=request.path,
                at=datetime.now(UTC),
                conditional=conditional,
                status=answer.status,
                user_agent=request.headers.get("user-agent", ""),
            )
        )
        return answer

    async def inspect(self, request: Request) -> Answer:
        return Answer.of([one.model_dump(mode="json") for one in self.asked])

    def forget(self) -> None:
        self.asked.clear()

    async def _answer(self, request: Request) -> Answer:
        match request.path.strip("/").split("/"):
            case [""]:
                everywhere = [self._alternate(one) for one in self._publications.values()]
                return _html(front_page("The simulated press", "en", [], everywhere))
            case ["evil", *rest]:
                return await self._evil(request, rest)
            case ["pictures", name]:
                return Answer(200, picture(name), {"Content-Type": "image/png"})
            case [name] if name in self._publications:
                known = self._publications[name]
                return _html(front_page(known.title, known.language, self.published(name), [self._alternate(known)]))
            case [name, path] if name in self._publications:
                return self._inside(self._publications[name], path, request)
        return Answer(HTTPStatus.NOT_FOUND, page("Not found", "en", "<main><h1>Not found</h1></main>"))

    def _inside(self, publication: Publication, path: str, request: Request) -> Answer:
        if path == publication.path:
            return _unless_known(self._feed(publication), request)
        if path not in self._published:
            return Answer(HTTPStatus.NOT_FOUND, page("Not found", "en", "<main><h1>Not found</h1></main>"))
        article, at = self._published[path]
        return _html(article_page(article, self.url, at.isoformat(), [self._alternate(publication)]))

    def _feed(self, publication: Publication) -> Answer:
        listed = self._listed(publication)
        items = [self._item(publication, article, at) for article, at in listed] or self._videos()
        newest = max((item.published_at for item in items if item.published_at), default=self._clock())
        channel = Channel(publication.title, self.site_url(publication.name), publication.language)
        body = write_feed(publication.form, channel, items)
        headers = {
            "Content-Type": publication.form.content_type,
            "ETag": f'"{hashlib.sha256(body).hexdigest()[:16]}"',
            "Last-Modified": format_datetime(newest.astimezone(UTC), usegmt=True),
        }
        return Answer(200, body, headers)

    def _listed(self, publication: Publication) -> list[tuple[Article, datetime]]:
        listed = [one for one in self._published.values() if one[0].section in publication.sections]
        return sorted(listed, key=lambda one: (one[1], one[0].slug), reverse=True)

    def _item(self, publication: Publication, article: Article, at: datetime) -> Item:
        url, own = f"{self.url}/{article.section}/{article.slug}", article.section == publication.name
        return Item(
            title=article.title,
            guid=f"tag:example.org,2026:{publication.name}:{article.slug}",
            url=url if own else f"{url}?utm_source={publication.name}&utm_medium=feed",
            author=article.author,
            published_at=at,
            summary=article.summary,
            content=article.html if publication.full_text else "",
            image_url=f"{self.url}/pictures/{article.slug}.png",
        )

    def _videos(self) -> list[Item]:
        at = self._clock().replace(hour=0, minute=0, second=0, microsecond=0)
        return [
            Item(
                title=f"A film from the quay, part {number}",
                guid=f"yt:video:{identity}",
                url=f"https://www.youtube.com/watch?v={identity}",
                published_at=at - timedelta(days=number),
                video_id=identity,
            )
            for number, identity in enumerate(VIDEO_IDS, start=1)
        ]

    def _alternate(self, publication: Publication) -> Alternate:
        # Relative to the root, as on many sites: the reader must complete it.
        return Alternate(f"/{publication.name}/{publication.path}", publication.title, publication.form.content_type)

    async def _evil(self, request: Request, rest: list[str]) -> Answer:
        match rest:
            case ["articles" | "pages", name]:
                return self._evil_page(name)
            case ["new-home"]:
                return Asking(Evil.MOVED, self.url, request, self._clock()).good()
            case [name] if name in {one.value for one in Evil}:
                answer = evil_feed(Asking(Evil(name), self.url, request, self._clock()))
                if answer is None:
                    await self.hang()
                return answer or Answer()
        return Answer(HTTPStatus.NOT_FOUND)

    def _evil_page(self, name: str) -> Answer:
        number = int(hashlib.sha256(name.encode()).hexdigest()[:4], 16)
        article = replace(variation(number, "harbour"), slug=name, section="evil/articles", title=f"About {name}")
        good = article_page(article, self.url, self._clock().isoformat(), [])
        known = {kind.value for kind in EvilPage}
        return evil_page(EvilPage(name), good) if name in known else _html(good)


def _html(body: bytes) -> Answer:
    return Answer(200, body, {"Content-Type": HTML})


def _unless_known(answer: Answer, request: Request) -> Answer:
    """Answer 304 if nothing changed. As in HTTP, the date does not count when the request has an ETag."""
    tag, since = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
    known = tag == answer.headers["ETag"] if tag else since == answer.headers["Last-Modified"]
    if not known:
        return answer
    kept = {name: answer.headers[name] for name in ("ETag", "Last-Modified")}
    return Answer(HTTPStatus.NOT_MODIFIED, b"", kept)


async def serve(channels: int, articles_each: int) -> None:
    """Serve with further channels until the process is ended; the port is printed on standard output."""
    async with NewsSite() as site:
        for number in range(channels):
            site.channel(f"channel-{number}", articles_each)
        sys.stdout.write(f"{site.port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
