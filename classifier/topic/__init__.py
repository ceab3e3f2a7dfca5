"""Whether a page is on a user's topic, and which links are worth following for it.

::

    example pages, key words  ->  TopicModel    judge(page)   -> Relevance (score, verdict, terms)
    links before a fetch      ->  LearnedOrder  expect(links) -> which first; learns from each page

A user gives three example pages or five key words, never a training set (papers 000, 002, 004).
"""
