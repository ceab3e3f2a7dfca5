"""A page's worth for what lies behind it: its own similarity and that of its links (paper 002, 2.2).

``Score = delta * Sim(T, V) + (1 - delta) * mean of Sim(T, v_i)`` over the m valid of n child links
(formula 10). The paper names three cases without numbers; our reading: most links valid, the
bad ones are dropped first; few, the links do not count; else all of them count as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DELTA: Final = 0.8
"""The paper's weight of the page itself."""
MOST_VALID: Final = 0.7
FEW_VALID: Final = 0.3


def link_score(
    own: float, children: Sequence[float], valid_from: float, *, delta: float = DELTA
) -> float:
    """Return formula 10 for a page of similarity ``own`` whose links have those of ``children``.

    A link is valid when its similarity is at least ``valid_from``. A page without links has its own.
    """
    valid = [child for child in children if child >= valid_from]
    share = len(valid) / len(children) if children else 0.0
    if share < FEW_VALID or not children:
        return own
    counted = valid if share > MOST_VALID else children
    return delta * own + (1.0 - delta) * sum(counted) / len(counted)
