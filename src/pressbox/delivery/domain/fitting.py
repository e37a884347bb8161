"""Messages that fit what a service takes, with the links below them. Pure."""

from collections.abc import Sequence

CUT = " …"
# Texts up to this length are shown as they are; of longer ones that changed, the change with this much on both sides.
SHOWN_WHOLE = 200
BESIDE = 40


def fit_body(body: str, links: Sequence[str], limit: int | None) -> str:
    """Put the links below the body; cut the body, never a link, to `limit` bytes.

    The links lead to the whole. When not even they fit, the first ones that do are kept.
    """
    whole = "\n\n".join(part for part in (body, "\n".join(links)) if part)
    if limit is None or _size(whole) <= limit:
        return whole
    kept = list(links)
    while kept and _size("\n".join(kept)) > limit * 2 // 3:
        kept.pop()
    footer = "\n\n" + "\n".join(kept) if kept else ""
    return cut_text(body, limit - _size(footer)) + footer


def cut_text(text: str, limit: int) -> str:
    """The beginning of a text in at most `limit` bytes, at the end of a word where there is one nearby."""
    if _size(text) <= limit:
        return text
    beginning = text.encode()[: max(0, limit - _size(CUT))].decode(errors="ignore")
    words = beginning.rpartition(" ")[0]
    return (words if len(words) > len(beginning) // 2 else beginning).rstrip() + CUT


def show_difference(old: str, new: str) -> tuple[str, str]:
    """Two texts as far as they differ, with a few words around it; short ones stay whole."""
    if max(len(old), len(new)) <= SHOWN_WHOLE:
        return old, new
    same = _count_equal(old, new)
    rest = _count_equal(old[same:][::-1], new[same:][::-1])
    return _around(old, same, len(old) - rest), _around(new, same, len(new) - rest)


def _count_equal(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _around(text: str, begin: int, end: int) -> str:
    """This part of a text with what stands beside it; marked where something is left out."""
    first, last = max(0, begin - BESIDE), min(len(text), end + BESIDE)
    part = cut_text(text[first:last].strip(), SHOWN_WHOLE * 2)
    return f"{'… ' if first else ''}{part}{CUT if last < len(text) and not part.endswith(CUT) else ''}"


def _size(text: str) -> int:
    """In bytes: no service counts more than these for a text."""
    return len(text.encode())
