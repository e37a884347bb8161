"""What people are told of their channels themselves, in the language of their account."""

from dataclasses import dataclass

from pressbox.core.web.languages import translations
from pressbox.delivery.domain.targets import OWN_MAIL

PACKAGE = "pressbox.delivery"
TEST_TITLE = "Test from Pressbox"
TEST_BODY = "This is a test of your channel %(name)s. If you can read it, the channel works."
BROKEN_TITLE = "Your channel %(name)s has stopped working"
BROKEN_BODY = "Several messages in a row could not be delivered over %(name)s, so it is no longer used."
BROKEN_REASON = "The last error was: %(reason)s"
BROKEN_ADVICE = "Give it a new address on your channels page, or send a test there."
# Of a channel that never failed: an address of its kind is used no longer.
REFUSED_BODY = "Messages can no longer be sent over %(name)s: Pressbox has stopped using addresses of this kind."
# A test demands them all in every language.
SENTENCES = (TEST_TITLE, TEST_BODY, BROKEN_TITLE, BROKEN_BODY, BROKEN_REASON, BROKEN_ADVICE, REFUSED_BODY, OWN_MAIL)


@dataclass(frozen=True)
class ChannelText:
    title: str
    body: str


def write_test(language: str, name: str) -> ChannelText:
    say = translations(language, (PACKAGE,)).gettext
    return ChannelText(say(TEST_TITLE), say(TEST_BODY) % {"name": name})


def write_broken(language: str, name: str, reason: str) -> ChannelText:
    say = translations(language, (PACKAGE,)).gettext
    parts = [say(BROKEN_BODY) % {"name": name}, say(BROKEN_ADVICE)]
    if reason:
        parts.insert(1, say(BROKEN_REASON) % {"reason": reason})
    return ChannelText(say(BROKEN_TITLE) % {"name": name}, "\n\n".join(parts))


def write_refused(language: str, name: str, reason: str) -> ChannelText:
    say = translations(language, (PACKAGE,)).gettext
    parts = [say(REFUSED_BODY) % {"name": name}, say(BROKEN_ADVICE)]
    if reason:
        parts.insert(1, say(reason))
    return ChannelText(say(BROKEN_TITLE) % {"name": name}, "\n\n".join(parts))
