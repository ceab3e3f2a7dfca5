"""Sentence embeddings: a page's text as a unit vector; texts that say the same are close to each other.

::

    texts -> Embedder (a package) -> Meaning, 8 bits a number
"""
