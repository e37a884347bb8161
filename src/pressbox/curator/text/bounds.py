"""How much of a text may travel in a message: histories keep everything, so what they keep is short. Pure."""

TITLE_BYTES = 80
SUMMARY_BYTES = 1_500


def shortened(text: str, limit: int = TITLE_BYTES) -> str:
    """At most `limit` bytes of UTF-8, cut between words where there are words."""
    if len(text.encode()) <= limit:
        return text
    cut = text.encode()[: limit - 3].decode(errors="ignore")
    words = cut.rsplit(" ", 1)[0]
    return (words if len(words) > len(cut) // 2 else cut).rstrip() + "…"
