"""Signatures: near-duplicates agree, others do not, and what was stored stays comparable."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.parse.history.reading import BANDS, ROWS, fingerprint
from store.search.clusters import SAME_TEXT, agreement

REPORT = " ".join(f"sentence {n} of the report says {n * n % 97}" for n in range(100))
CHINESE = "".join(chr(0x4E00 + n * 37 % 5_000) for n in range(600))


def alike(one: str, other: str) -> float:
    return agreement(fingerprint(one)[0] or b"", fingerprint(other)[0] or b"")


def shares_a_band(one: str, other: str) -> bool:
    return bool(set(fingerprint(one)[1]) & set(fingerprint(other)[1]))


@pytest.mark.parametrize("text", [REPORT, CHINESE])
def test_a_copy_with_a_source_line_and_a_new_date_is_recognised(text: str) -> None:
    copy = f"Published on 8 May 2026\n{text}\nSource: another site, which added this line."
    assert alike(text, copy) >= SAME_TEXT
    assert shares_a_band(text, copy)


def test_noise_does_not_count() -> None:
    assert alike(REPORT, f"1,204 views\n{REPORT}\nShare on Facebook") == 1.0


def test_another_text_of_the_same_kind_is_no_copy() -> None:
    other = " ".join(f"chapter {n} of the book tells {n * n % 89}" for n in range(100))
    assert alike(REPORT, other) < 0.2
    assert alike(REPORT[: len(REPORT) // 2], REPORT) < SAME_TEXT


@pytest.mark.parametrize("text", ["", "Closed on Mondays.", "word " * 1_000, "中" * 1_000])
def test_a_text_with_little_in_it_is_nobodys_copy(text: str) -> None:
    assert fingerprint(text) == (None, ())


def test_forty_runs_of_four_words_are_enough_for_a_signature() -> None:
    """43 different words make them."""
    words = [f"word{n}" for n in range(43)]
    assert fingerprint(" ".join(words))[0] is not None
    assert fingerprint(" ".join(words[1:])) == (None, ())


def test_signatures_are_what_they_were_when_they_were_stored() -> None:
    """Signatures of all versions are compared: a library that makes others must not pass unseen."""
    signature, bands = fingerprint(REPORT)
    assert signature is not None
    assert len(signature) == 2 * BANDS * ROWS
    assert len(bands) == BANDS
    assert (signature[:8].hex(), bands[0]) == GOLDEN


GOLDEN = ("55d0fc326d91c329", 4171932866321808521)


@settings(max_examples=20)
@given(st.text(max_size=2_000))
def test_any_text_has_a_signature_or_none(text: str) -> None:
    signature, bands = fingerprint(text)
    assert (signature is None) == (bands == ())
    assert all(0 <= band < 2**63 for band in bands)
