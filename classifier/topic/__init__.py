"""Relevance of pages to a user's topic.

::

    example pages, key words  ->  TopicModel    judge(page)   -> Relevance (score, verdict, terms)

A user gives three example pages or five key words, never a training set (papers 000, 002, 004).
``methods.py``
has every method by its name, ``fused.py`` the default.
"""
