"""Decodes the bytes of feeds and pages as browsers do, by the labels of the WHATWG's encoding standard."""

import codecs
import re
from dataclasses import dataclass

import webencodings  # type: ignore[import-untyped]

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']\s*([A-Za-z0-9._:-]+)\s*[\"'][^>]*\?>")
_ANY_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_META = re.compile(r"<meta\b[^<>]*?\bcharset\s*+=\s*+[\"']?+\s*+([A-Za-z0-9._:-]++)", re.IGNORECASE)
_PARAMETER = re.compile(r"charset\s*+=\s*+[\"']?+\s*+([A-Za-z0-9._:-]++)", re.IGNORECASE)
# Python's codecs of these names lack characters that the standard has: ① and ㈱, and all beyond GBK.
_WIDER = {"euc_jp": "euc_jis_2004", "gbk": "gb18030", "iso2022_jp": "iso2022_jp_2004"}
_LATIN = "cp1252"
# Python reads four bytes that stand for nothing as private characters.
_DAMAGE_IN_CP932 = dict.fromkeys(range(0xF8F0, 0xF8F4), "\ufffd")
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
    utf16 = _detect_utf16(content)
    if utf16:
        return _decode_as(content, utf16, "")
    declared = _declared_charset(content, content_type)
    if declared.startswith(_SEVEN_BIT):
        return _decode_as(content, declared, "")
    if _fits(content, "utf-8"):
        wrong = declared not in ("", "utf-8") and not content.isascii()
        return _decode_as(content, "utf-8", f"It is UTF-8, although it says {declared}." if wrong else "")
    if declared not in ("", "utf-8"):
        damaged = "" if _fits(content, declared) else f"It has characters that are not {declared}; they are shown as �."
        return _decode_as(content, declared, damaged)
    if _is_mostly_utf8(content, trusted=bool(declared)):
        return _decode_as(content, "utf-8", "It has characters that are not UTF-8; they are shown as �.")
    said = f"although it says {declared}" if declared else "although it does not say so"
    return _decode_as(content, _LATIN, f"It is not UTF-8; it was read as Windows-1252, {said}.")


def _decode_as(content: bytes, charset: str, problem: str) -> Decoded:
    text = content.decode(charset, errors="replace")
    if charset == "cp932":
        text = text.translate(_DAMAGE_IN_CP932)
    return Decoded(_ANY_DECLARATION.sub("", text, count=1).lstrip("\ufeff \t\r\n"), charset, problem)


def _declared_charset(content: bytes, content_type: str) -> str:
    """The server's word, unless it is Latin-1, which servers add to everything, and the document says otherwise."""
    start = content[:1024].decode("latin-1")
    by_server = _find_codec(_PARAMETER.search(content_type))
    by_document = _find_codec(_DECLARATION.match(start)) or _find_codec(_META.search(start))
    if by_server and (by_server != _LATIN or not by_document):
        return by_server
    return by_document


def _find_codec(found: re.Match[str] | None) -> str:
    """The codec for a label of the standard, or of Python; empty when there is none."""
    if found is None:
        return ""
    encoding = webencodings.lookup(found.group(1))
    if encoding is not None and encoding.name != "replacement":
        name = "utf-8" if encoding.name.startswith("utf-16") else encoding.codec_info.name
        return _WIDER.get(name, name)
    try:
        name = codecs.lookup(found.group(1)).name
        # Some of Python's codecs do not decode text.
        return name if isinstance(b"".decode(name), str) else ""
    except (LookupError, UnicodeError):
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


def _is_mostly_utf8(content: bytes, *, trusted: bool) -> bool:
    """One broken character among good ones is damage, not another charset."""
    text = content.decode("utf-8", errors="replace")
    good = sum(1 for character in text if ord(character) > 127 and character != "\ufffd")
    damaged = text.count("\ufffd")
    return damaged <= good if trusted else damaged * 4 < good
