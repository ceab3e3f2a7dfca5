"""Signatures: near-duplicates agree, others do not, and what was stored stays comparable."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.features.near_duplicates.fingerprint import VALUES, fingerprint
from store.near_duplicates import SAME_TEXT, agreement, bands_of

REPORT = " ".join(f"sentence {n} of the report says {n * n % 97}" for n in range(100))
CHINESE = "".join(chr(0x4E00 + n * 37 % 5_000) for n in range(600))


def alike(one: str, other: str) -> float:
    return agreement(fingerprint(one) or b"", fingerprint(other) or b"")


def shares_a_band(one: str, other: str) -> bool:
    return bool(set(bands_of(fingerprint(one) or b"")) & set(bands_of(fingerprint(other) or b"")))


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
    assert fingerprint(text) is None


def test_forty_runs_of_four_words_are_enough_for_a_signature() -> None:
    """43 different words make them."""
    words = [f"word{n}" for n in range(43)]
    assert fingerprint(" ".join(words)) is not None
    assert fingerprint(" ".join(words[1:])) is None


def test_signatures_are_what_they_were_when_they_were_stored() -> None:
    """Signatures of all versions are compared: a library that makes others must not pass unseen."""
    signature = fingerprint(REPORT)
    assert signature is not None
    assert len(signature) == 2 * VALUES
    assert signature[:8].hex() == "55d0fc326d91c329"
    assert len(bands_of(signature)) == 12
    assert all(0 <= band < 2**63 for band in bands_of(signature))


@settings(max_examples=20)
@given(st.text(max_size=2_000))
def test_any_text_has_a_signature_or_none(text: str) -> None:
    assert len(fingerprint(text) or b"") in (0, 2 * VALUES)
