"""The kinds of notices of teams, leagues and matches. Pure."""

from pressbox.core.notices.kinds import NoticeKind

GOAL, FULL_TIME, HALF_TIME = "goal", "full-time", "half-time"
KICK_OFF, RED_CARD, LINE_UPS = "kick-off", "red-card", "line-ups"

KINDS = (
    NoticeKind(GOAL, "Goals", "footy."),
    NoticeKind(FULL_TIME, "Full-time", "footy."),
    NoticeKind(HALF_TIME, "Half-time", "footy.", by_default=False),
    NoticeKind(KICK_OFF, "Kick-off", "footy.", by_default=False),
    NoticeKind(RED_CARD, "Red cards", "footy.", by_default=False),
    NoticeKind(
        LINE_UPS,
        "Line-ups",
        "footy.",
        by_default=False,
        note="About half an hour before kick-off. A free plan of API-Football often has none.",
    ),
)
