"""Reads a body piece by piece and stops at a limit, so that a small answer cannot unpack into a huge one."""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from typing import Protocol

from pressbox.core.errors import PermanentError, TransientError

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
PIECE_BYTES = 64 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_ZLIB_METHOD = 0x08
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# The largest window that a receiver has to support; a larger one would be our memory.
_ZSTD_WINDOW = 8 * 1024 * 1024
# So few bytes unpack to two megabytes at most; its decoder cannot be told to stop in between.
_ZSTD_INPUT = 64


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


class Brotli:
    def __init__(self) -> None:
        # Loaded by the first answer that needs it.
        import brotli  # type: ignore[import-untyped]

        self._stream = brotli.Decompressor()
        self._error = brotli.error
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        self._begun = self._begun or bool(data)
        while not self._stream.is_finished():
            try:
                unpacked: bytes = self._stream.process(data, output_buffer_limit=PIECE_BYTES)
            except self._error as error:
                raise _damaged_error() from error
            if not unpacked:
                return
            # It may hold back more than the limit, which it also takes as a hint only.
            data = b""
            yield from _pieces(unpacked)

    def rest(self) -> bytes:
        if self._begun and not self._stream.is_finished():
            raise TransientError("The compressed answer ended early.")
        return b""


class Zstandard:
    """One or more frames; what follows the last one is padding."""

    def __init__(self) -> None:
        # Loaded by the first answer that needs it.
        import zstandard

        self._context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame = self._context.decompressobj()
        self._error = zstandard.ZstdError
        self._begun = False
        self._padding = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_INPUT):
            yield from self._unpack(data[start : start + _ZSTD_INPUT])

    def rest(self) -> bytes:
        if self._begun and not self._padding and not self._frame.eof:
            raise TransientError("The compressed answer ended early.")
        return b""

    def _unpack(self, data: bytes) -> Iterator[bytes]:
        while data and not self._padding:
            if self._frame.eof:
                self._padding = not _ZSTD_MAGIC.startswith(data[:4])
                self._frame = self._context.decompressobj()
                continue
            self._begun = True
            try:
                unpacked = self._frame.decompress(data)
            except self._error as error:
                raise _damaged_error() from error
            data = self._frame.unused_data if self._frame.eof else b""
            yield from _pieces(unpacked)


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), PIECE_BYTES):
        yield data[start : start + PIECE_BYTES]


def _damaged_error() -> UnreadableAnswerError:
    return UnreadableAnswerError("The compressed answer is damaged.")


def _gzip_member() -> "zlib._Decompress":
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


def decoder_for(content_encoding: str) -> Decoder:
    """The decoder of a Content-Encoding header. We ask for those that we know; anything else is not for us."""
    codings = [coding.strip().lower() for coding in content_encoding.split(",")]
    match [coding for coding in codings if coding not in ("", "identity")]:
        case []:
            return Identity()
        case ["gzip" | "x-gzip"]:
            return Gzip()
        case ["deflate"]:
            return Deflate()
        case ["br"]:
            return Brotli()
        case ["zstd"]:
            return Zstandard()
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
        raise _damaged_error() from error
    _check(unpacked + len(rest), max_bytes)
    if rest:
        yield rest


def _check(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise AnswerTooLargeError(f"The answer is larger than {max_bytes:,} bytes.", max_bytes=max_bytes)
