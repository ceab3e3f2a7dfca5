"""Sentence embeddings: a page's text as a unit vector, so that texts of one meaning lie near each other.

::

    texts -> Embedder (a package; an endpoint is in incremental) -> Meaning, 8 bits a number
"""
