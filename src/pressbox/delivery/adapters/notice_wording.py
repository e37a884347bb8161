"""The words of a notice on its way, in the language of its reader; the notice itself is in English sentences."""

from pressbox.core.web.folders import CORE_PACKAGE
from pressbox.core.web.sentences import sentences
from pressbox.delivery.domain.attempts import Level
from pressbox.delivery.domain.links import StoppedWay, WayLinks
from pressbox.delivery.domain.notices import PUSH, Form, Told
from pressbox.delivery.notice_ports import NoticeMessage, PlannedSend

PACKAGE = "pressbox.delivery"
CORRECTED = "Correction: %(title)s"
TAKEN_BACK = "Taken back: %(title)s"
BECAUSE = "You get this because you follow %(name)s. Mute it, or change where it goes: %(url)s"
CHANGE = "Change where this goes: %(url)s"
SENTENCES = (CORRECTED, TAKEN_BACK, BECAUSE, CHANGE)


class NoticeWords:
    """`base_url` is where people reach this instance; `links` are for mails, which anybody can end with one click."""

    def __init__(self, base_url: str, links: WayLinks | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._links = links

    def write(self, item: PlannedSend, not_after: float) -> NoticeMessage:
        notice, reader, form = item.notice, item.reader, item.plan.form
        # The name of an application is that of its package, which has the words of its notices.
        words = sentences(reader.language, (CORE_PACKAGE, PACKAGE, f"pressbox.{notice.application}"))
        is_withdrawn = form is Form.WITHDRAWAL
        title = words.translate(_title_before(item.before, notice.title) if is_withdrawn else notice.title)
        opening = {Form.CORRECTION: CORRECTED, Form.WITHDRAWAL: TAKEN_BACK}.get(form)
        detail = "" if is_withdrawn else words.translate(notice.detail)
        short = [line for line in (notice.heading, detail) if line]
        whole = f"\n{notice.body}\n" if notice.body and not is_withdrawn else ""
        lines = [*short, whole, "" if is_withdrawn else f"{self._base_url}/inbox/notices/{notice.id}"]
        url = f"{self._base_url}/follows"
        footer = words.translate(BECAUSE if reader.because else CHANGE) % {"name": reader.because, "url": url}
        return NoticeMessage(
            # A push says by itself that something was taken back.
            title=words.translate(opening) % {"title": title} if opening else title,
            body="\n".join(line for line in lines if line),
            level=Level.INFO,
            why_url="",
            unsubscribe_url=self._stop_url(item),
            recipient_id=item.delivery_id,
            footer=(footer,),
            not_after=not_after,
            notice=notice,
            plain_title=title,
            plain_body="\n".join(short),
            is_withdrawn=is_withdrawn,
            unread=reader.unread,
            because=reader.because_subject,
        )

    def _stop_url(self, item: PlannedSend) -> str:
        """A browser ends its messages by itself."""
        if self._links is None or item.channel_key.startswith(PUSH):
            return ""
        return self._links.stop_url(StoppedWay(item.reader.user_id, item.channel_key))


def _title_before(before: Told | None, title: str) -> str:
    """What was taken back is named as it was told."""
    return before.title if before is not None else title
