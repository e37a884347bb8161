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
# Python's codecs of these names lack characters that the standard has: all beyond GBK.
_WIDER = {"gbk": "gb18030", "iso2022_jp": "iso2022_jp_2004"}
# What has half-width letters or the supplementary set of kanji is of another variant.
_OTHER_ISO2022 = (b"\x1b(I", b"\x1b$(D")
_JAPANESE = ("euc_jp", "iso2022_jp")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")
# So many kana has any text in Japanese, and none that only looks like it in a wrong charset.
_LEAST_KANA = 0.2
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
    return _guess(content, declared)


def _guess(content: bytes, declared: str) -> Decoded:
    japanese = _detect_japanese(content)
    if japanese:
        return _decode_as(content, japanese, f"It does not say that it is {_NAMES[japanese]}, as which it was read.")
    said = f"although it says {declared}" if declared else "although it does not say so"
    return _decode_as(content, _LATIN, f"It is not UTF-8; it was read as Windows-1252, {said}.")


def _decode_as(content: bytes, charset: str, problem: str) -> Decoded:
    text = _read(content, charset)
    if charset == "cp932":
        text = text.translate(_DAMAGE_IN_CP932)
    return Decoded(_ANY_DECLARATION.sub("", text, count=1).lstrip("\ufeff \t\r\n"), charset, problem)


def _read(content: bytes, charset: str) -> str:
    if not charset.startswith(_JAPANESE):
        return content.decode(charset, errors="replace")
    if charset == "iso2022_jp_2004" and any(escape in content for escape in _OTHER_ISO2022):
        charset = "iso2022_jp_ext"
    return content.decode(charset, errors=_AS_WINDOWS)


def _read_as_windows(error: UnicodeError) -> tuple[str, int]:
    """Read two bytes that a Japanese charset lacks, such as 髙 and ①, by the table of Windows, as browsers do."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = bytes(byte | 0x80 for byte in error.object[error.start : error.start + 2])
    if len(pair) == 2 and all(0xA1 <= byte <= 0xFE for byte in pair):
        row, cell = pair[0] - 0xA0, pair[1] - 0xA0
        lead = (row + 1) // 2 + (0x80 if row <= 62 else 0xC0)
        trail = cell + (0x9E if row % 2 == 0 else 0x40 if cell >= 64 else 0x3F)
        for codec, known in (("cp932", bytes((lead, trail))), ("euc_jis_2004", pair)):
            try:
                return known.decode(codec), error.start + 2
            except UnicodeDecodeError:
                continue
    return "\ufffd", error.end


_AS_WINDOWS = "pressbox.japanese"
codecs.register_error(_AS_WINDOWS, _read_as_windows)
_NAMES = {"cp932": "Shift_JIS", "euc_jp": "EUC-JP"}


def _detect_japanese(content: bytes) -> str:
    """The charset in which this has the kana of a text in Japanese, and hardly any damage."""
    for charset in _NAMES:
        text = _read(content, charset)
        foreign = len(_BEYOND_ASCII.findall(text))
        if len(_KANA.findall(text)) >= foreign * _LEAST_KANA and text.count("\ufffd") * 10 <= foreign:
            return charset
    return ""


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
    if charset.startswith(_JAPANESE):
        return "\ufffd" not in _read(content, charset)
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
