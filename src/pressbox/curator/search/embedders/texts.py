"""What of a text is embedded: its beginning, which says what it is about."""

LONGEST = 2000
# How far back the end of a sentence is looked for.
SEARCHED = 300
_ENDS = (". ", "! ", "? ", "。", "\n")


def beginning(text: str, longest: int = LONGEST) -> str:
    """At most `longest` characters, ended where a sentence ends, or else a word."""
    text = text.strip()
    if len(text) <= longest:
        return text
    cut = text[:longest]
    at = max(cut.rfind(end, longest - SEARCHED) + len(end.rstrip()) for end in _ENDS)
    if at < longest - SEARCHED:
        at = cut.rfind(" ", longest - SEARCHED)
    return cut[:at].rstrip() if at > 0 else cut
