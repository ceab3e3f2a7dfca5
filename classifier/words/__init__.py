"""Pages as weighted words, and the background: languages, vectors, sample, concepts.

::

    PageText -> text, segmentation -> terms with weights -> Background (rarity) -> vectors -> PageBatch
    Evidence = the user's pages and key words as terms, from which each method is fitted
"""
