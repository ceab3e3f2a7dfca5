"""One form for Chinese: traditional characters as their simplified ones, so that both find each other.

OpenCC (Apache-2.0), kept by its author, has the tables. They are used a character at a time: whole
words decide more finely there (乾 stays in 乾坤), but then a word in a query and the same word in a
text could differ by what stands beside them.
"""

from __future__ import annotations

import re
from functools import cache

_HAN = re.compile("[\\u3400-\\u4dbf\\u4e00-\\u9fff]")
_BLOCKS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF))


def simplified(text: str) -> str:
    """Return *text* with every traditional character as its simplified form, each one for one."""
    return text.translate(_table()) if not text.isascii() and _HAN.search(text) else text


@cache
def _table() -> dict[int, str]:
    """Build the table, 0.1 s: only who searches or indexes Chinese waits for it."""
    import opencc  # noqa: PLC0415 - takes 30 ms to load

    characters = [chr(number) for first, last in _BLOCKS for number in range(first, last + 1)]
    # A line each, so that no two of them make a word.
    forms = opencc.OpenCC("t2s").convert("\n".join(characters)).split("\n")
    pairs = zip(characters, forms, strict=True)
    return {ord(one): form for one, form in pairs if one != form and len(form) == 1}
