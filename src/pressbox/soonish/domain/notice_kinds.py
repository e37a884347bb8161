"""What people can follow of events, and the kinds of notices of it. Pure."""

from pressbox.core.notices.kinds import NoticeKind

ORGANISER_SUBJECT = "soonish.organiser."
NEW_EVENT = "new_event"
KINDS = (NoticeKind(NEW_EVENT, "New events", ORGANISER_SUBJECT),)


def organiser_subject(user_id: int) -> str:
    return f"{ORGANISER_SUBJECT}{user_id}"
