"""The text of a link that is worth embedding: its anchor.

"More", "下一页" and page numbers say nothing about the target; a link order, which learns the targets of such
anchors, uses all but the numbers.
"""

import re
from typing import Final

from classifier.words.values import LinkContext

MAX_CHARS: Final = 200
_LEAST_WORDS: Final = 2
_LEAST_LETTERS: Final = 5
# Of a script without spaces: "下一页" has three characters, "阅读全文" four.
_LEAST_DENSE: Final = 5
_DENSE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def worded(link: LinkContext) -> str:
    """Return the text of a link, on one line; empty = it has no letter."""
    anchor = one_line(link.anchor)
    return anchor if any(map(str.isalpha, anchor)) else ""


def one_line(anchor: str) -> str:
    """Return an anchor's text as it is embedded."""
    return " ".join(anchor.split())[:MAX_CHARS]


def has_dense(text: str) -> bool:
    """Whether a text has a Chinese, Japanese or Korean character."""
    return _DENSE.search(text) is not None


def says_something(anchor: str) -> bool:
    """Whether an anchor is more than one word."""
    dense = len(_DENSE.findall(anchor))
    words = _WORD.findall(_DENSE.sub(" ", anchor))
    if dense >= _LEAST_DENSE or (dense > 1 and words):
        return True
    return len(words) >= _LEAST_WORDS and sum(map(len, words)) >= _LEAST_LETTERS
