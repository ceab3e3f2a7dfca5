"""The papers' methods that judge and rank pages, each usable alone.

::

    paper 000   adaptive                                          the adapting centre
    paper 001   rankers, page_ranking                             rankers, and their combination
    paper 002   semantic_tree, trees, similarity                  a tree of words in the cosine
    paper 004   bayes                                             normal and kernel densities
                best_first                                        the queue, hosts in turn
"""
