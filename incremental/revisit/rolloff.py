"""Links that leave before anybody looks: how long a page keeps them.

Two ways out. A list of K links pushes the oldest off when more than K arrive between two visits;
and some pages (a front page ranked by votes) drop links at any age, which shows in how many of the
links that were new at one visit are gone at the next.
"""

from __future__ import annotations

from math import inf

from incremental.revisit.state import HubState

LOST_LINK_HOURS = 24.0
"""What a link that is never seen counts for, as delay."""
_PRIOR_YOUNG_HOURS = 20.0
# Largest mean x of a Poisson count with E[(count - K)+] / x = 1 %, and the same for more K by its
# normal approximation K - 0.91 sqrt(K) (90.9 at 100).
_MOST_LINKS = ((5, 1.94), (10, 5.73), (15, 9.95), (20, 14.36), (30, 23.5), (50, 42.4), (100, 90.9))


def loss_factor(hub: HubState) -> float:
    """Return what waiting costs over plain delay: a link that may vanish waits more dearly.

    With links vanishing at rate m an hour, one waiting hour costs itself and m lost links.
    """
    return 1.0 + LOST_LINK_HOURS * hub.vanished / (hub.young_hours + _PRIOR_YOUNG_HOURS)


def most_links(shown: int) -> float:
    """Return how many links may come between visits of a list of *shown* links at a 1 % loss.

    Infinite for pages of fewer than five links: these are not cut off at a length.
    """
    if shown < _MOST_LINKS[0][0]:
        return inf
    if shown >= _MOST_LINKS[-1][0]:
        return float(shown - 0.91 * shown**0.5)
    above = next(i for i, entry in enumerate(_MOST_LINKS) if entry[0] > shown)
    (left, low), (right, high) = _MOST_LINKS[above - 1], _MOST_LINKS[above]
    return low + (high - low) * (shown - left) / (right - left)
