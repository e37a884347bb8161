"""What every object store must do, on a local folder and on a real S3 server alike."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.core.objects.store import ObjectStore
from tests.patience import patience

# Larger than one part of an upload, so that it is written in several.
LARGE = 11_000_000


async def keys(store: ObjectStore, prefix: str = "") -> list[str]:
    return sorted([item.key async for item in store.list(prefix)])


async def read(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize("size", [0, 1, 70_000, LARGE])
async def test_bytes_come_back_as_they_were_written(store: ObjectStore, size: int) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    info = await store.put("folder/object.bin", data)
    assert (info.key, info.size) == ("folder/object.bin", size)
    assert await store.get("folder/object.bin") == data
    assert await read(store.stream("folder/object.bin")) == data


async def test_an_object_can_be_written_piece_by_piece(store: ObjectStore) -> None:
    info = await store.put("clip", pieces(b"a" * LARGE, b"", b"b" * 10))
    assert info.size == LARGE + 10
    assert (await store.get("clip")).endswith(b"a" + b"b" * 10)


async def test_an_iterable_without_pieces_makes_an_empty_object(store: ObjectStore) -> None:
    assert (await store.put("empty", pieces())).size == 0
    assert await store.get("empty") == b""


async def test_an_object_can_be_written_from_a_file(store: ObjectStore, tmp_path: Path) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(b"film" * 2_000_000)
    assert (await store.put("clips/one.mp4", file)).size == 8_000_000
    assert await store.get("clips/one.mp4") == file.read_bytes()


async def test_a_file_that_is_not_there_is_reported_and_nothing_is_written(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no file gone\.mp4"):
        await store.put("clips/one.mp4", tmp_path / "gone.mp4")
    assert await keys(store) == []


async def test_info_tells_size_time_and_a_tag_that_changes_with_the_content(store: ObjectStore) -> None:
    before = datetime.now(UTC)
    first = await store.put("note", b"one")
    second = await store.put("note", b"other")
    found = await store.info("note")
    assert found == second
    assert found.size == 5
    assert found.modified_at.tzinfo is not None
    assert abs(found.modified_at - before) < timedelta(minutes=1)
    assert first.etag != second.etag


async def test_a_missing_object_is_not_found(store: ObjectStore) -> None:
    await store.put("folder/object", b"x")
    for key in ("nothing", "folder", "folder/object/below"):
        assert await store.info(key) is None
        with pytest.raises(NotFoundError, match=f"no object {key}"):
            await store.get(key)
        with pytest.raises(NotFoundError):
            await read(store.stream(key))
        with pytest.raises(NotFoundError):
            await read(store.stream(key, 1, 2))


async def test_delete_removes_one_object_and_may_be_repeated(store: ObjectStore) -> None:
    await store.put("folder/one", b"1")
    await store.put("folder/two", b"2")
    await store.delete("folder/one")
    await store.delete("folder/one")
    await store.delete("folder")
    await store.delete("never/there")
    assert await keys(store) == ["folder/two"]


async def test_list_gives_what_lies_below_a_folder(store: ObjectStore) -> None:
    for key in ("a/b/1", "a/b/2", "a/bc/3", "a/4", "z"):
        await store.put(key, key.encode())
    assert await keys(store, "a/b") == ["a/b/1", "a/b/2"]
    assert await keys(store, "a/b/") == ["a/b/1", "a/b/2"]
    assert await keys(store, "a") == ["a/4", "a/b/1", "a/b/2", "a/bc/3"]
    assert await keys(store, "z") == []
    assert await keys(store, "nothing/here") == []
    assert await keys(store) == ["a/4", "a/b/1", "a/b/2", "a/bc/3", "z"]
    assert {item.size async for item in store.list("a/b")} == {5}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, None, b"0123456789"),
        (0, 1, b"0"),
        (3, 7, b"3456"),
        (9, None, b"9"),
        (4, None, b"456789"),
        (8, 99, b"89"),
        (0, 10, b"0123456789"),
    ],
)
async def test_stream_gives_a_range(store: ObjectStore, start: int, end: int | None, expected: bytes) -> None:
    await store.put("digits", b"0123456789")
    assert await read(store.stream("digits", start, end)) == expected


@pytest.mark.parametrize(("start", "end"), [(-1, None), (4, 4), (5, 4), (10, None), (10, 12), (99, None)])
async def test_a_range_without_bytes_is_refused(store: ObjectStore, start: int, end: int | None) -> None:
    await store.put("digits", b"0123456789")
    with pytest.raises(InvalidInputError) as caught:
        await read(store.stream("digits", start, end))
    assert caught.value.field == "range"


async def test_a_large_stream_comes_in_pieces_and_may_be_left_early(store: ObjectStore) -> None:
    await store.put("clip", b"x" * LARGE)
    sizes = [len(piece) async for piece in store.stream("clip")]
    assert sum(sizes) == LARGE
    assert max(sizes) < LARGE
    async for piece in store.stream("clip"):
        assert piece
        break


async def test_odd_but_harmless_keys_work(store: ObjectStore) -> None:
    odd = [
        "a b/ü.txt",
        "100%25",
        "q?*~[]{}|^`<>",
        "日本/é",
        "a'b\"c",
        "...",
        "..hidden",
        "a:b",
        "a+b&c=d;e",
        "h#a",
        "~",
    ]
    for key in odd:
        await store.put(key, key.encode())
    assert await keys(store) == sorted(odd)
    for key in odd:
        assert await store.get(key) == key.encode()


async def test_a_traversing_key_touches_nothing(store: ObjectStore, local_folder: Path) -> None:
    outside = local_folder.parent / "outside"
    outside.write_bytes(b"secret")
    for key in ("../outside", "a/../../outside", str(outside), "..", "a/./b", "a\\..\\b"):
        for attempt in (store.put(key, b"x"), store.get(key), store.info(key), store.delete(key)):
            with pytest.raises(InvalidInputError):
                await attempt
        with pytest.raises(InvalidInputError):
            store.stream(key)
        with pytest.raises(InvalidInputError):
            store.list(key)
        with pytest.raises(InvalidInputError):
            await store.link(key, timedelta(minutes=1))
    assert outside.read_bytes() == b"secret"
    assert await keys(store) == []


async def test_a_write_that_fails_half_way_leaves_what_was_there(store: ObjectStore) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"n" * LARGE
        raise RuntimeError("the source broke off")

    await store.put("old", b"old")
    for key in ("old", "new"):
        with pytest.raises(RuntimeError, match="the source broke off"):
            await store.put(key, broken())
    assert await keys(store) == ["old"]
    assert await store.get("old") == b"old"


async def test_a_write_that_is_cancelled_leaves_what_was_there(store: ObjectStore) -> None:
    half_way = asyncio.Event()

    async def stuck() -> AsyncIterator[bytes]:
        yield b"n" * LARGE
        half_way.set()
        await asyncio.Event().wait()

    await store.put("old", b"old")
    for key in ("old", "new"):
        half_way.clear()
        writing = asyncio.create_task(store.put(key, stuck()))
        await asyncio.wait_for(half_way.wait(), patience(20))
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    assert await keys(store) == ["old"]
    assert await store.get("old") == b"old"


async def test_a_reader_never_sees_half_an_object(store: ObjectStore) -> None:
    versions = [bytes([number]) * 2_000_000 for number in range(6)]
    await store.put("shared", versions[0])
    finished = False

    async def write() -> None:
        nonlocal finished
        for version in versions:
            await store.put("shared", pieces(version[:900_000], version[900_000:]))
        finished = True

    async def look() -> int:
        looks = 0
        while not finished:
            assert await store.get("shared") in versions
            looks += 1
        return looks

    looks, _ = await asyncio.gather(look(), write())
    assert looks > 0
    assert await store.get("shared") == versions[-1]


async def test_many_writers_and_removers_do_not_disturb_each_other(store: ObjectStore) -> None:
    async def come_and_go(number: int) -> None:
        for _ in range(5):
            await store.put(f"busy/{number}", b"x")
            await store.delete(f"busy/{number}")
        await store.put(f"busy/{number}", str(number).encode())

    await asyncio.gather(*(come_and_go(number) for number in range(10)))
    assert await keys(store, "busy") == sorted(f"busy/{number}" for number in range(10))


async def test_finished_objects_are_never_taken_for_unfinished_ones(store: ObjectStore) -> None:
    await store.put("clips/one", b"x")
    assert await store.remove_unfinished(datetime.now(UTC) + timedelta(days=1)) == 0
    assert await keys(store) == ["clips/one"]


async def test_check_passes_on_a_healthy_store_and_leaves_nothing(store: ObjectStore) -> None:
    await store.check()
    assert await keys(store) == []


@pytest.mark.parametrize("expires", [timedelta(0), timedelta(seconds=-1), timedelta(days=8)])
async def test_a_link_needs_a_sensible_life(store: ObjectStore, expires: timedelta) -> None:
    await store.put("clip", b"x")
    with pytest.raises(InvalidInputError):
        await store.link("clip", expires)
