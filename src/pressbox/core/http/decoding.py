"""Reads a body piece by piece and stops at a limit, so that a small answer cannot unpack into a huge one."""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from typing import Protocol

from pressbox.core.errors import PermanentError, TransientError

ACCEPT_ENCODING = "gzip, deflate"
PIECE_BYTES = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_ZLIB_METHOD = 0x08


class AnswerTooLargeError(PermanentError):
    code = "answer_too_large"
    status = 502


class UnreadableAnswerError(PermanentError):
    code = "unreadable_answer"
    status = 502


class Decoder(Protocol):
    """One content coding. No piece is larger than PIECE_BYTES, however much one input unpacks to."""

    def pieces(self, data: bytes) -> Iterator[bytes]: ...

    def rest(self) -> bytes: ...


class Identity:
    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield data

    def rest(self) -> bytes:
        return b""


class Gzip:
    """One or more members; what follows the last one is padding."""

    def __init__(self) -> None:
        self._member = _gzip_member()
        self._begun = False
        self._padding = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while data and not self._padding:
            self._begun = True
            piece = self._member.decompress(data, PIECE_BYTES)
            data = self._next_member() if self._member.eof else self._member.unconsumed_tail
            if piece:
                yield piece

    def rest(self) -> bytes:
        if not self._begun or self._padding or self._member.eof:
            return b""
        piece = self._member.flush()
        if not self._member.eof:
            raise TransientError("The compressed answer ended early.")
        return piece

    def _next_member(self) -> bytes:
        following = self._member.unused_data
        if following.startswith(_GZIP_MAGIC):
            self._member = _gzip_member()
            return following
        self._padding = bool(following)
        return b""


class Deflate:
    """The coding of that name is zlib's by standard and bare by habit: the first byte tells."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None and data:
            wrapped = data[0] & 0x0F == _ZLIB_METHOD
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        while data and self._stream is not None and not self._stream.eof:
            piece = self._stream.decompress(data, PIECE_BYTES)
            data = self._stream.unconsumed_tail
            if piece:
                yield piece

    def rest(self) -> bytes:
        if self._stream is None or self._stream.eof:
            return b""
        piece = self._stream.flush()
        if not self._stream.eof:
            raise TransientError("The compressed answer ended early.")
        return piece


def _gzip_member() -> "zlib._Decompress":
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


def decoder_for(content_encoding: str) -> Decoder:
    """The decoder of a Content-Encoding header. We ask for the two that we know; anything else is not for us."""
    codings = [coding.strip().lower() for coding in content_encoding.split(",")]
    match [coding for coding in codings if coding not in ("", "identity")]:
        case []:
            return Identity()
        case ["gzip" | "x-gzip"]:
            return Gzip()
        case ["deflate"]:
            return Deflate()
    raise UnreadableAnswerError(f"The answer comes in a coding that was not asked for: {content_encoding[:100]}.")


async def decoded(raw: AsyncIterable[bytes], decoder: Decoder, max_bytes: int) -> AsyncGenerator[bytes, None]:
    """The plain body. Neither what arrives nor what it unpacks to may exceed the limit."""
    received = unpacked = 0
    try:
        async for data in raw:
            received += len(data)
            # Counted as well, because packed data that unpacks to nothing could otherwise go on for ever.
            _check(received, max_bytes)
            for piece in decoder.pieces(data):
                unpacked += len(piece)
                _check(unpacked, max_bytes)
                yield piece
        rest = decoder.rest()
    except zlib.error as error:
        raise UnreadableAnswerError("The compressed answer is damaged.") from error
    _check(unpacked + len(rest), max_bytes)
    if rest:
        yield rest


def _check(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise AnswerTooLargeError(f"The answer is larger than {max_bytes:,} bytes.", max_bytes=max_bytes)
