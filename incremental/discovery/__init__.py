"""Finding sites that nobody named: operators that find pages, and the bandit that chooses (paper 001).

::

    choose an operator  ->  pages(seeds, k)  ->  fetch  ->  rank  ->  reward  ->  next seeds
    bandit (UCB1)           operators            caller      rankers    bandit       top k

Pure: the network and the store are reached through what the caller hands in.
"""
