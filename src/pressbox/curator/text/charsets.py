"""Decodes the bytes of feeds and pages. What is declared is often wrong; the bytes seldom are."""

import codecs
import re
from dataclasses import dataclass

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']\s*([A-Za-z0-9._:-]+)\s*[\"'][^>]*\?>")
_ANY_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_PARAMETER = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
# What pages call Latin-1 is Windows-1252 in practice: they differ in quotation marks and dashes.
_MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949"}
# Seven-bit encodings look like plain text to a check for UTF-8.
_SEVEN_BIT = ("iso2022", "hz", "utf-7")


@dataclass(frozen=True)
class Decoded:
    """The text without byte order mark and without XML declaration. `problem` is empty when all was as declared."""

    text: str
    charset: str
    problem: str = ""


def decode(content: bytes, content_type: str) -> Decoded:
    """Decode without ever failing: at worst characters are replaced, and the problem says so."""
    for mark, charset in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _decode_as(content[len(mark) :], charset, "")
    declared = _declared_charset(content, content_type)
    utf16 = _detect_utf16(content)
    if utf16:
        return _decode_as(content, utf16, "")
    if declared.startswith(_SEVEN_BIT):
        return _decode_as(content, declared, "")
    if _fits(content, "utf-8"):
        wrong = declared not in ("", "utf-8") and not content.isascii()
        return _decode_as(content, "utf-8", f"It is UTF-8, although it says {declared}." if wrong else "")
    if declared and declared != "utf-8" and _fits(content, _MEANT.get(declared, declared)):
        return _decode_as(content, _MEANT.get(declared, declared), "")
    said = f"although it says {declared}" if declared else "although it does not say so"
    if declared in ("", "utf-8") and _is_mostly_utf8(content):
        return _decode_as(content, "utf-8", "It has characters that are not UTF-8; they are shown as �.")
    return _decode_as(content, "cp1252", f"It is not UTF-8; it was read as Windows-1252, {said}.")


def _decode_as(content: bytes, charset: str, problem: str) -> Decoded:
    text = content.decode(charset, errors="replace")
    return Decoded(_ANY_DECLARATION.sub("", text, count=1).lstrip("\ufeff \t\r\n"), charset, problem)


def _declared_charset(content: bytes, content_type: str) -> str:
    """What the document says comes first: servers add a charset to everything they send."""
    found = _DECLARATION.match(content[:1024].decode("latin-1")) or _PARAMETER.search(content_type)
    if found is None:
        return ""
    try:
        return codecs.lookup(found.group(1)).name
    except LookupError:
        return ""


def _detect_utf16(content: bytes) -> str:
    """UTF-16 without its mark shows as a zero byte beside the first bracket."""
    start = content[:64].lstrip()
    if start[:2] in (b"<\0", b"{\0"):
        return "utf-16-le"
    return "utf-16-be" if start[:2] in (b"\0<", b"\0{") else ""


def _fits(content: bytes, charset: str) -> bool:
    try:
        content.decode(charset)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _is_mostly_utf8(content: bytes) -> bool:
    """One broken character among a thousand good ones is damage, not another charset."""
    text = content.decode("utf-8", errors="replace")
    good = sum(1 for character in text if ord(character) > 127 and character != "\ufffd")
    return text.count("\ufffd") * 4 < good
