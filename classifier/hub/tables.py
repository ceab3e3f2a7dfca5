"""Learned weights of a link's character n-grams and tokens, for or against a hub.

A link is read in several *views* (path, its shape, last segment, tokens, host, anchor, ...), each
with a table of weights by hashed n-gram or token. The weights of all tables are fitted together by
logistic regression: smoothed log-odds (smoothed by the L2 penalty) that do not count the same
evidence twice. A view's sum over the root of its number of n-grams is one dense feature of the SVM.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from classifier.hub.evidence import ANCHOR_LIMIT, LinkEvidence, UrlParts

# Characters of one view.
_VIEW_LIMIT = 300
# Links hashed at once, to bound memory.
_CHUNK = 2000

_DIGIT_TO_ZERO: Final = str.maketrans("123456789", "000000000")
_SHAPE: Final = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456789",
    "a" * 26 + "A" * 26 + "0" * 9,
)
_RUN = re.compile(r"(.)\1+")
_IDEOGRAPH = re.compile("[\u3400-\u9fff]")
# Only the common ones: a missed one merely blurs a feature.
_SECOND_LEVELS: Final = frozenset(
    ["ac", "co", "com", "edu", "go", "gob", "gov", "net", "or", "org"]
)
_DIGIT_BYTES: Final = bytes.maketrans(b"123456789", b"000000000")
_ZEROS = re.compile(b"00+")
_TOKEN_BREAK = re.compile(rb"[!-/:-@\[-`{-~\s]+")
_TOKEN_SEGMENTS = 8
_PLACES: Final = (b"e0", b"e1", b"e2", b"e3", *[b"e4"] * (_TOKEN_SEGMENTS - 3))


def _path_view(_: LinkEvidence, parts: UrlParts) -> str:
    return f"^{_tail(parts).lower().translate(_DIGIT_TO_ZERO)}$"


def _shape_view(_: LinkEvidence, parts: UrlParts) -> str:
    return f"^{_tail(parts).translate(_SHAPE)}$"


def _last_view(_: LinkEvidence, parts: UrlParts) -> str:
    last = parts.segments[-1] if parts.segments else ""
    slash = "/" if parts.path.endswith("/") else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"^{slash}{last[-_VIEW_LIMIT:]}{query}$".translate(_DIGIT_TO_ZERO)


def _form_view(_: LinkEvidence, parts: UrlParts) -> str:
    """Shape with runs cut to their length class: ``/aaaa/00000000`` is ``/a+/0#``."""
    return f"^{_runs_cut(_tail(parts).translate(_SHAPE))}$"


def _host_view(_: LinkEvidence, parts: UrlParts) -> str:
    return f"^{parts.host}$"


def _place_view(_: LinkEvidence, parts: UrlParts) -> str:
    return f"^{_without_name(parts.host)}$"


def _anchor_view(link: LinkEvidence, _: UrlParts) -> str:
    if not link.anchor:
        return ""
    return f"^{link.anchor[:ANCHOR_LIMIT].lower().translate(_DIGIT_TO_ZERO)}$"


def _anchor_form_view(link: LinkEvidence, _: UrlParts) -> str:
    """Form of the anchor: ``第 96 期`` is ``c 0+ c``."""
    if not link.anchor:
        return ""
    return f"^{_runs_cut(_IDEOGRAPH.sub('c', link.anchor[:ANCHOR_LIMIT].translate(_SHAPE)))}$"


def _runs_cut(shape: str) -> str:
    return _RUN.sub(_run_class, shape)


def _run_class(run: re.Match[str]) -> str:
    size = len(run[0])
    return run[1] + ("+" if size < 5 else "#" if size < 9 else "@")  # noqa: PLR2004 - word, date, code


@lru_cache(maxsize=4_096)
def _without_name(host: str) -> str:
    """Replace the site's own name: ``news.example.edu.cn`` becomes ``news.*.edu.cn``."""
    labels = host.split(".")
    country = len(labels) > 2 and len(labels[-1]) == 2  # noqa: PLR2004 - name, level, country
    suffix = 2 if country and labels[-2] in _SECOND_LEVELS else 1
    if len(labels) <= suffix:
        return host
    return ".".join([*labels[: -suffix - 1], "*", *labels[-suffix:]])


def _tail(parts: UrlParts) -> str:
    """Path and query; of a long one the end, which is more informative than the middle."""
    path = parts.path or "/"
    tail = f"{path}?{parts.query}" if parts.query else path
    return tail if len(tail) <= _VIEW_LIMIT else tail[-_VIEW_LIMIT:]


def tokens_of(parts: UrlParts) -> list[tuple[bytes, bytes]]:
    """Return (kind, text) of a URL's tokens; every number is 0.

    Kinds: ``s`` segment, ``e1`` to ``e4`` segment by its place from the end, ``w`` word,
    ``d`` depth, ``n`` number of parameters, ``k`` parameter name, ``v`` parameter with its value.
    """
    path = _plain(parts.path)
    segments = [segment[:80] for segment in path.split(b"/") if segment][-_TOKEN_SEGMENTS:]
    left = len(segments)
    tokens = [(b"d", b"%d" % left), (b"n", b"%d" % min(parts.query.count("="), 9))]
    for segment in segments:
        tokens.append((b"s", segment))
        tokens.append((_PLACES[left], segment))
        left -= 1
        words = _TOKEN_BREAK.split(segment)
        tokens += [(b"w", word) for word in words[:12] if word]
    if parts.query:
        for pair in _plain(parts.query).split(b"&")[:10]:
            tokens += [(b"k", pair.partition(b"=")[0][:40]), (b"v", pair[:50])]
    return tokens


def _plain(text: str) -> bytes:
    """Lower case, every number 0; bytes, which hash without encoding them again."""
    data = text[-_VIEW_LIMIT:].lower().encode("utf-8", "replace").translate(_DIGIT_BYTES)
    return _ZEROS.sub(b"0", data) if b"00" in data else data


@dataclass(frozen=True, slots=True)
class TableView:
    """A table's input: the text of a link, n-gram lengths, and 2**bits buckets."""

    name: str
    text: Callable[[LinkEvidence, UrlParts], str]
    shortest: int
    longest: int
    bits: int


# form, place and anchor_form came last. With the root of the number of n-grams as divisor they raised
# F1 by five folds from 0.958 to 0.960, and on the rows nearest to the paper's from 0.902
# (docs/how-hubs-are-found.md).
VIEWS: Final = (
    TableView("path", _path_view, 1, 6, 17),
    TableView("shape", _shape_view, 1, 8, 14),
    TableView("last", _last_view, 1, 5, 16),
    TableView("host", _host_view, 2, 5, 15),
    TableView("anchor", _anchor_view, 1, 4, 16),
    TableView("form", _form_view, 1, 8, 15),
    TableView("place", _place_view, 2, 5, 15),
    TableView("anchor_form", _anchor_form_view, 1, 6, 14),
)
TOKEN_BITS: Final = 16
TABLE_NAMES: Final = (*(view.name for view in VIEWS), "tokens")
# Buckets, in the order of ``TABLE_NAMES``.
TABLE_SIZES: Final = (*(1 << view.bits for view in VIEWS), 1 << TOKEN_BITS)


@dataclass(frozen=True, slots=True)
class HashedRows:
    """One view of a batch: ``buckets[i]`` belongs to the link ``rows[i]``."""

    rows: NDArray[np.int64]
    buckets: NDArray[np.int64]
    counts: NDArray[np.int64]
    """N-grams of each link."""

    @property
    def roots(self) -> NDArray[np.float64]:
        """Roots of the counts; 1 where a count is 0."""
        # Undivided sums grow with the number of n-grams, and long URLs would dominate.
        roots: NDArray[np.float64] = np.sqrt(np.maximum(self.counts, 1))
        return roots


def mixed(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Mix hashes so that their highest bits name buckets (multiplicative hashing, Knuth 6.4)."""
    spread: NDArray[np.uint32] = (hashes ^ (hashes >> np.uint32(15))) * np.uint32(0x9E3779B1)
    return spread


_KIND_SEEDS: Final = {
    kind: crc32(kind + b":") for kind in (b"d", b"n", b"s", b"w", b"k", b"v", *_PLACES)
}


def hash_tokens(parts: Sequence[UrlParts]) -> HashedRows:
    """Return the hashed tokens of URLs."""
    mask = (1 << TOKEN_BITS) - 1
    buckets: list[int] = []
    lengths = []
    for part in parts:
        found = {crc32(text, _KIND_SEEDS[kind]) & mask for kind, text in tokens_of(part)}
        lengths.append(len(found))
        buckets.extend(found)
    counts = np.array(lengths, dtype=np.int64)
    rows = np.repeat(np.arange(len(parts)), counts)
    return HashedRows(rows, np.array(buckets, dtype=np.int64), counts)


# Of each view: where its table begins among all, by how much a hash is shifted, and n-gram lengths.
_STARTS: Final = np.cumsum([0, *(1 << view.bits for view in VIEWS[:-1])])
_SHIFTS: Final = np.array([32 - view.bits for view in VIEWS], dtype=np.uint32)
_SHORTEST: Final = np.array([view.shortest for view in VIEWS])
_LONGEST: Final = np.array([view.longest for view in VIEWS])


def _view_sums(
    texts: Sequence[Sequence[str]], tables: Sequence[NDArray[np.int8]]
) -> NDArray[np.float64]:
    """Return, of each view's *texts*, the weights of their n-grams, summed, over the root of their number."""
    # As the trainer's hash_views and np.bincount would: weights are added up by the place where an n-gram
    # begins, then over each text. All views at once, as a few links are mostly calls of numpy.
    table = np.concatenate(tables)
    lengths = np.array([len(text) for of_view in texts for text in of_view], dtype=np.int64)
    views = np.repeat(np.arange(len(VIEWS)), len(texts[0]))
    sums, counts = np.zeros(len(lengths)), np.zeros(len(lengths), dtype=np.int64)
    written = np.flatnonzero(lengths)
    joined = "".join(text for of_view in texts for text in of_view)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.cumsum(lengths[written])
    left = np.repeat(ends, lengths[written]) - np.arange(len(codes))
    view = np.repeat(views[written], lengths[written])
    shortest, most = _SHORTEST[view], np.minimum(_LONGEST[view], left)
    found = np.zeros(len(codes), dtype=np.int32)
    grown = np.zeros(len(codes), dtype=np.uint32)
    for size in range(1, min(int(_LONGEST.max()), len(codes)) + 1):
        count = len(codes) - size + 1
        grown = grown[:count] * np.uint32(0x01000193) + codes[size - 1 :] + np.uint32(size)
        at = np.flatnonzero((shortest[:count] <= size) & (size <= most[:count]))
        found[at] += table[_STARTS[view[at]] + (mixed(grown[at]) >> _SHIFTS[view[at]])]
        counts += np.maximum(lengths - size + 1, 0) * (
            (_SHORTEST[views] <= size) & (size <= _LONGEST[views])
        )
    if len(written):
        sums[written] = np.add.reduceat(found, ends - lengths[written])
    roots: NDArray[np.float64] = np.sqrt(np.maximum(counts, 1))
    return (sums / roots).reshape(len(VIEWS), -1)


def _sums(hashed: HashedRows, table: NDArray[np.int8]) -> NDArray[np.float64]:
    found = np.bincount(hashed.rows, weights=table[hashed.buckets], minlength=len(hashed.counts))
    sums: NDArray[np.float64] = found / hashed.roots
    return sums


@dataclass(frozen=True, slots=True)
class ValueTables:
    """The weights of all tables, in the order of :data:`TABLE_NAMES`, as multiples of *step*."""

    # 127 steps reach the largest weight. Quantising cost nothing measurable and makes the file a third
    # as long.
    step: float
    weights: tuple[NDArray[np.int8], ...]

    def sums(self, links: Sequence[LinkEvidence], parts: Sequence[UrlParts]) -> NDArray[np.float64]:
        """Return one row per link: the sum of each table, then the sum of all."""
        found = [
            self._sums_of_chunk(links[start : start + _CHUNK], parts[start : start + _CHUNK])
            for start in range(0, len(links), _CHUNK)
        ]
        return np.concatenate(found) if found else np.zeros((0, len(TABLE_NAMES) + 1))

    def _sums_of_chunk(
        self, links: Sequence[LinkEvidence], parts: Sequence[UrlParts]
    ) -> NDArray[np.float64]:
        pairs = list(zip(links, parts, strict=True))
        texts = [[view.text(link, part) for link, part in pairs] for view in VIEWS]
        columns = [*_view_sums(texts, self.weights[:-1])]
        columns.append(_sums(hash_tokens(parts), self.weights[-1]))
        columns.append(np.sum(columns, axis=0))
        return np.stack(columns, axis=1).astype(np.float64) * self.step

    def to_json(self) -> dict[str, object]:
        """Return the step, and the tables as lists of integers."""
        tables = {
            name: table.tolist() for name, table in zip(TABLE_NAMES, self.weights, strict=True)
        }
        return {"step": self.step, "tables": tables}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Inverse of :meth:`to_json`; raises ValueError if a table has another size."""
        tables = tuple(np.array(data["tables"][name], dtype=np.int8) for name in TABLE_NAMES)
        if tuple(len(table) for table in tables) != TABLE_SIZES:
            raise ValueError("its tables have other sizes than this version reads")
        return cls(float(data["step"]), tables)
