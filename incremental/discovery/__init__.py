"""Finding sites that nobody named: operators that find pages, and the bandit that chooses (paper 001).

::

    choose an operator  ->  pages(seeds, k)  ->  fetch  ->  rank  ->  reward  ->  next seeds
    bandit (UCB1)           operators       discoverer      rankers    bandit       top k

All is pure but ``discoverer`` (a run), ``nightly_discovery``, ``accepting`` (what users say of proposals)
and ``providers`` (search engines behind the protocol of ``search_provider``).
"""
