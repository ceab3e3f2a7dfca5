"""Discovery: operators that find pages of a topic, and the bandit that chooses among them (paper 001).

::

    choose an operator  ->  pages(seeds, k)  ->  fetch  ->  rank  ->  reward  ->  next seeds
    bandit (UCB1)           operators       discoverer      rankers    bandit       top k

All is pure except ``discoverer`` (a run), ``nightly_discovery``, ``accepting`` (the user's decisions) and
``providers`` (search engines behind the protocol of ``search_provider``).
"""
