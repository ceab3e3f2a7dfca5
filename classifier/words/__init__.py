"""A page as weighted words, and what is usual: languages, vectors, background, sample, concepts.

::

    PageText -> text, segmentation -> terms with weights -> Background (rarity) -> vectors -> PageBatch
    Evidence = the user's pages and key words as terms, from which each method is fitted
"""
